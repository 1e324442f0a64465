import { divide, type Rational, rational } from '../../exact/rational.js';
import { type Bits, cryptoBits } from '../../noise/bits.js';
import { laplaceSampler } from '../../noise/discrete-laplace.js';
import { isotonic } from './isotonic.js';

/**
 * The degree distribution of n people, n public: how many have d ties, d = 0 … last, where the last bin holds everybody above. Three ways to noise it, all
 * finished by public arithmetic; see degrees.proof.md.
 */
export type DegreeForm = 'cumulative' | 'sequence' | 'histogram';

/** What one record can move: `step` people each move by one bin (a tie: its two ends, or one for a directed relation). */
export interface DegreeEffect {
  readonly histogram: number;
  readonly sequence: number;
  readonly cumulative: number;
}
export const tieEffect = (symmetric: boolean): DegreeEffect =>
  symmetric ? { histogram: 4, sequence: 2, cumulative: 2 } : { histogram: 2, sequence: 1, cumulative: 1 };
/** All ties of one person, after projection to at most `theta` ties each. */
export const personEffect = (theta: number): DegreeEffect => ({
  histogram: 4 * theta + 2,
  sequence: 2 * theta,
  cumulative: 2 * theta,
});

/** counts[d] = people with d ties; the whole must be everybody. */
export function noisyDegrees(
  counts: readonly number[],
  form: DegreeForm,
  effect: DegreeEffect,
  epsilon: Rational,
  bits: Bits = cryptoBits,
): number[] {
  const people = counts.reduce((a, b) => a + b, 0);
  const draw = laplaceSampler(divide(rational(effect[form]), epsilon), bits);
  const noised = (x: number) => x + Number(draw());
  if (form === 'histogram') return counts.map(noised);
  if (form === 'sequence') return fromSequence(isotonic(sequenceOf(counts).map(noised)), counts.length);
  // The last cumulative count is everybody, which is public.
  return fromCumulative(isotonic(cumulate(counts).slice(0, -1).map(noised)), people);
}

export const cumulate = (counts: readonly number[]): number[] => {
  let total = 0;
  return counts.map((c) => {
    total += c;
    return total;
  });
};

/** Differences of a cumulative sequence brought into order, within 0 … people. */
export function fromCumulative(ordered: readonly number[], people: number): number[] {
  const clipped = [...ordered.map((x) => Math.round(Math.min(people, Math.max(0, x)))), people];
  return clipped.map((x, d) => x - (d === 0 ? 0 : clipped[d - 1]!));
}

const sequenceOf = (counts: readonly number[]): number[] => counts.flatMap((c, d) => new Array<number>(c).fill(d));
function fromSequence(ordered: readonly number[], bins: number): number[] {
  const counts = new Array<number>(bins).fill(0);
  for (const x of ordered) counts[Math.round(Math.min(bins - 1, Math.max(0, x)))]!++;
  return counts;
}

/** The accuracy of Liu et al. 2016: 1 - |C - C'| / |C + C'|, both in L1; 1 when both are empty. */
export function accuracy(exact: readonly number[], noisy: readonly number[]): number {
  let [apart, together] = [0, 0];
  for (let d = 0; d < Math.max(exact.length, noisy.length); d++) {
    apart += Math.abs((exact[d] ?? 0) - (noisy[d] ?? 0));
    together += Math.abs((exact[d] ?? 0) + (noisy[d] ?? 0));
  }
  return together === 0 ? 1 : 1 - apart / together;
}
