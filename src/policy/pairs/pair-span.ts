import type { ColumnPairs } from './pairs.js';

/** Largest distance in positions between two values of a number that are a declared pair. */
export function largestPairSpan(pairs: ColumnPairs | undefined, last: number): number {
  if (pairs === undefined) return last;
  if (pairs.form === 'same') return 0;
  if (pairs.form === 'steps') return Math.min(pairs.steps, last);
  if (pairs.form !== 'ranges') throw new RangeError('codes have no distance');
  const starts = [0, ...pairs.starts, last + 1];
  return starts.slice(1).reduce((most, end, k) => Math.max(most, end - 1 - starts[k]!), 0);
}
