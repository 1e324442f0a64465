import { type Part, sumOfNumbers } from './law-sum.js';

/**
 * A quotient r of noisy numbers: at the true r, top - r x bottom is a sum of their noises with factors that are known for each r. So r is possible when
 * top - r x bottom is within the half width of that sum (Fieller's argument), and the possible r hold the true one with the stated probability.
 * See ratio.proof.md.
 */
export interface Quotient {
  /** At `top / bottom`, pulled into `within`. */
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

/** What each noisy number is multiplied by in top - r x bottom: a constant and so much for each unit of r. Signs do not matter. */
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

export interface Asked {
  readonly top: number;
  /** Above 0. */
  readonly bottom: number;
  readonly factors: AffineFactors;
  /** The public range of r. */
  readonly within: readonly [number, number];
}

/** How quotients of numbers with these noises are told; `noises` has the parts of one number after the other. */
export function quotients(noises: readonly (readonly Part[])[], alpha: number): (asked: Asked) => Quotient {
  const sum = sumOfNumbers(noises, alpha);
  return ({ top, bottom, factors, within: [least, most] }) => {
    const value = Math.min(most, Math.max(least, top / bottom));
    const beyond = (r: number): number => sum.beyond(factorsAt(factors, r), Math.abs(value - r) * bottom);
    return { value, low: farthest(value, least, beyond), high: farthest(value, most, beyond) };
  };
}

/**
 * The end of the possible values on the way from a possible one to the limit: there is one end at most (proof note, 3). `beyond` is above 0 where a
 * value is not possible. Secants that stay in the bracket and come from both sides (a side kept twice counts half); every fourth step halves it.
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
/** Every fourth halves the bracket: far more than doubles can tell apart. */
const mostSteps = 4 * 100;
