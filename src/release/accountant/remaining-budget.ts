import {
  add,
  compare,
  fromNumber,
  isPositive,
  maximum,
  multiply,
  one,
  type Rational,
  rational,
  subtract,
  toNumberDown,
  zero,
} from '../../base/exact/rational.js';
import {
  hasCostAlongPairs,
  hasCostBySlice,
  nothingSpent,
  type PrivacyCost,
  type SpentCosts,
} from '../../privacy/mechanism/privacy-cost.js';
import { type Account, countsPureInZcdp, isGaussian, isPure, type LeakageRoute } from './account.js';
import { spentUnder } from './admits.js';
import { remainingAlongTies, remainingByPairs } from './by-pairs.js';
import { everyValueOf, remainingBySlice, type SliceSelection } from './by-slice.js';
import { coversSources } from './sources.js';
import { decidingNoise, usedShare } from './used-share.js';

/** Remaining budget of one record until a given share is used; not positive where it is used already. */
export interface RemainingBudget {
  readonly pure: Rational;
  readonly rho?: Rational;
  /** Capacity of the fresh account by the same reading. */
  readonly whole: { readonly pure: Rational; readonly rho?: Rational };
}

/** Remaining budget for costs of every record, by each reading: for everybody, by public columns, along pairs. */
export function remainingBudgets(route: LeakageRoute, spent: SpentCosts, target: Rational): readonly RemainingBudget[] {
  const bySlices = route.slicings
    .filter((slicing) => hasCostBySlice(spent.pure, slicing) || hasCostBySlice(spent.zcdp, slicing))
    .map((slicing) => remainingBySlice(route, spent, { slicing, values: everyValueOf(slicing), target }));
  return [remainingInFull(route, spent, target), ...bySlices, ...remainingAlongPairs(route, spent, target)];
}

/** Costs of every record count in full along pairs. */
function remainingAlongPairs(route: LeakageRoute, spent: SpentCosts, target: Rational): readonly RemainingBudget[] {
  const { pairs, amplifier, pureCapacity } = route;
  if (pairs === undefined || !(hasCostAlongPairs(spent.pure, pairs) || hasCostAlongPairs(spent.zcdp, pairs))) return [];
  if (amplifier.strangers) return [remainingByPairs(route, spent, target)];
  if (!isPure(spent)) return [];
  return [{ pure: remainingAlongTies(route, spent, one, target), whole: { pure: pureCapacity } }];
}

function remainingInFull(route: LeakageRoute, spent: SpentCosts, target: Rational): RemainingBudget {
  const { gaussian, pureCapacity } = route;
  const total = spentUnder(route, spent)!;
  return {
    pure: isPure(spent) ? subtract(multiply(pureCapacity, target), total.pure) : zero,
    ...(gaussian && { rho: subtract(multiply(gaussian.capacity, target), total.rho) }),
    whole: { pure: pureCapacity, ...(gaussian && { rho: gaussian.capacity }) },
  };
}

/** A share of the budget, the used share that it leads to, and the costs spent before it. */
export interface ShareTarget {
  readonly account: Account;
  readonly share: Rational;
  readonly target: Rational;
  readonly spent: SpentCosts;
  /** Kind of cost that decides the used share; undefined where nothing was spent. */
  readonly decides: PrivacyCost['noise'] | undefined;
}

/** Costs spent on other data are left out here: they are refused with a reason of their own. */
export function shareTarget(account: Account, share: Rational, spentByAll: SpentCosts, selection?: SliceSelection): ShareTarget {
  const spent = coversSources(account.source, spentByAll) ? spentByAll : nothingSpent;
  return {
    account,
    share,
    target: add(usedShare(account, spent, selection), share),
    spent,
    decides: decidingNoise(account, spent, selection),
  };
}

/** True for a request above the remaining budget: it is planned in full, and refused. */
export const isAboveBudget = ({ target }: ShareTarget): boolean => compare(target, one) > 0;

/** Pure epsilon and rho that may be drawn. */
export interface Spendable {
  readonly pure?: Rational;
  readonly rho?: Rational;
}

/** The largest draw of each kind over several readings of the remaining budget. */
export function spendable(route: LeakageRoute, remainders: readonly RemainingBudget[], goal: ShareTarget): Spendable {
  const draws = remainders.map((remaining) => spendableOf(route, remaining, goal));
  const [pure, rho] = [draws.map((r) => r.pure), draws.map((r) => r.rho)].map((amounts) => amounts.reduce(maximum, zero));
  return { ...(isPositive(pure!) && { pure: pure! }), ...(isPositive(rho!) && { rho: rho! }) };
}

/**
 * Largest draws of each kind after which the account has used exactly the target (docs/explanation/decisions/0092):
 * pure noise is paid in epsilon or at its zCDP cost, whichever allows more. Zero where a kind may not be drawn.
 */
function spendableOf(route: LeakageRoute, { pure, rho, whole }: RemainingBudget, goal: ShareTarget): Required<Spendable> {
  const { account, share, spent, decides } = goal;
  // Under quotas, no question may change the reading that other analysts' costs are counted by.
  const offered = (noise: PrivacyCost['noise'], amount: Rational, capacity: Rational): Rational => {
    const full = multiply(capacity, share);
    if (isAboveBudget(goal)) return maximum(amount, full);
    const switchesNoise = account.quotas === true && decides !== undefined && decides !== noise;
    if (!isPositive(amount) || (switchesNoise && compare(amount, multiply(full, nearlyAll)) < 0)) return zero;
    return shortened(amount);
  };
  const rhoLeft = rho && isGaussian(route) ? rho : undefined;
  const inRho = rhoLeft ? offered('zcdp', rhoLeft, whole.rho!) : zero;
  const countsInEpsilon = isPure(spent) && countsPureInZcdp(route);
  const inEpsilon = countsInEpsilon ? offered('pure', pure, whole.pure) : zero;
  const { bound, capacity, epsilon } = route.gaussian ?? {};
  const pricedIn = (amount: Rational): Rational =>
    isPositive(amount) && (countsPureInZcdp(route) || !isPure(spent)) ? bound!.pureWithin(amount, capacity!, epsilon!) : zero;
  const most = maximum(inEpsilon, pricedIn(inRho));
  // Below the limit of another reading: that reading would decide afterwards, at less than the share.
  const allowed = (): Rational => {
    if (decides === 'pure') return rhoLeft ? pricedIn(rhoLeft) : zero;
    return countsInEpsilon ? pure : zero;
  };
  const keepsReading = !account.quotas || !decides || isAboveBudget(goal) || compare(multiply(allowed(), nearlyAll), most) <= 0;
  return { pure: keepsReading ? most : zero, rho: inRho };
}
const nearlyAll = rational(999_999_999, 1_000_000_000);

/** Amounts that are no simple part of a capacity get a short denominator, because the ledger stores them. */
const finest = 1n << 192n;
const shortened = (x: Rational): Rational => (x.den <= finest ? x : fromNumber(toNumberDown(x)));
