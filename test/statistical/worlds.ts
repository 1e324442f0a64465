import { valuesAt } from '../../src/evaluate/audit/record-query.js';
import type { JointDistribution } from '../../src/privacy/dependence/model/joint.js';
import { cryptoBits } from '../../src/privacy/noise/bits.js';

/** Draws whole data sets from a joint distribution, given one record's value: the data as an adversary imagines it. */
export function worldGiven(joint: JointDistribution, record: number, value: number): () => readonly number[] {
  const states: number[] = [];
  const sums: number[] = [];
  let total = 0;
  joint.probabilities.forEach((p, state) => {
    if (p === 0 || Math.floor(state / joint.strides[record]!) % joint.sizes[record]! !== value) return;
    total += p;
    states.push(state);
    sums.push(total);
  });
  if (states.length === 0) throw new RangeError('the value is impossible');
  const datasets = states.map((state) => valuesAt(joint, state));
  return () => {
    const u = (cryptoBits.below(2 ** 53) / 2 ** 53) * total;
    const k = sums.findIndex((s) => u < s);
    return datasets[k < 0 ? datasets.length - 1 : k]!;
  };
}
