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
import type { Effects } from '../../privacy/mechanism/effect.js';
import { isAlong, type Profile, paidAlong, type Spent, zcdpOfAll } from '../../privacy/mechanism/profile.js';
import { along, everyRecord, paired } from '../../privacy/mechanism/record-class.js';
import type { Route } from './account.js';
import { remembering } from './remembered.js';
import type { Room } from './room.js';

/**
 * Costs along pairs of values (privacy/mechanism/pairs.proof.md): a record's own change counts at its cost along pairs,
 * changes of other records, over ties, at the cost of any change.
 */

/** Cost of replacing a record: by any other (`full`) and along a pair (`own`). */
interface Costs {
  readonly full: Rational;
  readonly own: Rational;
}
const costsIn = (profile: Profile, pairs: string): Costs => ({
  full: profile.perRecord.get(everyRecord) ?? zero,
  own: paidAlong(profile, pairs),
});
const isBooked = ({ pure, zcdp }: Spent, pairs: string): boolean => isAlong(pure, pairs) || isAlong(zcdp, pairs);
const isPure = ({ zcdp }: Spent): boolean => zcdp.perRecord.size === 0;

/** Gaussian noise along pairs, where nobody is tied: nothing is proven for ties. */
function mixedIn({ amplifier, gaussian }: Route, spent: Spent, pairs: string) {
  if (!gaussian || !amplifier.strangers) return undefined;
  const [rho, pure, total] = [spent.zcdp, spent.pure, zcdpOfAll(spent)].map((profile) => paidAlong(profile, pairs));
  return { gaussian, mixed: { rho: rho!, pure: pure!, total: total! } };
}

/** True if the route proves, for values that are pairs, that the total stays within the budget. */
export function keepsByPairs(route: Route, spent: Spent): boolean {
  const { pairs, amplifier, epsilon, pureCapacity } = route;
  if (pairs === undefined || !isBooked(spent, pairs)) return false;
  const { full, own } = costsIn(spent.pure, pairs);
  if (isPure(spent)) {
    if (amplifier.strangers ? compare(own, pureCapacity) <= 0 : amplifier.along!(full, own) <= toNumberDown(epsilon)) return true;
  }
  const told = mixedIn(route, spent, pairs);
  if (!told) return false;
  const { bound, capacity, epsilon: kept } = told.gaussian;
  return compare(bound.counted(told.mixed, capacity, kept), capacity) <= 0;
}

/** Upper bound on the privacy loss between two values that are a pair; undefined where no cost was recorded along pairs. */
export function gainedByPairs(route: Route, spent: Spent): number | undefined {
  const { pairs, amplifier } = route;
  if (pairs === undefined || !isBooked(spent, pairs)) return undefined;
  const { full, own } = costsIn(spent.pure, pairs);
  const pure = isPure(spent) ? [isZero(own) && amplifier.strangers ? 0 : amplifier.along!(full, own)] : [];
  const told = mixedIn(route, spent, pairs);
  const mixed = told && isPositive(told.mixed.rho) ? [told.gaussian.bound.epsilon(told.mixed, told.gaussian.delta)] : [];
  const found = [...pure, ...mixed];
  return found.length > 0 ? Math.min(...found) : undefined;
}

/** Used share of the capacity along pairs, by pure and by Gaussian noise. */
export function usedByPairs(
  route: Route,
  spent: Spent,
): readonly { readonly noise: Profile['noise']; readonly share: Rational }[] {
  const { pairs, amplifier, pureCapacity } = route;
  if (pairs === undefined || !isBooked(spent, pairs)) return [];
  const { full, own } = costsIn(spent.pure, pairs);
  const told = mixedIn(route, spent, pairs);
  const rho = told && isPositive(told.gaussian.capacity) ? [told] : [];
  const mixed = rho.map(({ gaussian: { bound, capacity, epsilon }, mixed: m }) => ({
    noise: 'zcdp' as const,
    share: divide(bound.counted(m, capacity, epsilon), capacity),
  }));
  if (!isPure(spent)) return mixed;
  const pure = (share: Rational) => ({ noise: 'pure' as const, share });
  if (amplifier.strangers) return isPositive(pureCapacity) ? [pure(divide(own, pureCapacity)), ...mixed] : mixed;
  const room = isZero(full) ? zero : roomAlong(route, divide(own, full));
  return isPositive(room) ? [pure(divide(full, room))] : [];
}

/** Remaining budget along pairs, where nobody is tied, until this share of the capacity is used. */
export function roomByPairs(route: Route, spent: Spent, target: Rational): Room {
  const { gaussian, pureCapacity, pairs } = route;
  const told = mixedIn(route, spent, pairs!);
  const counted = told && gaussian!.bound.counted(told.mixed, gaussian!.capacity, gaussian!.epsilon);
  return {
    pure: isPure(spent) ? subtract(multiply(pureCapacity, target), costsIn(spent.pure, pairs!).own) : zero,
    ...(counted && { rho: subtract(multiply(gaussian!.capacity, target), counted) }),
    whole: { pure: pureCapacity, ...(gaussian && { rho: gaussian.capacity }) },
  };
}

/**
 * The same where ties carry costs: largest cost of any replacement, if this part of it is along pairs.
 * The used part of the budget is the divisor at which all costs would just be admitted.
 */
export function roomAlongTies(route: Route, spent: Spent, part: Rational, target: Rational): Rational {
  const { pairs, amplifier, epsilon } = route;
  const { full, own } = costsIn(spent.pure, pairs!);
  if (isZero(full)) return multiply(roomAlong(route, part), target);
  const limit = toNumberDown(epsilon);
  const leakage = (x: number) =>
    amplifier.along!(divide(add(full, fromNumber(x)), target), divide(add(own, multiply(part, fromNumber(x))), target));
  return leakage(limit * 2 ** -30) > limit ? zero : largestBelow(leakage, limit, limit * mostTimes, digits);
}

/** Largest cost as a multiple of the budget, whatever part of it ties carry. */
const mostTimes = 1024;
/** Relative precision, finer than any noise can show. */
const digits = 1e-4;

/** Largest cost of any replacement that is admitted if this part of it is along pairs. Rounded down, and checked itself. */
function roomAlong(route: Route, part: Rational): Rational {
  const { amplifier, epsilon, pureCapacity } = route;
  if (compare(part, one) >= 0) return pureCapacity;
  const limit = toNumberDown(epsilon);
  const leakage = (x: number) => amplifier.along!(fromNumber(x), multiply(part, fromNumber(x)));
  return remembered(route, toText(part), () => largestBelow(leakage, limit, limit * mostTimes, digits));
}

const remembered = remembering();

/** Largest ratio of the sensitivity along pairs to the sensitivity to any replacement. */
export const partAlong = (measures: readonly { readonly effects: Effects }[], pairs: string): Rational =>
  measures
    .map(({ effects }) => {
      const [full, own] = [effects.get(everyRecord), effects.get(along(pairs))];
      return full && own ? rational(own.l1, full.l1) : zero;
    })
    .reduce(maximum, zero);

/** True if these sensitivities state the effect of replacing a record along the pairs. */
export const saysAlong = (effects: Effects, pairs: string): boolean => !effects.has(everyRecord) || effects.has(paired(pairs));
export const movesAlong = (effects: Effects, pairs: string): boolean => effects.has(along(pairs));
