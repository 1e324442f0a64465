import type { Engine } from '../engine/engine.js';
import { openEngine } from '../engine/open.js';
import type { Ledger } from '../ledger/ledger.js';
import { openLedger } from '../ledger/open.js';
import type { Policy } from '../policy/policy.js';
import { readPolicy } from '../policy/read.js';
import { createSession, type Session } from '../release/session.js';

/** Opens policy, engine and ledger, runs the work, and closes them whatever happens. */
export async function withSession<T>(
  file: string,
  work: (session: Session, parts: { policy: Policy; engine: Engine; ledger: Ledger }) => Promise<T>,
): Promise<T> {
  const policy = await readPolicy(file);
  const engine = await openEngine(policy);
  try {
    const ledger = await openLedger(policy.ledger);
    try {
      const session = await createSession({
        policy,
        engine,
        ledger,
        analyst: process.env.FUGU_ANALYST ?? process.env.USER ?? 'local',
      });
      return await work(session, { policy, engine, ledger });
    } finally {
      await ledger.close();
    }
  } finally {
    await engine.close();
  }
}
