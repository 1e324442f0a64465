import {
  add,
  compare,
  divide,
  fromNumber,
  isPositive,
  isZero,
  maximum,
  multiply,
  one,
  type Rational,
  rational,
  subtract,
  toNumberDown,
  toText,
  zero,
} from '../../base/exact/rational.js';
import { largestBelow } from '../../privacy/dependence/largest-below.js';
import {
  costAlongPairs,
  hasCostAlongPairs,
  type PrivacyCost,
  type SpentCosts,
  zcdpOfAll,
} from '../../privacy/mechanism/privacy-cost.js';
import { everyRecord, paired, pairsClass } from '../../privacy/mechanism/record-class.js';
import type { RecordSensitivity } from '../../privacy/mechanism/sensitivity.js';
import { isPure, type LeakageRoute } from './account.js';
import { memoize } from './memoize.js';
import type { RemainingBudget } from './remaining-budget.js';

/**
 * Costs along pairs of values (privacy/mechanism/pairs.proof.md): a record's own change counts at its cost along pairs,
 * changes of other records, over ties, at the cost of any change.
 */

/** Cost of replacing a record: by any other (`full`) and along a pair (`own`). */
interface PairCosts {
  readonly full: Rational;
  readonly own: Rational;
}
const pairCosts = (privacyCost: PrivacyCost, pairs: string): PairCosts => ({
  full: privacyCost.perRecord.get(everyRecord) ?? zero,
  own: costAlongPairs(privacyCost, pairs),
});
const hasPairCosts = ({ pure, zcdp }: SpentCosts, pairs: string): boolean =>
  hasCostAlongPairs(pure, pairs) || hasCostAlongPairs(zcdp, pairs);

/** Gaussian noise along pairs, where nobody is tied: nothing is proven for ties. */
function gaussianAlong({ amplifier, gaussian }: LeakageRoute, spent: SpentCosts, pairs: string) {
  if (!gaussian || !amplifier.strangers) return undefined;
  const [rho, pure, total] = [spent.zcdp, spent.pure, zcdpOfAll(spent)].map((privacyCost) => costAlongPairs(privacyCost, pairs));
  return { gaussian, mixed: { rho: rho!, pure: pure!, total: total! } };
}

/** True if the route proves, for values that are pairs, that the total stays within the budget. */
export function admitsByPairs(route: LeakageRoute, spent: SpentCosts): boolean {
  const { pairs, amplifier, epsilon, pureCapacity } = route;
  if (pairs === undefined || !hasPairCosts(spent, pairs)) return false;
  const { full, own } = pairCosts(spent.pure, pairs);
  if (isPure(spent)) {
    if (amplifier.strangers ? compare(own, pureCapacity) <= 0 : amplifier.along!(full, own) <= toNumberDown(epsilon)) return true;
  }
  const gaussianPart = gaussianAlong(route, spent, pairs);
  if (!gaussianPart) return false;
  const { bound, capacity, epsilon: kept } = gaussianPart.gaussian;
  return compare(bound.counted(gaussianPart.mixed, capacity, kept), capacity) <= 0;
}

/** Upper bound on the privacy loss between two values that are a pair; undefined where no cost was recorded along pairs. */
export function lossByPairs(route: LeakageRoute, spent: SpentCosts): number | undefined {
  const { pairs, amplifier } = route;
  if (pairs === undefined || !hasPairCosts(spent, pairs)) return undefined;
  const { full, own } = pairCosts(spent.pure, pairs);
  const pure = isPure(spent) ? [isZero(own) && amplifier.strangers ? 0 : amplifier.along!(full, own)] : [];
  const gaussianPart = gaussianAlong(route, spent, pairs);
  const mixed =
    gaussianPart && isPositive(gaussianPart.mixed.rho)
      ? [gaussianPart.gaussian.bound.epsilon(gaussianPart.mixed, gaussianPart.gaussian.delta)]
      : [];
  const found = [...pure, ...mixed];
  return found.length > 0 ? Math.min(...found) : undefined;
}

/** Used share of the capacity along pairs, by pure and by Gaussian noise. */
export function pairUsages(
  route: LeakageRoute,
  spent: SpentCosts,
): readonly { readonly noise: PrivacyCost['noise']; readonly share: Rational }[] {
  const { pairs, amplifier, pureCapacity } = route;
  if (pairs === undefined || !hasPairCosts(spent, pairs)) return [];
  const { full, own } = pairCosts(spent.pure, pairs);
  const gaussianPart = gaussianAlong(route, spent, pairs);
  const rho = gaussianPart && isPositive(gaussianPart.gaussian.capacity) ? [gaussianPart] : [];
  const mixed = rho.map(({ gaussian: { bound, capacity, epsilon }, mixed: m }) => ({
    noise: 'zcdp' as const,
    share: divide(bound.counted(m, capacity, epsilon), capacity),
  }));
  if (!isPure(spent)) return mixed;
  const pure = (share: Rational) => ({ noise: 'pure' as const, share });
  if (amplifier.strangers) return isPositive(pureCapacity) ? [pure(divide(own, pureCapacity)), ...mixed] : mixed;
  const allowed = isZero(full) ? zero : capacityAlong(route, divide(own, full));
  return isPositive(allowed) ? [pure(divide(full, allowed))] : [];
}

/** Remaining budget along pairs, where nobody is tied, until this share of the capacity is used. */
export function remainingByPairs(route: LeakageRoute, spent: SpentCosts, target: Rational): RemainingBudget {
  const { gaussian, pureCapacity, pairs } = route;
  const gaussianPart = gaussianAlong(route, spent, pairs!);
  const counted = gaussianPart && gaussian!.bound.counted(gaussianPart.mixed, gaussian!.capacity, gaussian!.epsilon);
  return {
    pure: isPure(spent) ? subtract(multiply(pureCapacity, target), pairCosts(spent.pure, pairs!).own) : zero,
    ...(counted && { rho: subtract(multiply(gaussian!.capacity, target), counted) }),
    whole: { pure: pureCapacity, ...(gaussian && { rho: gaussian.capacity }) },
  };
}

/**
 * The same where ties carry costs: largest cost of any replacement, if this part of it is along pairs.
 * The used part of the budget is the divisor at which all costs would just be admitted.
 */
export function remainingAlongTies(route: LeakageRoute, spent: SpentCosts, part: Rational, target: Rational): Rational {
  const { pairs, amplifier, epsilon } = route;
  const { full, own } = pairCosts(spent.pure, pairs!);
  if (isZero(full)) return multiply(capacityAlong(route, part), target);
  const limit = toNumberDown(epsilon);
  const leakage = (x: number) =>
    amplifier.along!(divide(add(full, fromNumber(x)), target), divide(add(own, multiply(part, fromNumber(x))), target));
  return leakage(limit * 2 ** -30) > limit ? zero : largestBelow(leakage, limit, limit * largestMultiple, relativePrecision);
}

/** Largest cost as a multiple of the budget, whatever part of it ties carry. */
const largestMultiple = 1024;
/** Relative precision, finer than any noise can show. */
const relativePrecision = 1e-4;

/** Largest cost of any replacement that is admitted if this part of it is along pairs. Rounded down, and checked itself. */
function capacityAlong(route: LeakageRoute, part: Rational): Rational {
  const { amplifier, epsilon, pureCapacity } = route;
  if (compare(part, one) >= 0) return pureCapacity;
  const limit = toNumberDown(epsilon);
  const leakage = (x: number) => amplifier.along!(fromNumber(x), multiply(part, fromNumber(x)));
  return memoized(route, toText(part), () => largestBelow(leakage, limit, limit * largestMultiple, relativePrecision));
}

const memoized = memoize();

/** Largest ratio of the sensitivity along pairs to the sensitivity to any replacement. */
export const shareAlong = (measures: readonly { readonly sensitivity: RecordSensitivity }[], pairs: string): Rational =>
  measures
    .map(({ sensitivity }) => {
      const [full, own] = [sensitivity.get(everyRecord), sensitivity.get(pairsClass(pairs))];
      return full && own ? rational(own.l1, full.l1) : zero;
    })
    .reduce(maximum, zero);

/** True if these sensitivities state the effect of replacing a record along the pairs. */
export const hasPairSensitivity = (sensitivity: RecordSensitivity, pairs: string): boolean =>
  !sensitivity.has(everyRecord) || sensitivity.has(paired(pairs));
export const isMovedAlong = (sensitivity: RecordSensitivity, pairs: string): boolean => sensitivity.has(pairsClass(pairs));
