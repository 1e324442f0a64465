import type { Policy } from '../src/policy/policy.js';
import { type Amended, amendAccount } from '../src/release/session/amend.js';
import { createSession, type Ledger, openEngine } from './inside.js';

/** Takes over the terms of a policy, over the ties of its data. */
export async function amendTo(ledger: Ledger, policy: Policy, reason: string): Promise<Amended> {
  const engine = await openEngine(policy);
  try {
    const { account } = await createSession({ policy, engine, ledger });
    return await amendAccount(ledger, { policy, account }, reason);
  } finally {
    await engine.close();
  }
}
