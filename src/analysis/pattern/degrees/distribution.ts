import { type AdditiveMechanism, additiveMechanism } from '../../../privacy/mechanism/additive.js';
import type { BudgetShare } from '../../../privacy/mechanism/budget-share.js';
import { isotonic } from '../../../privacy/mechanism/ordered/isotonic.js';
import type { Payment } from '../../../privacy/mechanism/payment.js';
import type { RecordClass } from '../../../privacy/mechanism/record-class.js';
import { type Sensitivity, sensitivityOn } from '../../../privacy/mechanism/sensitivity.js';

/**
 * Degree distribution of n people, n public: counts of d = 0 … last ties, the last bin holding everybody above. Three forms of noise,
 * all postprocessed (degrees.proof.md).
 */
export type DegreeForm = 'cumulative' | 'sequence' | 'histogram';

/** Sensitivity of each form to one record. */
export type DegreeSensitivity = Readonly<Record<DegreeForm, Sensitivity>>;

/** A tie moves its two ends by one bin each; in a directed relation only the one it starts at. */
export const tieDegreeSensitivity = (symmetric: boolean): DegreeSensitivity =>
  symmetric
    ? { histogram: { l1: 4n, l2squared: 8n }, sequence: { l1: 2n, l2squared: 2n }, cumulative: { l1: 2n, l2squared: 4n } }
    : { histogram: { l1: 2n, l2squared: 2n }, sequence: { l1: 1n, l2squared: 1n }, cumulative: { l1: 1n, l2squared: 1n } };

/** All ties of one person, after projection to at most `theta` ties each. */
export const personDegreeSensitivity = (theta: number): DegreeSensitivity => {
  // L2 is at most L1.
  const within = (l1: bigint): Sensitivity => ({ l1, l2squared: l1 * l1 });
  const most = BigInt(theta);
  return { histogram: within(4n * most), sequence: within(2n * most), cumulative: within(2n * most) };
};

export interface DegreeDistribution {
  readonly name: string;
  readonly form: DegreeForm;
  readonly last: number;
  readonly people: number;
  readonly sensitivity: DegreeSensitivity;
  /** Record class: the relation for ties, everybody for persons. */
  readonly record: RecordClass;
}

export function degreeNoise(
  { name, form, last, people, sensitivity, record }: DegreeDistribution,
  budgetShare: BudgetShare,
): AdditiveMechanism {
  // The last cumulative count is the number of people, which is public.
  const cells = { histogram: last + 1, cumulative: last, sequence: people }[form];
  return additiveMechanism({ name, cells, sensitivity: sensitivityOn([record], sensitivity[form]) }, budgetShare);
}

/** Exact numbers of a form before noise; counts[d] = people with d ties, and they must sum to the number of people. */
export function inForm(counts: readonly number[], form: DegreeForm): number[] {
  if (form === 'histogram') return [...counts];
  return form === 'sequence' ? sequenceOf(counts) : cumulate(counts).slice(0, -1);
}

/** Draws the noise before reading the counts. */
export function noisyDegrees(
  noise: AdditiveMechanism,
  form: DegreeForm,
  payment: Payment,
): (counts: readonly number[]) => number[] {
  const add = noise.prepare(payment);
  return (counts) => {
    const noisy = add(inForm(counts, form).map(BigInt)).map(Number);
    if (form === 'histogram') return noisy;
    if (form === 'sequence') return fromSequence(isotonic(noisy), counts.length);
    return fromCumulative(
      isotonic(noisy),
      counts.reduce((a, b) => a + b, 0),
    );
  };
}

export const cumulate = (counts: readonly number[]): number[] => {
  let total = 0;
  return counts.map((c) => {
    total += c;
    return total;
  });
};

/** Differences of an isotonic cumulative sequence, within 0 … people. */
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
  let [difference, sum] = [0, 0];
  for (let d = 0; d < Math.max(exact.length, noisy.length); d++) {
    difference += Math.abs((exact[d] ?? 0) - (noisy[d] ?? 0));
    sum += Math.abs((exact[d] ?? 0) + (noisy[d] ?? 0));
  }
  return sum === 0 ? 1 : 1 - difference / sum;
}
