import type { Entry, Ledger } from '../ledger/ledger.js';
import type { Policy } from '../policy/policy.js';
import { quotaOf } from '../policy/quota.js';
import { spentBy } from './quota.js';
import type { Standing } from './share.js';

/** An entry that nobody was answered for, and how things stood when it was booked: a request that takes it up is planned as it was then. */
export interface Unanswered {
  readonly entry: Entry;
  readonly before: Standing;
}

/** What a request would take up, unless it is told from the record. */
export async function unansweredFor(
  { ledger, policy }: { readonly ledger: Ledger; readonly policy: Policy },
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
    before: { ...spentBy(earlier), ...(quota && { own: { spent: spentBy(earlier, entry.analyst), quota } }) },
  };
}
