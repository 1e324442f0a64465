import { Fault } from '../../base/errors.js';
import { type PrivacyCost, toStored } from '../../privacy/mechanism/privacy-cost.js';
import { withOthers } from '../accountant/others.js';
import type { AccountBalance } from '../accountant/share.js';
import type { SpendEntry } from '../ledger/ledger.js';
import { notSpent } from './outcome.js';
import { quotaOf, spentBy } from './quota.js';
import { notOnRecord } from './receipt.js';
import type { ReleaseContext } from './release-context.js';
import type { RequestKeys } from './request-key.js';

/** The key that a request is answered or completed under: its own, unless only version 0.2 has recorded or reserved it. */
export async function keyOnRecord(
  { ledger, policy: { population } }: Pick<ReleaseContext, 'ledger' | 'policy'>,
  { key, former }: RequestKeys,
  fresh = false,
): Promise<string> {
  const isKnown = async (own: string): Promise<boolean> =>
    (!fresh && (await ledger.replay(population, own)) !== undefined) ||
    (await ledger.unanswered?.(population, own)) !== undefined;
  if (former.length === 0 || (await isKnown(key))) return key;
  for (const own of former) if (await isKnown(own)) return own;
  return key;
}

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

/** True if an entry reserved exactly this cost. */
export const sameCost = (a: PrivacyCost, b: PrivacyCost): boolean => JSON.stringify(toStored(a)) === JSON.stringify(toStored(b));

/** Ends a request of whoever can pay for nothing. */
export function refuseUnrecorded({ replaying }: ReleaseContext): never {
  replaying?.(notOnRecord);
  throw new Fault('DATA_NOT_FOUND', 'This answer is not on record any more under these terms.', 'Ask for it: that pays.', {
    outcome: notSpent,
  });
}
