import { basename } from 'node:path';
import type { Engine } from '../engine/engine.js';
import { openEngine } from '../engine/open.js';
import type { Ledger } from '../ledger/ledger.js';
import { openLedger } from '../ledger/open.js';
import type { Policy } from '../policy/policy.js';
import { readPolicy } from '../policy/read.js';
import { createSession, type Session } from '../release/session.js';
import { clock } from './output.js';

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
  try {
    const ledger = await openLedger(policy.ledger);
    try {
      const analyst = process.env.FUGU_ANALYST ?? process.env.USER ?? 'local';
      return await work(await createSession({ policy, engine, ledger, analyst }), { policy, engine, ledger });
    } finally {
      await ledger.close();
    }
  } finally {
    await engine.close();
  }
}
