import {
  compare,
  divide,
  isZero,
  multiply,
  one,
  type Rational,
  rational,
  subtract,
  toNumber,
  toText,
} from '../../base/exact/rational.js';
import type { Policy } from '../../policy/policy.js';
import { getOrMake } from '../../privacy/dependence/bounds-cache.js';
import { inDoubles } from '../../privacy/mechanism/distribution.js';
import type { SpentCosts } from '../../privacy/mechanism/privacy-cost.js';
import { bindBatch } from '../../query/bind.js';
import type { Batch } from '../../query/query.js';
import type { Account } from '../accountant/account.js';
import { sliceSelectionOf } from '../accountant/by-slice.js';
import { chooseNoise } from '../accountant/choose.js';
import { openAccount } from '../accountant/open-account.js';
import { usedShare } from '../accountant/used-share.js';
import { worstCount } from './plan.js';

/** A change that would make an answer worth having, and the error it would then have. */
export interface BudgetRemedy {
  readonly change: string;
  /** The largest 95 % error of a count. */
  readonly error: number;
}

interface RemedyRequest {
  readonly policy: Policy;
  readonly account: Account;
  readonly spent: SpentCosts;
  readonly share: Rational;
  readonly batch: Batch;
  readonly fits: boolean;
}

/** Largest epsilon that is offered as a remedy. */
const mostEpsilon = 10;
const usualDelta = rational(1, 1_000_000);

/** The three best remedies for too small a budget, by their error: found by the planner, from public numbers only. */
export function budgetRemedies(stuck: RemedyRequest): readonly BudgetRemedy[] {
  const { policy, account, batch, fits } = stuck;
  const { epsilon, delta } = account;
  const many = batch.queries.length;
  const few = Math.max(1, Math.round(many / 10));
  const twice = multiply(epsilon, rational(2));
  const written = (e: Rational, d: Rational) => `budget: {epsilon: ${toNumber(e)}${isZero(d) ? '' : `, delta: ${toNumber(d)}`}}`;
  const known = accountVariants.get(account) ?? new Map<string, Account>();
  accountVariants.set(account, known);
  const accountWith = (e: Rational, d: Rational) =>
    getOrMake(known, `${toText(e)} ${toText(d)}`, () =>
      openAccount({ ...policy, budget: { ...policy.budget, epsilon: e, delta: d } }, amplifiersOf(account)),
    );
  const most = errorWithin({ ...stuck, fits: false }, batch.queries, account);
  const alone = few > 1 ? errorWithin(stuck, batch.queries.slice(0, 1), account) : undefined;
  const fewer = many > 1 ? errorWithin(stuck, batch.queries.slice(0, few), account) : undefined;
  const loose = isZero(delta) ? errorWithin(stuck, batch.queries, accountWith(epsilon, usualDelta)) : undefined;
  const larger = toNumber(twice) <= mostEpsilon ? errorWithin(stuck, batch.queries, accountWith(twice, delta)) : undefined;
  return [
    ...(most && !fits ? [{ change: `ask for less: --epsilon ${toNumber(most.epsilon)}`, error: most.error }] : []),
    ...(most && fits && compare(most.epsilon, multiply(stuck.share, epsilon)) > 0
      ? [{ change: `spend more of what is left: --epsilon ${toNumber(most.epsilon)}`, error: most.error }]
      : []),
    ...(alone ? [{ change: `ask one of the ${many} questions by itself`, error: alone.error }] : []),
    ...(fewer ? [{ change: `ask fewer questions at once, ${few} of the ${many}`, error: fewer.error }] : []),
    ...(loose ? [{ change: `allow a delta: ${written(epsilon, usualDelta)}`, error: loose.error }] : []),
    ...(larger ? [{ change: `allow a larger epsilon: ${written(twice, delta)}`, error: larger.error }] : []),
  ]
    .sort((a, b) => a.error - b.error)
    .slice(0, 3);
}

/** The same account with other budgets: each is computed once, which under many ties takes longer than any plan. */
const accountVariants = new WeakMap<Account, Map<string, Account>>();
const amplifiersOf = ({ routes }: Account) => [...new Set(routes.map(({ amplifier }) => amplifier))];

/** Three digits, as people type it, rounded down. */
function downTo(x: Rational): Rational {
  const digits = 2 - Math.floor(Math.log10(toNumber(x)));
  const unit = 10n ** BigInt(Math.max(0, digits));
  return rational((x.num * unit) / x.den, unit);
}

/** The error with the requested share or what remains. Not every kind of noise can use all of it: smaller shares are next. */
function errorWithin(
  { policy, spent, share, fits }: RemedyRequest,
  queries: Batch['queries'],
  account: Account,
): { readonly epsilon: Rational; readonly error: number } | undefined {
  const { measures, expectedErrors } = bindBatch({ queries }, policy);
  const left = subtract(one, usedShare(account, spent, sliceSelectionOf(measures)));
  for (
    let part = fits && compare(share, left) < 0 ? share : left;
    compare(part, negligibleShare) >= 0;
    part = multiply(part, half)
  ) {
    const epsilon = downTo(multiply(part, account.epsilon));
    const best = chooseNoise(measures, account, divide(epsilon, account.epsilon), spent).find((plan) => plan.fits);
    const error =
      best && worstCount(expectedErrors(best.mechanisms.map(({ distribution }) => inDoubles(distribution))))?.halfWidth;
    if (error !== undefined && Number.isFinite(error)) return { epsilon, error };
  }
  return undefined;
}

const half = rational(1, 2);
/** A smaller part of the budget is worth no answer. */
const negligibleShare = rational(1, 1000);
