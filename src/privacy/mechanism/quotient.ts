import { type NoiseSum, type ScaledNoise, sumOfNumbers } from './noise-sum.js';

/**
 * Confidence interval of a quotient r of noisy numbers: all r for which top - r x bottom is within the half width of its noise
 * (Fieller's argument, quotient.proof.md).
 */
export interface QuotientInterval {
  /** `top / bottom`, clamped to `within`. */
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

/** Factors of the noisy numbers in top - r x bottom: a constant and a multiple of r. Signs do not matter. */
export type AffineFactors = readonly (readonly [constant: number, slope: number])[];
export const factorsAt = (factors: AffineFactors, r: number): readonly number[] =>
  factors.map(([constant, slope]) => constant + slope * r);
/** A sum over a count: 1, r. */
export const ofMean: AffineFactors = [
  [1, 0],
  [0, 1],
];
/** A part over the part and the rest: 1 - r, r. */
export const ofShare: AffineFactors = [
  [1, -1],
  [0, 1],
];

export interface QuotientQuery {
  readonly top: number;
  /** Above 0. */
  readonly bottom: number;
  readonly factors: AffineFactors;
  /** The public range of r. */
  readonly within: readonly [number, number];
  /**
   * Limits of the ranges at either end in which a value that the interval cannot miss on that side may be missed twice as often
   * on the other (proof note, 6). No such ranges when absent.
   */
  readonly ends?: readonly [number, number];
}
/** Of a mean about 0, the middle of its range. */
export const endsOfMean = [0, 0] as const;
/** Values of `ends` for a share with `own` of `all` noises in its part, for which coverage holds (proof note, 6). */
export const endsOfShare = (own: number, all: number): readonly [number, number] => [own / (2 * all), (all + own) / (2 * all)];

/** Intervals of quotients of numbers with these noises; `noises` lists the parts of each number. */
export function quotientIntervals(
  noises: readonly (readonly ScaledNoise[])[],
  alpha: number,
): (query: QuotientQuery) => QuotientInterval {
  const [sum, oneSided] = [sumOfNumbers(noises, alpha), sumOfNumbers(noises, 2 * alpha)];
  return ({ top, bottom, factors, within: [least, most], ends }) => {
    const value = Math.min(most, Math.max(least, top / bottom));
    const beyond =
      (by: NoiseSum, from: number) =>
      (r: number): number =>
        by.beyond(factorsAt(factors, r), Math.abs(from - r) * bottom);
    const plain = (limit: number) => farthest(value, limit, beyond(sum, value));
    if (!ends) return { value, low: plain(least), high: plain(most) };
    /** An r nearer to the limit than `near` is never missed on that side. */
    const end = (limit: number, upTo: number): number => {
      const reached = plain(limit);
      const near = farthest(limit, upTo, beyond(sum, limit));
      const further = limit < upTo ? Math.max : Math.min;
      if (further(reached, near) === reached) return reached;
      const alone = farthest(value, limit, beyond(oneSided, value));
      return further(alone, near) === alone ? near : alone;
    };
    return {
      value,
      low: ends[0] > least ? end(least, ends[0]) : plain(least),
      high: ends[1] < most ? end(most, ends[1]) : plain(most),
    };
  };
}

/**
 * End of the possible values between a possible one and the limit; unique if it exists (proof note, 3). `beyond` is positive for
 * impossible values. Safeguarded secants, with a bisection every fourth step.
 */
export function farthest(possible: number, limit: number, beyond: (r: number) => number): number {
  let [inside, below, outside, above] = [possible, beyond(possible), limit, beyond(limit)];
  if (!(above > 0)) return limit;
  if (!(below < 0)) return possible;
  const close = closeness * -below;
  for (let step = 1, kept = 0; step < mostSteps; step++) {
    const next = step % 4 === 0 ? (inside + outside) / 2 : inside + ((outside - inside) * below) / (below - above);
    if (next === inside || next === outside) return inside;
    const here = beyond(next);
    if (Math.abs(here) < close) return next;
    if (here > 0) {
      [outside, above] = [next, here];
      if (kept < 0) below /= 2;
      kept = -1;
    } else {
      [inside, below] = [next, here];
      if (kept > 0) above /= 2;
      kept = 1;
    }
  }
  return inside;
}
const closeness = 1e-9;
/** Limit on steps: every fourth halves the bracket, so this exceeds the precision of doubles by far. */
const mostSteps = 4 * 100;
