import { scaledNormalTail } from '../../privacy/mechanism/law-width.js';

/** Third moment of a mean over samples, and how far noise may have moved it. */
export interface Skew {
  readonly third: number;
  readonly strays: number;
}
export const none: Skew = { third: 0, strays: 0 };

const normal = 1.959964;

/** A variance as told by noisy sums, and by how much it may be too small (skew.proof.md, 1). */
export function spreadOf(told: number, errors: readonly number[]): { readonly variance: number; readonly short: number } {
  const strays = Math.hypot(...errors);
  if (strays === 0) return { variance: Math.max(0, told), short: 0 };
  // What is left of a normal variable about `told` above nought: no variance is below.
  const at = told / strays;
  const bell = Math.exp((-at * at) / 2);
  const above = at < 0 ? bell * scaledNormalTail(-at) : 1 - bell * scaledNormalTail(at);
  const variance = told * above + (strays * bell) / Math.sqrt(2 * Math.PI);
  return { variance: Math.max(0, variance), short: Math.min(strays, Math.max(0, variance)) };
}

/** How many more deviations hold 95 % where the variance they are of may be too small by so much: Student's law, to first order. */
export const widened = (short: number, variance: number): number =>
  variance > 0 ? Math.min(1, ((normal ** 3 + normal) / 8) * (short / variance) ** 2) : 0;

interface Told {
  readonly strays: number;
}
/** The third moment about the mean, from sums about the middle; no more than the variance and the bounds leave possible. */
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

/** As much of a third moment as is no noise. */
const likely = ({ third, strays }: Skew): number => (third === 0 ? 0 : third * (third ** 2 / (third ** 2 + strays ** 2)));

/**
 * How far the variance of a sum of means strays from sample to sample beside what the sum itself tells of it, for numbers as skew as these (skew.proof.md, 6): nothing for one mean, all of it for
 * a difference of two that are skew alike. `by`: the factor of each.
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

/** By how much the ends of an interval of a mean move for the skewness of what it is a mean of (skew.proof.md, 2). */
export function shifts({ third, strays }: Skew, variance: number): { readonly low: number; readonly high: number } {
  if (third === 0 || !(variance > 0)) return { low: 0, high: 0 };
  const by = (2 * normal ** 2 + 1) / (6 * variance);
  const sure = Math.abs(likely({ third, strays }));
  const away = by * sure;
  // Where an end comes nearer, only what noise leaves for certain.
  const nearer = Math.min(by * Math.max(0, Math.min(sure, Math.abs(third) - strays)), 0.6 * normal * Math.sqrt(variance));
  return third > 0 ? { low: nearer, high: away } : { low: -away, high: -nearer };
}
