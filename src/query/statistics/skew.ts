import { scaledNormalTail } from '../../privacy/mechanism/half-width.js';
import { normalQuantile } from '../answer.js';

/** Third moment of a mean over samples, and its standard deviation from noise. */
export interface Skew {
  readonly third: number;
  readonly deviation: number;
}
export const noSkew: Skew = { third: 0, deviation: 0 };

/** Variance from noisy sums, and by how much it may be too small (skew.proof.md, 1). */
export function varianceEstimate(
  estimate: number,
  errors: readonly number[],
): { readonly variance: number; readonly short: number } {
  const deviation = Math.hypot(...errors);
  if (deviation === 0) return { variance: Math.max(0, estimate), short: 0 };
  // Mean of the positive part of a normal variable around `estimate`, since no variance is negative.
  const at = estimate / deviation;
  const bell = Math.exp((-at * at) / 2);
  const above = at < 0 ? bell * scaledNormalTail(-at) : 1 - bell * scaledNormalTail(at);
  const variance = estimate * above + (deviation * bell) / Math.sqrt(2 * Math.PI);
  return { variance: Math.max(0, variance), short: Math.min(deviation, Math.max(0, variance)) };
}

/** Additional deviations that hold 95 % where the variance may be too small by `short`: Student's distribution, to first order. */
export const extraDeviations = (short: number, variance: number): number =>
  variance > 0 ? Math.min(1, ((normalQuantile ** 3 + normalQuantile) / 8) * (short / variance) ** 2) : 0;

interface NoisyMoment {
  readonly deviation: number;
}
/** Third moment about the mean, from sums about the middle; clipped to what the variance and the bounds allow. */
export function skewOf(
  { cube, deviation: ofCubes }: NoisyMoment & { readonly cube: number },
  { mean, deviation: ofSums }: NoisyMoment & { readonly mean: number },
  { variance, deviation: ofSquares }: NoisyMoment & { readonly variance: number },
  [least, most]: readonly [number, number],
): Skew {
  const third = cube - 3 * mean * variance - mean ** 3;
  return {
    third: Math.min(most, Math.max(least, third)),
    deviation: Math.hypot(ofCubes, 3 * mean * ofSquares, 3 * (mean ** 2 - variance) * ofSums),
  };
}

/** Third moment shrunk by its share of noise. */
const shrunkThirdMoment = ({ third, deviation }: Skew): number =>
  third === 0 ? 0 : third * (third ** 2 / (third ** 2 + deviation ** 2));

/**
 * Sampling deviation of a combination's variance that does not go along with the combination itself (skew.proof.md, 6):
 * 0 for one mean, all of it for a difference of two equally skew means. `by`: factor of each mean.
 */
export function unseenVariation(
  means: readonly { readonly by: number; readonly variance: number; readonly skew: Skew }[],
): number {
  const there = means.filter(({ variance }) => variance > 0);
  const [all, seen, hidden] = there.reduce(
    ([v, k, h], { by, variance, skew }) => {
      const third = shrunkThirdMoment(skew);
      return [v + by ** 2 * variance, k + by ** 3 * third, h + (by ** 4 * third ** 2) / variance];
    },
    [0, 0, 0],
  ) as [number, number, number];
  return all > 0 ? Math.sqrt(Math.max(0, hidden - seen ** 2 / all)) : 0;
}

/** Shifts of the ends of a mean's interval for skewness (skew.proof.md, 2). */
export function skewShifts({ third, deviation }: Skew, variance: number): { readonly low: number; readonly high: number } {
  if (third === 0 || !(variance > 0)) return { low: 0, high: 0 };
  const by = (2 * normalQuantile ** 2 + 1) / (6 * variance);
  const sure = Math.abs(shrunkThirdMoment({ third, deviation }));
  const away = by * sure;
  // An end moves inwards only by the part of the third moment that exceeds its noise.
  const nearer = Math.min(
    by * Math.max(0, Math.min(sure, Math.abs(third) - deviation)),
    0.6 * normalQuantile * Math.sqrt(variance),
  );
  return third > 0 ? { low: nearer, high: away } : { low: -away, high: -nearer };
}
