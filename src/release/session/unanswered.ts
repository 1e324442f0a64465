import { withOthers } from '../accountant/others.js';
import type { AccountBalance } from '../accountant/share.js';
import type { SpendEntry } from '../ledger/ledger.js';
import type { ReleaseContext } from './charge.js';
import { quotaOf, spentBy } from './quota.js';

/** An unanswered entry, and the costs before it: a request that resumes it is planned as it was then. */
export interface Unanswered {
  readonly entry: SpendEntry;
  readonly before: AccountBalance;
}

/** The entry that a request would resume, unless it is answered from the record. */
export async function unansweredFor(
  { ledger, policy, account }: ReleaseContext,
  key: string,
  fresh: boolean,
): Promise<Unanswered | undefined> {
  const { population, budget } = policy;
  const entry = await ledger.unanswered?.(population, key);
  if (!entry || (!fresh && (await ledger.replay(population, key)))) return undefined;
  const earlier = (await ledger.entries(population)).filter(({ sequence }) => sequence < entry.sequence);
  const quota = quotaOf(budget, entry.analyst);
  return {
    entry,
    before: {
      ...withOthers(account, spentBy(earlier)),
      ...(quota && { own: { spent: spentBy(earlier, entry.analyst), quota } }),
    },
  };
}
