import { maximum, type Rational, zero } from '../../base/exact/rational.js';
import { firstWhere } from '../../base/exact/search.js';

/** Whole numbers from one to another, both of them in it. */
export interface Range {
  readonly from: number;
  /** Infinity where it has no end. */
  readonly to: number;
}
export interface Run<T = Rational> extends Range {
  readonly cost: T;
}

/**
 * Cost for each value of a public column, and for records without a value. In canonical form: sorted runs, no zeros, adjacent
 * equal costs merged; so equal costs have equal text.
 */
export interface Slices<T = Rational> {
  readonly runs: readonly Run<T>[];
  /** Of the records that have no value. */
  readonly missing: T;
}
/** Arithmetic of costs: numbers, or costs by values of further columns (joint-costs.ts). `join` adds them or takes the larger. */
export interface Amounts<T> {
  readonly zero: T;
  isZero(x: T): boolean;
  equal(a: T, b: T): boolean;
  join(a: T, b: T): T;
}
export interface ValueSet {
  readonly ranges: readonly Range[];
  readonly missing: boolean;
}

export const allValues: ValueSet = { ranges: [{ from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY }], missing: true };

/** The larger cost at every value. */
export const largestOn = ({ runs, missing }: Slices, values: ValueSet = allValues): Rational => {
  let most = values.missing ? missing : zero;
  for (const { from, to, cost } of runs)
    if (values.ranges.some((range) => range.from <= to && from <= range.to)) most = maximum(most, cost);
  return most;
};

/** Cost of a value; NaN for records without one. */
export const costAt = (slices: Slices, value: number): Rational => amountAt(slices, value) ?? zero;
export function amountAt<T>({ runs, missing }: Slices<T>, value: number): T | undefined {
  if (Number.isNaN(value)) return missing;
  const run = runs[firstWhere(runs.length, (k) => runs[k]!.to >= value)];
  return run !== undefined && run.from <= value ? run.cost : undefined;
}

export const coversAllValues = ({ ranges, missing }: ValueSet): boolean => {
  const [only, ...others] = sortRanges(ranges);
  return missing && others.length === 0 && only?.from === Number.NEGATIVE_INFINITY && only.to === Number.POSITIVE_INFINITY;
};
export const unionOfValues = (a: ValueSet, b: ValueSet): ValueSet => ({
  ranges: sortRanges([...a.ranges, ...b.ranges]),
  missing: a.missing || b.missing,
});
export const commonValues = (a: ValueSet, b: ValueSet): ValueSet => ({
  ranges: sortRanges(
    a.ranges.flatMap((x) => b.ranges.map((y) => ({ from: Math.max(x.from, y.from), to: Math.min(x.to, y.to) }))),
  ),
  missing: a.missing && b.missing,
});

/** In order, joined where they meet. */
export function sortRanges(ranges: readonly Range[]): readonly Range[] {
  const joined: Range[] = [];
  for (const range of [...ranges].filter(({ from, to }) => from <= to).sort((a, b) => a.from - b.from)) {
    const last = joined.at(-1);
    if (last === undefined || range.from > last.to + 1) joined.push(range);
    else if (range.to > last.to) joined[joined.length - 1] = { from: last.from, to: range.to };
  }
  return joined;
}

/** Canonical form of sorted, disjoint runs: adjacent equal costs merged, zeros removed. */
export function normaliseRuns<T>(runs: Iterable<Run<T>>, { isZero, equal }: Amounts<T>): readonly Run<T>[] {
  const out: Run<T>[] = [];
  for (const run of runs) {
    if (run.from > run.to || isZero(run.cost)) continue;
    const last = out.at(-1);
    if (last !== undefined && run.from === last.to + 1 && equal(run.cost, last.cost))
      out[out.length - 1] = { ...last, to: run.to };
    else out.push(run);
  }
  return out;
}

export function joinRuns<T>(a: readonly Run<T>[], b: readonly Run<T>[], amounts: Amounts<T>): readonly Run<T>[] {
  if (a.length === 0) return b;
  if (b.length === 0) return a;
  return normaliseRuns(across(a, b, amounts), amounts);
}

function* across<T>(a: readonly Run<T>[], b: readonly Run<T>[], { zero, join }: Amounts<T>): Iterable<Run<T>> {
  const never: Run<T> = { from: Number.POSITIVE_INFINITY, to: Number.POSITIVE_INFINITY, cost: zero };
  let [i, j] = [0, 0];
  let from = Math.min(a[0]!.from, b[0]!.from);
  while (i < a.length || j < b.length) {
    const [x, y] = [a[i] ?? never, b[j] ?? never];
    // Each is either on at `from`, or still to come.
    const [onX, onY] = [x.from <= from, y.from <= from];
    const to = Math.min(onX ? x.to : x.from - 1, onY ? y.to : y.from - 1);
    yield { from, to, cost: join(onX ? x.cost : zero, onY ? y.cost : zero) };
    if (onX && x.to === to) i++;
    if (onY && y.to === to) j++;
    from = to + 1;
  }
}
