import { largestBelow } from '../dependence/largest-below.js';
import {
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
  toNumberDown,
  toText,
  zero,
} from '../exact/rational.js';
import type { Effects } from '../mechanism/effect.js';
import { isAlong, type Profile, paidAlong, type Spent } from '../mechanism/profile.js';
import { along, everyRecord, paired } from '../mechanism/record-class.js';
import type { Route } from './account.js';
import { remembering } from './remembered.js';

/**
 * Costs along pairs of values that must not be told apart (mechanism/pairs.proof.md): of a record's own change counts what was booked along pairs, of all others, over ties, what any change costs.
 */

/** What replacing a record costs, by any other and along a pair. */
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

/** Gaussian noise along pairs, where nobody is tied: nothing else is proven of it. */
function mixedIn({ amplifier, gaussian }: Route, { pure, zcdp }: Spent, pairs: string) {
  if (!gaussian || !amplifier.strangers) return undefined;
  return { gaussian, mixed: { rho: paidAlong(zcdp, pairs), pure: paidAlong(pure, pairs) } };
}

/** Does the route prove, for values that are pairs, that the total stays within the budget? */
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

/** What the total tells an attacker between two values that are a pair; undefined where nothing was booked along pairs. */
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

/** What part of all that could be spent along pairs is used, by pure and by Gaussian noise. */
export function usedByPairs(route: Route, spent: Spent): readonly Rational[] {
  const { pairs, amplifier, pureCapacity } = route;
  if (pairs === undefined || !isBooked(spent, pairs)) return [];
  const { full, own } = costsIn(spent.pure, pairs);
  const told = mixedIn(route, spent, pairs);
  const rho = told && isPositive(told.gaussian.capacity) ? [told] : [];
  const mixed = rho.map(({ gaussian: { bound, capacity, epsilon }, mixed: m }) =>
    divide(bound.counted(m, capacity, epsilon), capacity),
  );
  if (!isPure(spent)) return mixed;
  if (amplifier.strangers) return isPositive(pureCapacity) ? [divide(own, pureCapacity), ...mixed] : mixed;
  const room = isZero(full) ? zero : roomAlong(route, divide(own, full));
  return isPositive(room) ? [divide(full, room)] : [];
}

/** No more than this many times the budget is spent on anything, whatever ties carry of it. */
const mostTimes = 1024;
/** Less than any noise can show. */
const digits = 1e-4;

/**
 * The largest cost of replacing any record whose leakage between values that are a pair stays within the budget, where replacing along a pair costs this part of it. Rounded down, and itself tested.
 */
export function roomAlong(route: Route, part: Rational): Rational {
  const { amplifier, epsilon, pureCapacity } = route;
  if (compare(part, one) >= 0) return pureCapacity;
  const limit = toNumberDown(epsilon);
  const leakage = (x: number) => amplifier.along!(fromNumber(x), multiply(part, fromNumber(x)));
  return remembered(route, toText(part), () => largestBelow(leakage, limit, limit * mostTimes, digits));
}

const remembered = remembering();

/** The largest part of what any replacing moves that replacing along a pair moves. */
export const partAlong = (measures: readonly { readonly effects: Effects }[], pairs: string): Rational =>
  measures
    .map(({ effects }) => {
      const [full, own] = [effects.get(everyRecord), effects.get(along(pairs))];
      return full && own ? rational(own.l1, full.l1) : zero;
    })
    .reduce(maximum, zero);

/** Whether these effects say what replacing along the pairs does. */
export const saysAlong = (effects: Effects, pairs: string): boolean => !effects.has(everyRecord) || effects.has(paired(pairs));
export const movesAlong = (effects: Effects, pairs: string): boolean => effects.has(along(pairs));
