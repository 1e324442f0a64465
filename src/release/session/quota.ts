import { multiply, type Rational, toNumber } from '../../base/exact/rational.js';
import { isDeepStrictEqual } from '../../base/platform/values.js';
import type { Budget, Policy } from '../../policy/policy.js';
import { nothingSpent, type SpentCosts, spend, toStored } from '../../privacy/mechanism/privacy-cost.js';
import type { Account } from '../accountant/account.js';
import type { Quota } from '../accountant/admission.js';
import { withOthers } from '../accountant/others.js';
import { usedShareOfPart } from '../accountant/used-share.js';
import type { Ledger, SpendEntry } from '../ledger/ledger.js';
import { enteredIn } from './entered-key.js';

/** Limit of one analyst on the budget; undefined where only the budget itself limits. */
export const quotaOf = ({ analysts }: Budget, analyst: string): Rational | undefined =>
  analysts?.named.get(analyst) ?? analysts?.each;

/** Limit of this analyst under the policy, as the ledger's admission test needs it. */
export function quotaFor({ policy, analyst }: { readonly policy: Policy; readonly analyst: string }): Quota | undefined {
  const epsilon = quotaOf(policy.budget, analyst);
  return epsilon && { analyst, epsilon };
}

/** Use of one analyst's quota, in epsilon of the policy. */
export interface QuotaUse {
  readonly analyst: string;
  readonly total: number;
  readonly spent: number;
  readonly remaining: number;
}

/** Taken from the reading that decides for `all`. */
export function quotaUse(account: Account, { analyst, epsilon }: Quota, own: SpentCosts, all: SpentCosts): QuotaUse {
  const spent = toNumber(multiply(usedShareOfPart(account, own, all), account.epsilon));
  const total = toNumber(epsilon);
  return { analyst, total, spent, remaining: Math.max(0, total - spent) };
}

/** Every quota that the policy names or that was used, for lists: from pinned totals, whatever the number of entries. */
export async function quotaUses(
  policy: Policy,
  account: Account,
  ledger: Pick<Ledger, 'analysts' | 'spent' | 'keyed'>,
): Promise<readonly QuotaUse[]> {
  const { population, budget } = policy;
  const named = budget.analysts?.named;
  const entered = await enteredIn(ledger, population);
  const all = withOthers(account, await ledger.spent(population));
  const uses: QuotaUse[] = [];
  for (const analyst of [...new Set([...(named?.keys() ?? []), ...(await ledger.analysts(population))])].sort()) {
    const quota = quotaFor({ policy, analyst });
    if (!quota) continue;
    const own = await ledger.spent(population, analyst);
    // An analyst who only entered the releases of others has used no quota.
    const onlyEntered = entered.some((e) => e.analyst === analyst) && areSame(own, spentBy(entered, analyst));
    if (named?.has(analyst) || !onlyEntered) uses.push(quotaUse(account, quota, own, all));
  }
  return uses;
}

/** Equal in every class: a cost that is larger for one record need not use more of the budget. */
const areSame = (a: SpentCosts, b: SpentCosts): boolean =>
  isDeepStrictEqual([toStored(a.pure), toStored(a.zcdp)], [toStored(b.pure), toStored(b.zcdp)]);

/** Total cost of these entries, or of one analyst's part of them. */
export const spentBy = (entries: readonly SpendEntry[], analyst?: string): SpentCosts =>
  entries
    .filter((e) => analyst === undefined || e.analyst === analyst)
    .reduce((total, { profile: cost }) => spend(total, cost), nothingSpent);
