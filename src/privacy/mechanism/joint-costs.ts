import { add, equal, isZero, maximum, type Rational, zero } from '../../base/exact/rational.js';
import {
  type Amounts,
  amountAt,
  joinRuns,
  normaliseRuns,
  type Range,
  type Run,
  type Slices,
  sortRanges,
  type ValueSet,
} from './slices.js';

/**
 * Cost for each combination of values of several public columns, nested by column; a number if no column is left. Canonical like
 * the costs of one column. `columns` is their number.
 */
export type JointCosts = Rational | JointCostsBy;
export interface JointCostsBy extends Slices<JointCosts> {}

/** Range of values of each column: NaN for records without one, undefined for all records. */
export type ValueBox = readonly (Range | undefined)[];
export interface CostBox {
  readonly box: ValueBox;
  readonly cost: Rational;
}

const by = (costs: JointCosts): JointCostsBy => costs as JointCostsBy;

function amountsOf(columns: number, join: (a: Rational, b: Rational) => Rational): Amounts<JointCosts> {
  if (columns === 0)
    return {
      zero,
      isZero: (x) => isZero(x as Rational),
      equal: (a, b) => equal(a as Rational, b as Rational),
      join: (a, b) => join(a as Rational, b as Rational),
    };
  const inner = amountsOf(columns - 1, join);
  return {
    zero: { runs: [], missing: inner.zero },
    isZero: (x) => by(x).runs.length === 0 && inner.isZero(by(x).missing),
    equal: (a, b) =>
      inner.equal(by(a).missing, by(b).missing) &&
      by(a).runs.length === by(b).runs.length &&
      by(a).runs.every((run, k) => {
        const other = by(b).runs[k]!;
        return run.from === other.from && run.to === other.to && inner.equal(run.cost, other.cost);
      }),
    join: (a, b) => ({
      runs: joinRuns(by(a).runs, by(b).runs, inner),
      missing: inner.join(by(a).missing, by(b).missing),
    }),
  };
}

export const noJointCosts = (columns: number): JointCosts => amountsOf(columns, add).zero;
export const areEqualCosts = (a: JointCosts, b: JointCosts, columns: number): boolean => amountsOf(columns, add).equal(a, b);
export const addJointCosts = (a: JointCosts, b: JointCosts, columns: number): JointCosts => amountsOf(columns, add).join(a, b);

/** This cost where every column has one of these values, zero elsewhere. */
export function jointCostOn(values: readonly ValueSet[], cost: Rational): JointCosts {
  const [first, ...others] = values;
  if (!first) return cost;
  const inner = jointCostOn(others, cost);
  const nothing = amountsOf(others.length, add);
  return {
    runs: normaliseRuns(
      sortRanges(first.ranges).map((range) => ({ ...range, cost: inner })),
      nothing,
    ),
    missing: first.missing ? inner : nothing.zero,
  };
}

/** The largest cost where every column has one of these values. */
export function largestJointCost(costs: JointCosts, values: readonly ValueSet[]): Rational {
  const [first, ...others] = values;
  if (!first) return costs as Rational;
  let most = first.missing ? largestJointCost(by(costs).missing, others) : zero;
  for (const { from, to, cost } of by(costs).runs)
    if (first.ranges.some((range) => range.from <= to && from <= range.to)) most = maximum(most, largestJointCost(cost, others));
  return most;
}

/** Largest cost at each value of one column, over the values of the others. */
export function largestByColumn(costs: JointCosts, column: number, columns: number): Slices {
  if (column === 0) {
    const { runs, missing } = by(costs);
    return {
      runs: normaliseRuns(
        runs.map((run) => ({ ...run, cost: largestCost(run.cost, columns - 1) })),
        numbers,
      ),
      missing: largestCost(missing, columns - 1),
    };
  }
  const each = [...by(costs).runs.map(({ cost }) => cost), by(costs).missing].map((inner) =>
    largestByColumn(inner, column - 1, columns - 1),
  );
  return joined(each, amountsOf(1, maximum) as unknown as Amounts<Slices>);
}
const numbers = amountsOf(0, add) as Amounts<Rational>;

export function largestCost(costs: JointCosts, columns: number): Rational {
  if (columns === 0) return costs as Rational;
  return by(costs).runs.reduce(
    (most, { cost }) => maximum(most, largestCost(cost, columns - 1)),
    largestCost(by(costs).missing, columns - 1),
  );
}

/** Two by two, so that each is joined as often as there are halvings. */
function joined<T>(list: readonly T[], amounts: Amounts<T>): T {
  if (list.length === 0) return amounts.zero;
  if (list.length === 1) return list[0]!;
  const half = list.length >> 1;
  return amounts.join(joined(list.slice(0, half), amounts), joined(list.slice(half), amounts));
}

/** Cost of a record with these values; NaN for columns without one. */
export function jointCostAt(costs: JointCosts, place: readonly number[]): Rational {
  let found: JointCosts | undefined = costs;
  for (const value of place) {
    found = amountAt(by(found), value);
    if (found === undefined) return zero;
  }
  return found as Rational;
}

/** Costs as disjoint boxes, the same list for equal costs. */
export function costBoxes(costs: JointCosts, columns: number): readonly CostBox[] {
  if (columns === 0) return isZero(costs as Rational) ? [] : [{ box: [], cost: costs as Rational }];
  const { runs, missing } = by(costs);
  const inner = amountsOf(columns - 1, add);
  const under = (value: Range | undefined, rest: JointCosts): CostBox[] =>
    costBoxes(rest, columns - 1).map(({ box, cost }) => ({ box: [value, ...box], cost }));
  const [only, ...others] = runs;
  const all = only && others.length === 0 && only.from === Number.NEGATIVE_INFINITY && only.to === Number.POSITIVE_INFINITY;
  if (all && inner.equal(only.cost, missing)) return under(undefined, missing);
  return [...runs.flatMap(({ from, to, cost }) => under({ from, to }, cost)), ...under(none, missing)];
}
const none: Range = { from: Number.NaN, to: Number.NaN };
const everything: Range = { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY };

/** Sum of boxes that may overlap. */
export function jointCostsOf(parts: readonly CostBox[], columns: number): JointCosts {
  if (columns === 0) return parts.reduce((sum, { cost }) => add(sum, cost), zero);
  const amounts = amountsOf(columns - 1, add);
  const [missing, groups]: [CostBox[], Map<string, { readonly range: Range; readonly parts: CostBox[] }>] = [[], new Map()];
  const put = (range: Range, part: CostBox) => {
    const key = `${range.from}..${range.to}`;
    const group = groups.get(key) ?? { range, parts: [] };
    groups.set(key, group);
    group.parts.push(part);
  };
  for (const { box, cost } of parts) {
    const [first, ...rest] = box;
    const inner = { box: rest, cost };
    if (first === undefined) put(everything, inner);
    if (first !== undefined && !Number.isNaN(first.from)) put(first, inner);
    else missing.push(inner);
  }
  const runs = [...groups.values()]
    .map(({ range, parts }): Run<JointCosts> => ({ ...range, cost: jointCostsOf(parts, columns - 1) }))
    .sort((a, b) => a.from - b.from || 0);
  const disjoint = runs.every(({ from }, k) => k === 0 || runs[k - 1]!.to < from);
  const sum = disjoint
    ? normaliseRuns(runs, amounts)
    : runs.reduce<readonly Run<JointCosts>[]>((t, run) => joinRuns(t, normaliseRuns([run], amounts), amounts), []);
  return { runs: sum, missing: jointCostsOf(missing, columns - 1) };
}

export const isConstantIn = (costs: JointCosts, columns: number): boolean => {
  const parts = costBoxes(costs, columns);
  return parts.length === 0 || (parts.length === 1 && parts[0]!.box.every((value) => value === undefined));
};
