import { lowerLimit, upperLimit } from './confidence.js';

/**
 * With near certainty, the least delta that numbers from two worlds leave possible at epsilon: one half of them chooses a threshold, the other judges it.
 */
export function deltaAt(epsilon: number, first: readonly number[], second: readonly number[]): number {
  const above = (list: readonly number[], t: number, half: number) => list.filter((x, k) => k % 2 === half && x >= t).length;
  const thresholds = [...new Set(first)].sort((x, y) => x - y);
  const step = Math.max(1, Math.floor(thresholds.length / 60));
  const gain = (t: number) => above(first, t, 0) - Math.exp(epsilon) * above(second, t, 0);
  const best = thresholds.filter((_, k) => k % step === 0).reduce((x, y) => (gain(y) > gain(x) ? y : x));
  const n = Math.floor(first.length / 2);
  return lowerLimit(above(first, best, 1), n, 1e-6) - Math.exp(epsilon) * upperLimit(above(second, best, 1), n, 1e-6);
}
