import { scaledNormalTail } from '../../mechanism/law-width.js';

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

/** By how much the ends of an interval of a mean move for the skewness of what it is a mean of (skew.proof.md, 2). */
export function shifts({ third, strays }: Skew, variance: number): { readonly low: number; readonly high: number } {
  if (third === 0 || !(variance > 0)) return { low: 0, high: 0 };
  const by = (2 * normal ** 2 + 1) / (6 * variance);
  // As much of it as is no noise; and where an end comes nearer, only what noise leaves for certain.
  const likely = Math.abs(third) * (third ** 2 / (third ** 2 + strays ** 2));
  const away = by * likely;
  const nearer = Math.min(by * Math.max(0, Math.min(likely, Math.abs(third) - strays)), 0.6 * normal * Math.sqrt(variance));
  return third > 0 ? { low: nearer, high: away } : { low: -away, high: -nearer };
}
