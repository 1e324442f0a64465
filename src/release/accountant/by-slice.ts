import {
  compare,
  divide,
  fromNumber,
  isPositive,
  maximum,
  multiply,
  one,
  type Rational,
  subtract,
  toNumberDown,
  toText,
  zero,
} from '../../base/exact/rational.js';
import type { Mixed } from '../../privacy/dependence/amplifier.js';
import { largestBelow } from '../../privacy/dependence/largest-below.js';
import { isBySlice, type Profile, paidBySlice, paidTogether, type Spent, zcdpOfAll } from '../../privacy/mechanism/profile.js';
import {
  boxIn,
  columnsIn,
  everyRecord,
  isSlice,
  isSliced,
  type RecordClass,
  type Slice,
  type Slicing,
  sliced,
  sliceOfAll,
  slicingIn,
} from '../../privacy/mechanism/record-class.js';
import {
  costAt,
  either,
  everyValue,
  isEverything,
  type Range,
  type Slices,
  type Values,
} from '../../privacy/mechanism/slices.js';
import {
  addCosts,
  areEqual,
  type Costs,
  costOnAll,
  isLevelIn,
  largestBy,
  largestOf,
  largestOnAll,
  noCosts,
  partsOf,
} from '../../privacy/mechanism/together.js';
import type { Route } from './account.js';
import { remembering } from './remembered.js';
import type { Room } from './room.js';

/**
 * Costs by the values of a public column (slices.proof.md): a record pays the cost of its value and of everybody,
 * so releases about different values add up only as far as ties carry over.
 */

/** Record classes, of sensitivities or of costs. */
type Classes = Pick<ReadonlyMap<RecordClass, unknown>, 'has' | 'keys'>;

/** Values of public columns that a request selects; a column that is absent is not restricted. */
export type About = ReadonlyMap<Slicing, Values>;
export const aboutEverybody: About = new Map();

export function aboutOf(measures: readonly { readonly effects: Classes }[]): About {
  const touching = measures.filter(({ effects }) => effects.has(everyRecord));
  const columns = new Set(
    touching.flatMap(({ effects }) => [...effects.keys()].filter(isSliced).map(slicingIn).flatMap(columnsIn)),
  );
  return new Map(
    [...columns].map((slicing) => [slicing, touching.map(({ effects }) => valuesIn(effects, slicing)).reduce(either)]),
  );
}

/** Values of the records that contribute to some measure. */
export function valuesIn(effects: Classes, slicing: Slicing): Values {
  if (!effects.has(sliced(slicing))) return everyValue;
  const own = [...effects.keys()]
    .filter(isSlice)
    .map(boxIn)
    .filter(({ of }) => of === slicing)
    .map(({ box }) => box[0]!);
  return { ranges: own.filter(({ from }) => !Number.isNaN(from)), missing: own.some(({ from }) => Number.isNaN(from)) };
}

/** One representative of each kind of value: values are of one kind if no range begins or ends between them. */
export function kinds(lists: readonly (readonly Range[])[]): readonly number[] {
  const starts = new Set(lists.flatMap((ranges) => ranges.flatMap(({ from, to }) => [from, to + 1])));
  return [...new Set([Number.NEGATIVE_INFINITY, ...starts])].filter((x) => x < Number.POSITIVE_INFINITY).concat(Number.NaN);
}
export const isAmong = ({ ranges, missing }: Values, value: number): boolean =>
  Number.isNaN(value) ? missing : ranges.some(({ from, to }) => from <= value && value <= to);

/** Values that a request selects for each column of a slicing; undefined where it restricts none of them. */
export function valuesAbout(about: About, slicing: Slicing): readonly Values[] | undefined {
  const columns = columnsIn(slicing);
  return columns.some((column) => about.has(column)) ? columns.map((column) => about.get(column) ?? everyValue) : undefined;
}
export const everywhere = (slicing: Slicing): readonly Values[] => columnsIn(slicing).map(() => everyValue);

const spentBySlice = ({ pure, zcdp }: Spent, slicing: Slicing): boolean => isBySlice(pure, slicing) || isBySlice(zcdp, slicing);
/**
 * True if combinations are more informative than one column: if two columns were selected or are now,
 * or if records that agree in all of them pay less.
 */
function tells({ pure, zcdp }: Spent, slicing: Slicing, values: readonly Values[] = []): boolean {
  const columns = columnsIn(slicing);
  if (columns.length === 1) return true;
  const paid = [pure, zcdp].map((profile) => ({ profile, costs: paidTogether(profile, slicing) }));
  const boxes = paid.flatMap(({ costs }) => partsOf(costs, columns.length));
  const isAsked = (k: number) =>
    (values[k] !== undefined && !isEverything(values[k])) || boxes.some(({ box }) => box[k] !== undefined);
  const every = columns.map((_, k) => k);
  const asked = every.filter(isAsked);
  const saysAll = (k: number) =>
    paid.every(({ profile, costs }) => areEqual(paidBySlice(profile, columns[k]!), largestBy(costs, k, columns.length), 1));
  return asked.length > 1 || !(asked.length === 1 ? asked : every).some(saysAll);
}
const isPure = ({ zcdp }: Spent): boolean => zcdp.perRecord.size === 0;

/**
 * One rho equivalent to the cost of the costliest of these values; for combinations of columns,
 * to the largest cost of each kind of noise.
 */
function rhoOn({ gaussian }: Route, spent: Spent, slicing: Slicing, values: readonly Values[]): Rational {
  const counted = (mixed: Mixed) => gaussian!.bound.counted(mixed, gaussian!.capacity, gaussian!.epsilon);
  const [first, ...others] = values;
  if (others.length > 0) {
    const largest = (profile: Profile) => largestOnAll(paidTogether(profile, slicing), values);
    return counted({ rho: largest(spent.zcdp), pure: largest(spent.pure), total: largest(zcdpOfAll(spent)) });
  }
  const [e, rho, all] = costsBySlice(spent, slicing);
  return kinds([e.runs, rho.runs, all.runs, first!.ranges])
    .filter((v) => isAmong(first!, v))
    .map((v) => counted({ rho: costAt(rho, v), pure: costAt(e, v), total: costAt(all, v) }))
    .reduce(maximum, zero);
}
const costsBySlice = (spent: Spent, slicing: Slicing): readonly [Slices, Slices, Slices] => [
  paidBySlice(spent.pure, slicing),
  paidBySlice(spent.zcdp, slicing),
  paidBySlice(zcdpOfAll(spent), slicing),
];

/** True if the route proves, by the values of some public column, that the total stays within the budget. */
export const keepsBySlice = (route: Route, spent: Spent): boolean =>
  route.slicings.some((slicing) => spentBySlice(spent, slicing) && tells(spent, slicing) && keepsBy(route, spent, slicing));

function keepsBy(route: Route, spent: Spent, slicing: Slicing): boolean {
  if (isPure(spent) && within(route, slicing, paidTogether(spent.pure, slicing))) return true;
  return isKeptInZcdp(route, spent, slicing);
}

const isKeptInZcdp = (route: Route, spent: Spent, slicing: Slicing): boolean =>
  route.gaussian !== undefined && compare(rhoOn(route, spent, slicing, everywhere(slicing)), route.gaussian.capacity) <= 0;

/** Admits by the costliest value without ties, or by the leakage under ties. */
function within(route: Route, slicing: Slicing, costs: Costs): boolean {
  if (compare(largestOf(costs, columnsIn(slicing).length), route.pureCapacity) <= 0) return true;
  return knows(route, slicing) && leakageOf(route, slicing, costs) <= toNumberDown(route.epsilon);
}

/** True if ties bound costs by these columns more tightly than their largest cost does. */
const knows = ({ amplifier }: Route, slicing: Slicing): boolean =>
  columnsIn(slicing).some((column) => amplifier.slicings?.has(column) === true);

/**
 * Leakage under ties. Where ties do not cover every column of a combination, each covered column is taken with the
 * costliest combination for each of its values: bounds grow with every record's cost.
 */
function leakageOf({ amplifier }: Route, slicing: Slicing, costs: Costs): number {
  const columns = columnsIn(slicing);
  const known = columns.flatMap((column, k) => (amplifier.slicings?.has(column) ? [{ column, k }] : []));
  if (columns.length === 1) return amplifier.leakage({ slicing, costs: costs as Slices });
  if (known.length === columns.length) return amplifier.leakage({ together: slicing, costs });
  if (known.length === 0) return amplifier.leakage(largestOf(costs, columns.length));
  return Math.min(
    ...known.map(({ column, k }) => amplifier.leakage({ slicing: column, costs: largestBy(costs, k, columns.length) })),
  );
}

/** True where, under the ties, no record has these values: a cost there loses nothing. */
export const isNobody = (route: Route, slicing: Slicing, values: Values): boolean =>
  route.amplifier.slicings?.has(slicing) === true && leakageOf(route, slicing, costOnAll([values], route.epsilon)) === 0;

/**
 * Upper bound on the privacy loss, by the public column that gives the smallest;
 * undefined where no cost was recorded by a column.
 */
export function gainedBySlice(route: Route, spent: Spent): number | undefined {
  const found = route.slicings
    .filter((slicing) => spentBySlice(spent, slicing) && tells(spent, slicing))
    .flatMap((slicing) => {
      const pure = isPure(spent) ? [leakageOf(route, slicing, paidTogether(spent.pure, slicing))] : [];
      if (!route.gaussian) return pure;
      const { bound, delta } = route.gaussian;
      const told = mixedOf(spent, slicing).filter((m) => isPositive(m.rho) || isPositive(m.pure));
      const gaussian = told.some((m) => isPositive(m.rho));
      return gaussian ? [...pure, Math.max(...told.map((m) => bound.epsilon(m, delta)))] : pure;
    });
  return found.length > 0 ? Math.min(...found) : undefined;
}

function mixedOf(spent: Spent, slicing: Slicing): readonly Mixed[] {
  const columns = columnsIn(slicing).length;
  if (columns > 1) {
    const largest = (profile: Profile) => largestOf(paidTogether(profile, slicing), columns);
    return [{ rho: largest(spent.zcdp), pure: largest(spent.pure), total: largest(zcdpOfAll(spent)) }];
  }
  const [e, rho, all] = costsBySlice(spent, slicing);
  return kinds([e.runs, rho.runs, all.runs]).map((v) => ({ rho: costAt(rho, v), pure: costAt(e, v), total: costAt(all, v) }));
}

/** Largest equal pure cost that records of these values may still spend; rounded down, and checked itself. */
export function roomOn(route: Route, slicing: Slicing, values: readonly Values[], spent?: Costs): Rational {
  const { pureCapacity } = route;
  const columns = values.length;
  const costs = spent ?? noCosts(columns);
  const common =
    compare(largestOf(costs, columns), pureCapacity) <= 0 ? subtract(pureCapacity, largestOnAll(costs, values)) : zero;
  if (!knows(route, slicing) || (values.every(isEverything) && isLevelIn(costs, columns))) return common;
  return maximum(
    common,
    remembered(route, keyOf(slicing, values, costs), () => byTies(route, slicing, costs, values)),
  );
}

function byTies(route: Route, slicing: Slicing, costs: Costs, values: readonly Values[]): Rational {
  const limit = toNumberDown(route.epsilon);
  const leakage = (x: number) => leakageOf(route, slicing, addCosts(costs, costOnAll(values, fromNumber(x)), values.length));
  // A remaining budget below this is treated as zero.
  if (leakage(limit * 2 ** -30) > limit) return zero;
  return largestBelow(leakage, limit, limit);
}

const remembered = remembering();
const keyOf = (slicing: Slicing, values: readonly Values[], spent: Costs): string =>
  JSON.stringify([
    slicing,
    values.map(({ ranges, missing }) => [ranges.map(({ from, to }) => `${from}..${to}`), missing]),
    partsOf(spent, values.length).map(({ box, cost }) => [sliceOfAll(slicing, box), toText(cost)]),
  ]);

/**
 * Used share of the capacity of these values, by pure and by Gaussian noise;
 * empty where it equals everybody's used share.
 */
export function usedBySlice(
  route: Route,
  spent: Spent,
  slicing: Slicing,
  about: About,
): readonly { readonly noise: Profile['noise']; readonly share: Rational }[] {
  const values = valuesAbout(about, slicing) ?? everywhere(slicing);
  const apart = spentBySlice(spent, slicing);
  const reached = knows(route, slicing) && !values.every(isEverything);
  if ((!apart && !reached) || !tells(spent, slicing, values)) return [];
  const most = isPure(spent) ? roomOn(route, slicing, values) : zero;
  const left = isPositive(most) ? roomOn(route, slicing, values, paidTogether(spent.pure, slicing)) : zero;
  const pure = isPositive(most) ? [{ noise: 'pure' as const, share: subtract(one, divide(left, most)) }] : [];
  if (!apart || !route.gaussian || !isPositive(route.gaussian.capacity)) return pure;
  const { capacity } = route.gaussian;
  const kept = isKeptInZcdp(route, spent, slicing);
  return [...pure, { noise: 'zcdp' as const, share: kept ? divide(rhoOn(route, spent, slicing, values), capacity) : one }];
}

/** Remaining budget of records with these values until this share of their capacity is used. */
export function roomBySlice(
  route: Route,
  spent: Spent,
  { slicing, values, target }: { readonly slicing: Slicing; readonly values: readonly Values[]; readonly target: Rational },
): Room {
  // If some value has spent more than zCDP allows, no value can be read in zCDP.
  const gaussian = isKeptInZcdp(route, spent, slicing) ? route.gaussian : undefined;
  const most = isPure(spent) ? roomOn(route, slicing, values) : zero;
  const left = isPositive(most) ? roomOn(route, slicing, values, paidTogether(spent.pure, slicing)) : zero;
  return {
    pure: subtract(left, multiply(most, subtract(one, target))),
    ...(gaussian && { rho: subtract(multiply(gaussian.capacity, target), rhoOn(route, spent, slicing, values)) }),
    whole: { pure: most, ...(gaussian && { rho: gaussian.capacity }) },
  };
}

/** Share of these values' capacity that one request took, under each route that may have allotted it. */
export const bookedShares = (
  { routes }: { readonly routes: readonly Route[] },
  { pure }: Spent,
  about: About,
): readonly Rational[] =>
  routes.flatMap((route) =>
    route.slicings.flatMap((slicing) => {
      const values = valuesAbout(about, slicing);
      const most = values ? roomOn(route, slicing, values) : zero;
      return isPositive(most) ? [divide(largestOf(paidTogether(pure, slicing), columnsIn(slicing).length), most)] : [];
    }),
  );

/** Largest number of parts with different costs. */
export const mostParts = 4096;
/** Number of parts of the data, by combinations of public columns, with different costs. */
export const partsTogether = ({ pure, zcdp }: Spent): number =>
  Math.max(
    ...[pure, zcdp].map(({ perRecord }) => [...perRecord.keys()].filter((name) => isSlice(name) && isTogether(name)).length),
  );
const isTogether = (name: Slice): boolean => boxIn(name).box.length > 1;
