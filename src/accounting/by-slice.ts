import type { SlicedBase } from '../dependence/base.js';
import { largestBelow } from '../dependence/largest-below.js';
import {
  compare,
  divide,
  fromNumber,
  isPositive,
  maximum,
  one,
  type Rational,
  subtract,
  toNumberDown,
  toText,
  zero,
} from '../exact/rational.js';
import type { Effects } from '../mechanism/effect.js';
import { isBySlice, paidBySlice, type Spent } from '../mechanism/profile.js';
import { everyRecord, isSlice, isSliced, type Slicing, sliced, sliceIn, slicingIn } from '../mechanism/record-class.js';
import {
  addSlices,
  costAt,
  costOn,
  either,
  everyValue,
  isEverything,
  isLevel,
  largestOn,
  noSlices,
  type Range,
  type Slices,
  type Values,
} from '../mechanism/slices.js';
import type { Route } from './account.js';

/**
 * Costs by the values of a public column (slices.proof.md): a record pays what was spent on its value and on everybody, so releases about different values add up only as far as ties
 * carry over from one to the other.
 */

/** The values of public columns that a request is about; about all of a column that is absent. */
export type About = ReadonlyMap<Slicing, Values>;
export const aboutEverybody: About = new Map();

export function aboutOf(measures: readonly { readonly effects: Effects }[]): About {
  const touching = measures.filter(({ effects }) => effects.has(everyRecord));
  const columns = new Set(touching.flatMap(({ effects }) => [...effects.keys()].filter(isSliced).map(slicingIn)));
  return new Map(
    [...columns].map((slicing) => [slicing, touching.map(({ effects }) => valuesIn(effects, slicing)).reduce(either)]),
  );
}

/** The values that the records which move something have. */
export function valuesIn(effects: Effects, slicing: Slicing): Values {
  if (!effects.has(sliced(slicing))) return everyValue;
  const own = [...effects.keys()]
    .filter(isSlice)
    .map(sliceIn)
    .filter(({ of }) => of === slicing);
  return { ranges: own.filter(({ from }) => !Number.isNaN(from)), missing: own.some(({ from }) => Number.isNaN(from)) };
}

/** One value of each kind: those between which none of these begins or ends are alike. */
export function kinds(lists: readonly (readonly Range[])[]): readonly number[] {
  const starts = new Set(lists.flatMap((ranges) => ranges.flatMap(({ from, to }) => [from, to + 1])));
  return [...new Set([Number.NEGATIVE_INFINITY, ...starts])].filter((x) => x < Number.POSITIVE_INFINITY).concat(Number.NaN);
}
export const isAmong = ({ ranges, missing }: Values, value: number): boolean =>
  Number.isNaN(value) ? missing : ranges.some(({ from, to }) => from <= value && value <= to);

const spentBySlice = ({ pure, zcdp }: Spent, slicing: Slicing): boolean => isBySlice(pure, slicing) || isBySlice(zcdp, slicing);
const isPure = ({ zcdp }: Spent): boolean => zcdp.perRecord.size === 0;

/** One rho that stands for what the dearest of these values has spent. */
function rhoOn({ gaussian }: Route, { pure, zcdp }: Spent, slicing: Slicing, values: Values): Rational {
  const [e, rho] = [paidBySlice(pure, slicing), paidBySlice(zcdp, slicing)];
  return kinds([e.runs, rho.runs, values.ranges])
    .filter((v) => isAmong(values, v))
    .map((v) => gaussian!.bound.counted({ rho: costAt(rho, v), pure: costAt(e, v) }, gaussian!.capacity, gaussian!.epsilon))
    .reduce(maximum, zero);
}

/** Does the route prove, by the values of some public column, that the total stays within the budget? */
export const keepsBySlice = (route: Route, spent: Spent): boolean =>
  route.slicings.some((slicing) => spentBySlice(spent, slicing) && keepsBy(route, spent, slicing));

function keepsBy(route: Route, spent: Spent, slicing: Slicing): boolean {
  if (isPure(spent) && within(route, { slicing, costs: paidBySlice(spent.pure, slicing) })) return true;
  return route.gaussian !== undefined && compare(rhoOn(route, spent, slicing, everyValue), route.gaussian.capacity) <= 0;
}

/** By the dearest value without asking the ties, or by what they carry over. */
function within({ amplifier, epsilon, pureCapacity }: Route, base: SlicedBase): boolean {
  if (compare(largestOn(base.costs), pureCapacity) <= 0) return true;
  return amplifier.slicings?.has(base.slicing) === true && amplifier.leakage(base) <= toNumberDown(epsilon);
}

/** What the total tells an attacker, by the public column that shows the least; undefined where nothing was booked by one. */
export function gainedBySlice(route: Route, spent: Spent): number | undefined {
  const found = route.slicings
    .filter((slicing) => spentBySlice(spent, slicing))
    .flatMap((slicing) => {
      const [e, rho] = [paidBySlice(spent.pure, slicing), paidBySlice(spent.zcdp, slicing)];
      const pure = isPure(spent) ? [route.amplifier.leakage({ slicing, costs: e })] : [];
      if (!route.gaussian) return pure;
      const { bound, delta } = route.gaussian;
      const mixed = kinds([e.runs, rho.runs]).map((v) => ({ rho: costAt(rho, v), pure: costAt(e, v) }));
      const told = mixed.filter((m) => isPositive(m.rho) || isPositive(m.pure));
      return isPositive(largestOn(rho)) ? [...pure, Math.max(...told.map((m) => bound.epsilon(m, delta)))] : pure;
    });
  return found.length > 0 ? Math.min(...found) : undefined;
}

/** The most that records of these values may still spend on pure noise, all of them as much; rounded down, and itself tested. */
export function roomOn(route: Route, slicing: Slicing, values: Values, spent: Slices = noSlices): Rational {
  const { amplifier, pureCapacity } = route;
  const common = compare(largestOn(spent), pureCapacity) <= 0 ? subtract(pureCapacity, largestOn(spent, values)) : zero;
  if (!amplifier.slicings?.has(slicing) || (isEverything(values) && isLevel(spent))) return common;
  return maximum(
    common,
    remembered(route, keyOf(slicing, values, spent), () => byTies(route, { slicing, costs: spent }, values)),
  );
}

function byTies({ amplifier, epsilon }: Route, { slicing, costs }: SlicedBase, values: Values): Rational {
  const limit = toNumberDown(epsilon);
  const leakage = (x: number) => amplifier.leakage({ slicing, costs: addSlices(costs, costOn(values, fromNumber(x))) });
  // Less than this is nothing that anybody could spend.
  if (leakage(limit * 2 ** -30) > limit) return zero;
  return largestBelow(leakage, limit, limit);
}

const rooms = new WeakMap<Route, Map<string, Rational>>();
const mostKept = 256;
function remembered(route: Route, key: string, make: () => Rational): Rational {
  const known = rooms.get(route) ?? new Map<string, Rational>();
  rooms.set(route, known);
  const found = known.get(key) ?? make();
  if (known.size >= mostKept) known.clear();
  known.set(key, found);
  return found;
}
const keyOf = (slicing: Slicing, { ranges, missing }: Values, spent: Slices): string =>
  JSON.stringify([
    slicing,
    ranges.map(({ from, to }) => `${from}..${to}`),
    missing,
    spent.runs.map(({ from, to, cost }) => `${from}..${to} ${toText(cost)}`),
    toText(spent.missing),
  ]);

/** What part of all that these values could spend is used, by pure and by Gaussian noise; nothing where it is the part that everybody has used. */
export function usedBySlice(route: Route, spent: Spent, slicing: Slicing, values: Values): readonly Rational[] {
  const apart = spentBySlice(spent, slicing);
  const reached = route.amplifier.slicings?.has(slicing) === true && !isEverything(values);
  if (!apart && !reached) return [];
  const most = isPure(spent) ? roomOn(route, slicing, values) : zero;
  const left = isPositive(most) ? roomOn(route, slicing, values, paidBySlice(spent.pure, slicing)) : zero;
  const pure = isPositive(most) ? [subtract(one, divide(left, most))] : [];
  if (!apart || !route.gaussian || !isPositive(route.gaussian.capacity)) return pure;
  const { capacity } = route.gaussian;
  const kept = compare(rhoOn(route, spent, slicing, everyValue), capacity) <= 0;
  return [...pure, kept ? divide(rhoOn(route, spent, slicing, values), capacity) : one];
}

/** What parts of all that these values could spend one request was, by the routes that may have allotted it. */
export const bookedShares = (
  { routes }: { readonly routes: readonly Route[] },
  { pure }: Spent,
  about: About,
): readonly Rational[] =>
  routes.flatMap((route) =>
    route.slicings.flatMap((slicing) => {
      const values = about.get(slicing);
      const most = values ? roomOn(route, slicing, values) : zero;
      return isPositive(most) ? [divide(largestOn(paidBySlice(pure, slicing)), most)] : [];
    }),
  );
