import { basename } from 'node:path';
import type { Engine } from '../engine/engine.js';
import type { Ledger } from '../ledger/ledger.js';
import { openLedger } from '../ledger/open.js';
import type { Policy } from '../policy/policy.js';
import { createSession, type Session } from '../release/session.js';
import { openEngine } from '../terms/open.js';
import { readPolicy } from '../terms/read.js';
import { caution, clock } from './output.js';
import { outcomes } from './paid.js';

interface Parts {
  readonly policy: Policy;
  readonly engine: Engine;
  readonly ledger: Ledger;
}

/** Opens policy, engine and ledger, runs the work, and closes them whatever happens. */
export async function withSession<T>(file: string, work: (session: Session, parts: Parts) => Promise<T>): Promise<T> {
  const policy = await readPolicy(file);
  const stop = clock(`working on ${basename(policy.data.source)}`);
  try {
    return await withParts(policy, work);
  } finally {
    stop();
  }
}

async function withParts<T>(policy: Policy, work: (session: Session, parts: Parts) => Promise<T>): Promise<T> {
  const engine = await openEngine(policy);
  return closing(engine, async () => {
    const ledger = await openLedger(policy.ledger);
    return closing(ledger, async () => {
      const as = labelOf(process.env.FUGU_ANALYST);
      const session = await createSession({ policy, engine, ledger, outcomes, ...(as && { as }) });
      return work(session, { policy, engine, ledger });
    });
  });
}

/** It is listed beside the user's name and nothing else hangs on it. */
const labelOf = (text = ''): string => text.replaceAll(/\p{C}/gu, '').trim().slice(0, 120);

/** What was made is kept, and what went wrong is told, whether or not closing works. */
export async function closing<T>(opened: { close(): Promise<void> }, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } finally {
    await opened.close().catch(caution);
  }
}
