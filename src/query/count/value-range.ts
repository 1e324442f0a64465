import { Fault } from '../../base/errors.js';
import { declaredNumber, declaredWeight } from '../../policy/domain.js';
import { gridOf, unitsAt } from '../../policy/grid.js';
import type { Policy } from '../../policy/policy.js';
import { absolute, larger, smaller } from './bounds.js';
import { type RowValue, weightColumn } from './measure.js';

/** Closed interval of integers. */
export interface Interval {
  readonly low: bigint;
  readonly high: bigint;
}
const largestIn = ({ low, high }: Interval): bigint => larger(absolute(low), absolute(high));
/** Largest size of a number in the interval or 0, and their largest difference. */
export const sizeOf = ({ low, high }: Interval): { readonly most: bigint; readonly range: bigint } => ({
  most: largestIn({ low, high }),
  range: larger(high, 0n) - smaller(low, 0n),
});

/** Every per-row value, and every step on the way to it, fits 62 bits, so 2^64 rows fit the 127 bits of HUGEINT: sums cannot overflow. */
const largestValue = 2n ** 61n;

export const weightInterval = (policy: Policy, value: RowValue): Interval => {
  const name = weightColumn(value);
  if (name === undefined) return { low: 1n, high: 1n };
  const grid = gridOf(declaredWeight(policy, name));
  return { low: unitsAt(grid, 0), high: unitsAt(grid, grid.last) };
};

/** Range of the number factor of a value, before weighting. */
export function numberInterval(policy: Policy, value: RowValue): Interval {
  if (value.kind !== 'number') return { low: 1n, high: 1n };
  const grid = gridOf(declaredNumber(policy, value.column));
  const low = unitsAt(grid, 0) - value.origin;
  const high = unitsAt(grid, grid.last) - value.origin;
  if (value.power === 1) return { low: low - value.shift, high: high - value.shift };
  const least = low <= 0n && high >= 0n ? 0n : smaller(absolute(low), absolute(high)) ** 2n;
  return { low: least - value.shift, high: largestIn({ low, high }) ** 2n - value.shift };
}

/** Range of a row's contribution over all rows. */
export function valueInterval(policy: Policy, value: RowValue): Interval {
  const [a, b] = [numberInterval(policy, value), weightInterval(policy, value)];
  const ends = [a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high];
  const interval = { low: ends.reduce(smaller), high: ends.reduce(larger) };
  // The factors are checked as well: a weight that is always 0 makes the product small, however large the number is.
  if ([a, b, interval].some((own) => largestIn(own) > largestValue))
    throw new Fault(
      'QUERY_UNSUPPORTED',
      'The declared grid is too fine for this query: a single row could exceed 61 bits.',
      'Declare a coarser step or narrower bounds for the column.',
    );
  return interval;
}
