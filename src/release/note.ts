import { costTogether } from '../mechanism/mechanism.js';
import type { Desk } from './charge.js';

/** The latest of what was noted under a key. */
export const noted = async ({ ledger, policy }: Desk, key: string): Promise<string | undefined> =>
  (await ledger.replay(policy.population, key))?.answer;

/** Notes something with the ledger, for whoever reads it from whichever machine: an entry that costs nothing, and its answer. Nothing in it may depend on what is secret. */
export async function note(desk: Desk, key: string, label: string, text: string): Promise<void> {
  const { ledger, policy, account, analyst, opening } = desk;
  const profile = account.book(costTogether([]), {});
  const { population } = policy;
  const entry = await ledger.reserve({
    population,
    terms: account.terms,
    analyst,
    key,
    label,
    profile,
    admit: () => undefined,
    opening,
  });
  await ledger.settle(entry, text);
}
