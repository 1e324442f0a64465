import { add, equal, isZero, maximum, type Rational, zero } from '../../base/exact/rational.js';
import { type Amounts, amountAt, inOrder, joinRuns, type Range, type Run, type Slices, tidied, type Values } from './slices.js';

/**
 * Cost for each combination of values of several public columns, nested by column; a number if no column is left. Canonical like
 * the costs of one column. `columns` is their number.
 */
export type Costs = Rational | CostsBy;
export interface CostsBy extends Slices<Costs> {}

/** Range of values of each column: NaN for records without one, undefined for all records. */
export type Box = readonly (Range | undefined)[];
export interface Part {
  readonly box: Box;
  readonly cost: Rational;
}

const by = (costs: Costs): CostsBy => costs as CostsBy;

function amountsOf(columns: number, join: (a: Rational, b: Rational) => Rational): Amounts<Costs> {
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

export const noCosts = (columns: number): Costs => amountsOf(columns, add).zero;
export const areEqual = (a: Costs, b: Costs, columns: number): boolean => amountsOf(columns, add).equal(a, b);
export const addCosts = (a: Costs, b: Costs, columns: number): Costs => amountsOf(columns, add).join(a, b);

/** This cost where every column has one of these values, zero elsewhere. */
export function costOnAll(values: readonly Values[], cost: Rational): Costs {
  const [first, ...others] = values;
  if (!first) return cost;
  const inner = costOnAll(others, cost);
  const nothing = amountsOf(others.length, add);
  return {
    runs: tidied(
      inOrder(first.ranges).map((range) => ({ ...range, cost: inner })),
      nothing,
    ),
    missing: first.missing ? inner : nothing.zero,
  };
}

/** The largest cost where every column has one of these values. */
export function largestOnAll(costs: Costs, values: readonly Values[]): Rational {
  const [first, ...others] = values;
  if (!first) return costs as Rational;
  let most = first.missing ? largestOnAll(by(costs).missing, others) : zero;
  for (const { from, to, cost } of by(costs).runs)
    if (first.ranges.some((range) => range.from <= to && from <= range.to)) most = maximum(most, largestOnAll(cost, others));
  return most;
}

/** Largest cost at each value of one column, over the values of the others. */
export function largestBy(costs: Costs, column: number, columns: number): Slices {
  const most = (inner: Costs): Costs => (columns === 1 ? inner : column === 0 ? largestOf(inner, columns - 1) : inner);
  if (column === 0) {
    const { runs, missing } = by(costs);
    return {
      runs: tidied(
        runs.map((run) => ({ ...run, cost: most(run.cost) as Rational })),
        numbers,
      ),
      missing: most(missing) as Rational,
    };
  }
  const each = [...by(costs).runs.map(({ cost }) => cost), by(costs).missing].map((inner) =>
    largestBy(inner, column - 1, columns - 1),
  );
  return joined(each, amountsOf(1, maximum) as unknown as Amounts<Slices>);
}
const numbers = amountsOf(0, add) as Amounts<Rational>;

export function largestOf(costs: Costs, columns: number): Rational {
  if (columns === 0) return costs as Rational;
  return by(costs).runs.reduce(
    (most, { cost }) => maximum(most, largestOf(cost, columns - 1)),
    largestOf(by(costs).missing, columns - 1),
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
export function costAtAll(costs: Costs, place: readonly number[]): Rational {
  let found: Costs | undefined = costs;
  for (const value of place) {
    found = amountAt(by(found), value);
    if (found === undefined) return zero;
  }
  return found as Rational;
}

/** Costs as disjoint boxes, the same list for equal costs. */
export function partsOf(costs: Costs, columns: number): readonly Part[] {
  if (columns === 0) return isZero(costs as Rational) ? [] : [{ box: [], cost: costs as Rational }];
  const { runs, missing } = by(costs);
  const inner = amountsOf(columns - 1, add);
  const under = (value: Range | undefined, rest: Costs): Part[] =>
    partsOf(rest, columns - 1).map(({ box, cost }) => ({ box: [value, ...box], cost }));
  const [only, ...others] = runs;
  const all = only && others.length === 0 && only.from === Number.NEGATIVE_INFINITY && only.to === Number.POSITIVE_INFINITY;
  if (all && inner.equal(only.cost, missing)) return under(undefined, missing);
  return [...runs.flatMap(({ from, to, cost }) => under({ from, to }, cost)), ...under(none, missing)];
}
const none: Range = { from: Number.NaN, to: Number.NaN };
const everything: Range = { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY };

/** Sum of boxes that may overlap. */
export function costsOf(parts: readonly Part[], columns: number): Costs {
  if (columns === 0) return parts.reduce((sum, { cost }) => add(sum, cost), zero);
  const amounts = amountsOf(columns - 1, add);
  const [missing, groups]: [Part[], Map<string, { readonly range: Range; readonly parts: Part[] }>] = [[], new Map()];
  const put = (range: Range, part: Part) => {
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
    .map(({ range, parts }): Run<Costs> => ({ ...range, cost: costsOf(parts, columns - 1) }))
    .sort((a, b) => a.from - b.from || 0);
  const apart = runs.every(({ from }, k) => k === 0 || runs[k - 1]!.to < from);
  const sum = apart
    ? tidied(runs, amounts)
    : runs.reduce<readonly Run<Costs>[]>((t, run) => joinRuns(t, tidied([run], amounts), amounts), []);
  return { runs: sum, missing: costsOf(missing, columns - 1) };
}

/** True if the cost is the same for all records. */
export const isLevelIn = (costs: Costs, columns: number): boolean => {
  const parts = partsOf(costs, columns);
  return parts.length === 0 || (parts.length === 1 && parts[0]!.box.every((value) => value === undefined));
};
