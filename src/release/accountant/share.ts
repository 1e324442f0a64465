import { Fault } from '../../base/errors.js';
import {
  compare,
  divide,
  isPositive,
  maximum,
  minimum,
  multiply,
  one,
  parseRational,
  type Rational,
  rational,
  subtract,
  toText,
  zero,
} from '../../base/exact/rational.js';
import { nothingSpent, type PrivacyCost, type SpentCosts, spend } from '../../privacy/mechanism/privacy-cost.js';
import { coversAllValues } from '../../privacy/mechanism/slices.js';
import type { Account } from './account.js';
import { admissionRefusal, type Quota } from './admission.js';
import { remainingPure, type SliceSelection } from './by-slice.js';
import type { RequestReading } from './request-reading.js';
import { usedShare, usedShareOfPart } from './used-share.js';

export const nothingLeft = (): Fault =>
  new Fault('BUDGET_EXCEEDED', 'Nothing is left of the budget for this.', '"fugu ledger POLICY" lists what was spent.');

/** Costs spent by everybody, and by the requesting analyst where they have a quota. */
export interface AccountBalance extends SpentCosts {
  readonly own?: { readonly spent: SpentCosts; readonly quota: Rational };
}

export interface SpendOptions {
  /** Part of the policy's epsilon to use; default: a tenth of it, or, with a budget per step, the budget of every step. */
  readonly epsilon?: string;
  /** Use everything that remains (surveys). */
  readonly all?: boolean;
}

/** Requested amount, in a form that stays the same while the budget shrinks. */
export const epsilonText = (options: SpendOptions): string => options.epsilon ?? (options.all ? 'all' : 'tenth');

/** The same text for all ways to write a number. */
export const canonicalEpsilonText = (options: SpendOptions): string =>
  options.epsilon === undefined ? epsilonText(options) : toText(parseRational(options.epsilon, 'epsilon'));

/** A part of the budget too small to be worth an answer. */
const negligibleShare = rational(1, 1_000);
/** Below this share an answer is only noise, in numbers too long to read. */
const uselessShare = rational(1, 1_000_000_000);
const tenth = rational(1, 10);

/** Share of the whole budget that an epsilon stands for. */
export function shareOf(text: string, account: Account): Rational {
  const epsilon = parseRational(text, 'epsilon');
  if (!isPositive(epsilon))
    throw new Fault(
      'BUDGET_INVALID',
      'The epsilon to spend must be above zero.',
      'Ask for a positive part of the budget, for example --epsilon 0.1.',
    );
  const share = divide(epsilon, account.epsilon);
  if (compare(share, uselessShare) < 0)
    throw new Fault(
      'BUDGET_INVALID',
      'The epsilon to spend is less than a billionth of the budget: the answer would be nothing but noise.',
      'Ask for a larger part of the budget, for example --epsilon 0.1.',
    );
  return share;
}

/**
 * Share of the whole budget for a request: as requested, or a tenth, or all that remains. A remainder left by rounding is
 * not used by default, because the answer would be only noise: the full share is requested, and refused.
 */
export function chooseShare(
  account: Account,
  options: SpendOptions,
  balance: AccountBalance,
  selection?: SliceSelection,
): Rational {
  if (options.epsilon !== undefined) return shareOf(options.epsilon, account);
  const left = remainingShare(account, balance, selection);
  const remaining = compare(left, negligibleShare) < 0 ? zero : left;
  if (options.all) return isPositive(remaining) ? remaining : one;
  const usual = stepShare(account, selection) ?? tenth;
  return compare(remaining, usual) < 0 && isPositive(remaining) ? remaining : usual;
}

/** Resolution at which a share that does not fit is reduced. */
const finest = 1 << 16;

/**
 * Largest part of a share that is admitted; undefined where that is negligible. Only the admission test can decide: the
 * remainders of a part of the data and of a quota are different sums, as ties may carry costs to an analyst's other parts.
 */
export function fittingShare(share: Rational, admits: (share: Rational) => boolean): Rational | undefined {
  if (compare(share, negligibleShare) <= 0 || !admits(negligibleShare)) return undefined;
  const part = (k: number) => multiply(share, rational(k, finest));
  let [low, high] = [0, finest];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (admits(part(middle))) low = middle;
    else high = middle;
  }
  return compare(part(low), negligibleShare) < 0 ? undefined : part(low);
}

/** Default share of a release about some steps under a budget per step: the step's own budget. */
function stepShare({ stepBudget, routes }: Account, selection: SliceSelection | undefined): Rational | undefined {
  const values = stepBudget && selection?.get(stepBudget.slicing);
  if (!values || coversAllValues(values)) return undefined;
  const most = routes
    .filter(({ slicings }) => slicings.includes(stepBudget.slicing))
    .map((route) => remainingPure(route, stepBudget.slicing, [values]))
    .reduce(maximum, zero);
  return isPositive(most) ? divide(stepBudget.each, most) : undefined;
}

/** Share of the budget that remains for the requester, for everybody or for these values of public columns. */
export function remainingShare(account: Account, balance: AccountBalance, selection?: SliceSelection): Rational {
  const left = subtract(one, usedShare(account, balance, selection));
  if (!balance.own) return left;
  const { quota, spent } = balance.own;
  return minimum(left, subtract(divide(quota, account.epsilon), usedShareOfPart(account, spent, balance, selection)));
}

/** A planned payment and the balance before it. */
interface PlannedPayment {
  readonly account: Account;
  readonly quota: Quota | undefined;
  readonly balance: AccountBalance;
  readonly cost: PrivacyCost;
  readonly reading: RequestReading;
}

/** Refusal that a reservation would meet in the present state, by the test it has to pass. */
export function refusalOf({ account, quota, balance, cost, reading }: PlannedPayment): Fault | undefined {
  const requested = account.reservedCost(cost, reading);
  const byAnalyst = spend(balance.own?.spent ?? nothingSpent, requested);
  return admissionRefusal({ account, requested, quota, after: spend(balance, requested), before: balance, byAnalyst });
}
