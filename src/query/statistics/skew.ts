import { scaledNormalTail } from '../../privacy/mechanism/law-width.js';

/** Third moment of a mean over samples, and its standard deviation from noise. */
export interface Skew {
  readonly third: number;
  readonly strays: number;
}
export const none: Skew = { third: 0, strays: 0 };

const normal = 1.959964;

/** Variance from noisy sums, and by how much it may be too small (skew.proof.md, 1). */
export function spreadOf(told: number, errors: readonly number[]): { readonly variance: number; readonly short: number } {
  const strays = Math.hypot(...errors);
  if (strays === 0) return { variance: Math.max(0, told), short: 0 };
  // Mean of the positive part of a normal variable around `estimate`, since no variance is negative.
  const at = told / strays;
  const bell = Math.exp((-at * at) / 2);
  const above = at < 0 ? bell * scaledNormalTail(-at) : 1 - bell * scaledNormalTail(at);
  const variance = told * above + (strays * bell) / Math.sqrt(2 * Math.PI);
  return { variance: Math.max(0, variance), short: Math.min(strays, Math.max(0, variance)) };
}

/** Additional deviations that hold 95 % where the variance may be too small by `short`: Student's distribution, to first order. */
export const widened = (short: number, variance: number): number =>
  variance > 0 ? Math.min(1, ((normal ** 3 + normal) / 8) * (short / variance) ** 2) : 0;

interface Told {
  readonly strays: number;
}
/** Third moment about the mean, from sums about the middle; clipped to what the variance and the bounds allow. */
export function skewOf(
  { cube, strays: ofCubes }: Told & { readonly cube: number },
  { mean, strays: ofSums }: Told & { readonly mean: number },
  { variance, strays: ofSquares }: Told & { readonly variance: number },
  [least, most]: readonly [number, number],
): Skew {
  const third = cube - 3 * mean * variance - mean ** 3;
  return {
    third: Math.min(most, Math.max(least, third)),
    strays: Math.hypot(ofCubes, 3 * mean * ofSquares, 3 * (mean ** 2 - variance) * ofSums),
  };
}

/** Third moment shrunk by its share of noise. */
const likely = ({ third, strays }: Skew): number => (third === 0 ? 0 : third * (third ** 2 / (third ** 2 + strays ** 2)));

/**
 * Sampling deviation of a combination's variance that does not go along with the combination itself (skew.proof.md, 6):
 * 0 for one mean, all of it for a difference of two equally skew means. `by`: factor of each mean.
 */
export function unseen(means: readonly { readonly by: number; readonly variance: number; readonly skew: Skew }[]): number {
  const there = means.filter(({ variance }) => variance > 0);
  const [all, seen, hidden] = there.reduce(
    ([v, k, h], { by, variance, skew }) => {
      const third = likely(skew);
      return [v + by ** 2 * variance, k + by ** 3 * third, h + (by ** 4 * third ** 2) / variance];
    },
    [0, 0, 0],
  ) as [number, number, number];
  return all > 0 ? Math.sqrt(Math.max(0, hidden - seen ** 2 / all)) : 0;
}

/** Shifts of the ends of a mean's interval for skewness (skew.proof.md, 2). */
export function shifts({ third, strays }: Skew, variance: number): { readonly low: number; readonly high: number } {
  if (third === 0 || !(variance > 0)) return { low: 0, high: 0 };
  const by = (2 * normal ** 2 + 1) / (6 * variance);
  const sure = Math.abs(likely({ third, strays }));
  const away = by * sure;
  // An end moves inwards only by the part of the third moment that exceeds its noise.
  const nearer = Math.min(by * Math.max(0, Math.min(sure, Math.abs(third) - strays)), 0.6 * normal * Math.sqrt(variance));
  return third > 0 ? { low: nearer, high: away } : { low: -away, high: -nearer };
}
