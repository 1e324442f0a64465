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
import type { MixedCost } from '../../privacy/dependence/amplifier.js';
import { largestBelow } from '../../privacy/dependence/largest-below.js';
import {
  addJointCosts,
  areEqualCosts,
  costBoxes,
  isConstantIn,
  type JointCosts,
  jointCostOn,
  largestByColumn,
  largestCost,
  largestJointCost,
  noJointCosts,
} from '../../privacy/mechanism/joint-costs.js';
import {
  costBySlice,
  costBySlices,
  hasCostBySlice,
  type PrivacyCost,
  type SpentCosts,
  zcdpOfAll,
} from '../../privacy/mechanism/privacy-cost.js';
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
  allValues,
  costAt,
  coversAllValues,
  type Range,
  type Slices,
  unionOfValues,
  type ValueSet,
} from '../../privacy/mechanism/slices.js';
import { isPure, type LeakageRoute } from './account.js';
import { memoize } from './memoize.js';
import type { RemainingBudget } from './remaining-budget.js';

/**
 * Costs by the values of a public column (slices.proof.md): a record pays the cost of its value and of everybody,
 * so releases about different values add up only as far as ties carry over.
 */

/** Record classes, of sensitivities or of costs. */
type Classes = Pick<ReadonlyMap<RecordClass, unknown>, 'has' | 'keys'>;

/** Values of public columns that a request selects; a column that is absent is not restricted. */
export type SliceSelection = ReadonlyMap<Slicing, ValueSet>;
export const everySlice: SliceSelection = new Map();

export function sliceSelectionOf(measures: readonly { readonly sensitivity: Classes }[]): SliceSelection {
  const touching = measures.filter(({ sensitivity }) => sensitivity.has(everyRecord));
  const columns = new Set(
    touching.flatMap(({ sensitivity }) => [...sensitivity.keys()].filter(isSliced).map(slicingIn).flatMap(columnsIn)),
  );
  return new Map(
    [...columns].map((slicing) => [
      slicing,
      touching.map(({ sensitivity }) => valuesIn(sensitivity, slicing)).reduce(unionOfValues),
    ]),
  );
}

/** Values of the records that contribute to some measure. */
export function valuesIn(sensitivity: Classes, slicing: Slicing): ValueSet {
  if (!sensitivity.has(sliced(slicing))) return allValues;
  const own = [...sensitivity.keys()]
    .filter(isSlice)
    .map(boxIn)
    .filter(({ of }) => of === slicing)
    .map(({ box }) => box[0]!);
  return { ranges: own.filter(({ from }) => !Number.isNaN(from)), missing: own.some(({ from }) => Number.isNaN(from)) };
}

/** One representative of each kind of value: values are of one kind if no range begins or ends between them. */
export function representativeValues(lists: readonly (readonly Range[])[]): readonly number[] {
  const starts = new Set(lists.flatMap((ranges) => ranges.flatMap(({ from, to }) => [from, to + 1])));
  return [...new Set([Number.NEGATIVE_INFINITY, ...starts])].filter((x) => x < Number.POSITIVE_INFINITY).concat(Number.NaN);
}
export const includesValue = ({ ranges, missing }: ValueSet, value: number): boolean =>
  Number.isNaN(value) ? missing : ranges.some(({ from, to }) => from <= value && value <= to);

/** Values that a request selects for each column of a slicing; undefined where it restricts none of them. */
export function selectedValues(selection: SliceSelection, slicing: Slicing): readonly ValueSet[] | undefined {
  const columns = columnsIn(slicing);
  return columns.some((column) => selection.has(column))
    ? columns.map((column) => selection.get(column) ?? allValues)
    : undefined;
}
export const everyValueOf = (slicing: Slicing): readonly ValueSet[] => columnsIn(slicing).map(() => allValues);

const hasSliceCosts = ({ pure, zcdp }: SpentCosts, slicing: Slicing): boolean =>
  hasCostBySlice(pure, slicing) || hasCostBySlice(zcdp, slicing);
/** True if combinations say more than one column: two were selected, or records that agree in all of them pay less. */
function isInformative({ pure, zcdp }: SpentCosts, slicing: Slicing, values: readonly ValueSet[] = []): boolean {
  const columns = columnsIn(slicing);
  if (columns.length === 1) return true;
  const paid = [pure, zcdp].map((privacyCost) => ({ profile: privacyCost, costs: costBySlices(privacyCost, slicing) }));
  const boxes = paid.flatMap(({ costs }) => costBoxes(costs, columns.length));
  const isRequested = (k: number) =>
    (values[k] !== undefined && !coversAllValues(values[k])) || boxes.some(({ box }) => box[k] !== undefined);
  const every = columns.map((_, k) => k);
  const requested = every.filter(isRequested);
  const coversAll = (k: number) =>
    paid.every(({ profile: privacyCost, costs }) =>
      areEqualCosts(costBySlice(privacyCost, columns[k]!), largestByColumn(costs, k, columns.length), 1),
    );
  return requested.length > 1 || !(requested.length === 1 ? requested : every).some(coversAll);
}

/** One rho for the costliest of these values; for combinations of columns, for the largest cost of each kind of noise. */
function rhoOn({ gaussian }: LeakageRoute, spent: SpentCosts, slicing: Slicing, values: readonly ValueSet[]): Rational {
  const counted = (mixed: MixedCost) => gaussian!.bound.counted(mixed, gaussian!.capacity, gaussian!.epsilon);
  const [first, ...others] = values;
  if (others.length > 0) {
    const largest = (privacyCost: PrivacyCost) => largestJointCost(costBySlices(privacyCost, slicing), values);
    return counted({ rho: largest(spent.zcdp), pure: largest(spent.pure), total: largest(zcdpOfAll(spent)) });
  }
  const [e, rho, all] = costsBySlice(spent, slicing);
  return representativeValues([e.runs, rho.runs, all.runs, first!.ranges])
    .filter((v) => includesValue(first!, v))
    .map((v) => counted({ rho: costAt(rho, v), pure: costAt(e, v), total: costAt(all, v) }))
    .reduce(maximum, zero);
}
const costsBySlice = (spent: SpentCosts, slicing: Slicing): readonly [Slices, Slices, Slices] => [
  costBySlice(spent.pure, slicing),
  costBySlice(spent.zcdp, slicing),
  costBySlice(zcdpOfAll(spent), slicing),
];

/** True if the route proves, by the values of some public column, that the total stays within the budget. */
export const admitsBySlice = (route: LeakageRoute, spent: SpentCosts): boolean =>
  route.slicings.some(
    (slicing) => hasSliceCosts(spent, slicing) && isInformative(spent, slicing) && admitsBy(route, spent, slicing),
  );

function admitsBy(route: LeakageRoute, spent: SpentCosts, slicing: Slicing): boolean {
  if (isPure(spent) && admitsPure(route, slicing, costBySlices(spent.pure, slicing))) return true;
  return admitsInZcdp(route, spent, slicing);
}

const admitsInZcdp = (route: LeakageRoute, spent: SpentCosts, slicing: Slicing): boolean =>
  route.gaussian !== undefined && compare(rhoOn(route, spent, slicing, everyValueOf(slicing)), route.gaussian.capacity) <= 0;

/** Admits by the costliest value without ties, or by the leakage under ties. */
function admitsPure(route: LeakageRoute, slicing: Slicing, costs: JointCosts): boolean {
  if (compare(largestCost(costs, columnsIn(slicing).length), route.pureCapacity) <= 0) return true;
  return hasTieBound(route, slicing) && leakageOf(route, slicing, costs) <= toNumberDown(route.epsilon);
}

/** True if ties bound costs by these columns more tightly than their largest cost does. */
const hasTieBound = ({ amplifier }: LeakageRoute, slicing: Slicing): boolean =>
  columnsIn(slicing).some((column) => amplifier.slicings?.has(column) === true);

/**
 * Leakage under ties. Where ties do not cover every column of a combination, each covered column is taken with the
 * costliest combination for each of its values: bounds grow with every record's cost.
 */
function leakageOf({ amplifier }: LeakageRoute, slicing: Slicing, costs: JointCosts): number {
  const columns = columnsIn(slicing);
  const known = columns.flatMap((column, k) => (amplifier.slicings?.has(column) ? [{ column, k }] : []));
  if (columns.length === 1) return amplifier.leakage({ slicing, costs: costs as Slices });
  if (known.length === columns.length) return amplifier.leakage({ together: slicing, costs });
  if (known.length === 0) return amplifier.leakage(largestCost(costs, columns.length));
  return Math.min(
    ...known.map(({ column, k }) => amplifier.leakage({ slicing: column, costs: largestByColumn(costs, k, columns.length) })),
  );
}

/** True where, under the ties, no record has these values: a cost there loses nothing. */
export const hasNoRecords = (route: LeakageRoute, slicing: Slicing, values: ValueSet): boolean =>
  route.amplifier.slicings?.has(slicing) === true && leakageOf(route, slicing, jointCostOn([values], route.epsilon)) === 0;

/** Upper bound on the privacy loss by the best public column; undefined where no cost was recorded by one. */
export function lossBySlice(route: LeakageRoute, spent: SpentCosts): number | undefined {
  const found = route.slicings
    .filter((slicing) => hasSliceCosts(spent, slicing) && isInformative(spent, slicing))
    .flatMap((slicing) => {
      const pure = isPure(spent) ? [leakageOf(route, slicing, costBySlices(spent.pure, slicing))] : [];
      if (!route.gaussian) return pure;
      const { bound, delta } = route.gaussian;
      const mixes = mixedOf(spent, slicing).filter((m) => isPositive(m.rho) || isPositive(m.pure));
      const gaussian = mixes.some((m) => isPositive(m.rho));
      return gaussian ? [...pure, Math.max(...mixes.map((m) => bound.epsilon(m, delta)))] : pure;
    });
  return found.length > 0 ? Math.min(...found) : undefined;
}

function mixedOf(spent: SpentCosts, slicing: Slicing): readonly MixedCost[] {
  const columns = columnsIn(slicing).length;
  if (columns > 1) {
    const largest = (privacyCost: PrivacyCost) => largestCost(costBySlices(privacyCost, slicing), columns);
    return [{ rho: largest(spent.zcdp), pure: largest(spent.pure), total: largest(zcdpOfAll(spent)) }];
  }
  const [e, rho, all] = costsBySlice(spent, slicing);
  return representativeValues([e.runs, rho.runs, all.runs]).map((v) => ({
    rho: costAt(rho, v),
    pure: costAt(e, v),
    total: costAt(all, v),
  }));
}

/** Largest equal pure cost that records of these values may still spend; rounded down, and checked itself. */
export function remainingPure(route: LeakageRoute, slicing: Slicing, values: readonly ValueSet[], spent?: JointCosts): Rational {
  const { pureCapacity } = route;
  const columns = values.length;
  const costs = spent ?? noJointCosts(columns);
  const common =
    compare(largestCost(costs, columns), pureCapacity) <= 0 ? subtract(pureCapacity, largestJointCost(costs, values)) : zero;
  if (!hasTieBound(route, slicing) || (values.every(coversAllValues) && isConstantIn(costs, columns))) return common;
  return maximum(
    common,
    memoized(route, keyOf(slicing, values, costs), () => remainingByTies(route, slicing, costs, values)),
  );
}

function remainingByTies(route: LeakageRoute, slicing: Slicing, costs: JointCosts, values: readonly ValueSet[]): Rational {
  const limit = toNumberDown(route.epsilon);
  const leakage = (x: number) =>
    leakageOf(route, slicing, addJointCosts(costs, jointCostOn(values, fromNumber(x)), values.length));
  // A remaining budget below this is treated as zero.
  if (leakage(limit * 2 ** -30) > limit) return zero;
  return largestBelow(leakage, limit, limit);
}

const memoized = memoize();
const keyOf = (slicing: Slicing, values: readonly ValueSet[], spent: JointCosts): string =>
  JSON.stringify([
    slicing,
    values.map(({ ranges, missing }) => [ranges.map(({ from, to }) => `${from}..${to}`), missing]),
    costBoxes(spent, values.length).map(({ box, cost }) => [sliceOfAll(slicing, box), toText(cost)]),
  ]);

/** Used share of the capacity of these values, by pure and by Gaussian noise; empty where it equals everybody's used share. */
export function sliceUsages(
  route: LeakageRoute,
  spent: SpentCosts,
  slicing: Slicing,
  selection: SliceSelection,
): readonly { readonly noise: PrivacyCost['noise']; readonly share: Rational }[] {
  const values = selectedValues(selection, slicing) ?? everyValueOf(slicing);
  const isSpent = hasSliceCosts(spent, slicing);
  const isTied = hasTieBound(route, slicing) && !values.every(coversAllValues);
  if ((!isSpent && !isTied) || !isInformative(spent, slicing, values)) return [];
  const most = isPure(spent) ? remainingPure(route, slicing, values) : zero;
  const left = isPositive(most) ? remainingPure(route, slicing, values, costBySlices(spent.pure, slicing)) : zero;
  const pure = isPositive(most) ? [{ noise: 'pure' as const, share: subtract(one, divide(left, most)) }] : [];
  if (!isSpent || !route.gaussian || !isPositive(route.gaussian.capacity)) return pure;
  const { capacity } = route.gaussian;
  const kept = admitsInZcdp(route, spent, slicing);
  return [...pure, { noise: 'zcdp' as const, share: kept ? divide(rhoOn(route, spent, slicing, values), capacity) : one }];
}

/** Remaining budget of records with these values until this share of their capacity is used. */
export function remainingBySlice(
  route: LeakageRoute,
  spent: SpentCosts,
  { slicing, values, target }: { readonly slicing: Slicing; readonly values: readonly ValueSet[]; readonly target: Rational },
): RemainingBudget {
  // If some value has spent more than zCDP allows, no value can be read in zCDP.
  const gaussian = admitsInZcdp(route, spent, slicing) ? route.gaussian : undefined;
  const most = isPure(spent) ? remainingPure(route, slicing, values) : zero;
  const left = isPositive(most) ? remainingPure(route, slicing, values, costBySlices(spent.pure, slicing)) : zero;
  return {
    pure: subtract(left, multiply(most, subtract(one, target))),
    ...(gaussian && { rho: subtract(multiply(gaussian.capacity, target), rhoOn(route, spent, slicing, values)) }),
    whole: { pure: most, ...(gaussian && { rho: gaussian.capacity }) },
  };
}

/** Share of these values' capacity that one request took, under each route that may have allotted it. */
export const reservedShares = (
  { routes }: { readonly routes: readonly LeakageRoute[] },
  { pure }: SpentCosts,
  selection: SliceSelection,
): readonly Rational[] =>
  routes.flatMap((route) =>
    route.slicings.flatMap((slicing) => {
      const values = selectedValues(selection, slicing);
      const most = values ? remainingPure(route, slicing, values) : zero;
      return isPositive(most) ? [divide(largestCost(costBySlices(pure, slicing), columnsIn(slicing).length), most)] : [];
    }),
  );

/** Largest number of parts with different costs. */
export const partLimit = 4096;
/** Number of parts of the data, by combinations of public columns, with different costs. */
export const combinedParts = ({ pure, zcdp }: SpentCosts): number =>
  Math.max(
    ...[pure, zcdp].map(({ perRecord }) => [...perRecord.keys()].filter((name) => isSlice(name) && isCombination(name)).length),
  );
const isCombination = (name: Slice): boolean => boxIn(name).box.length > 1;
