import { enumerationTooLarge, type JointDistribution } from '../../../privacy/dependence/model/joint.js';
import type { Model } from '../../../privacy/dependence/model/model.js';
import { type Calibration, type MechanismInput, maximumOf, provenAgainst } from '../compare/mechanism.js';

const largestNetwork = 2e8;

/** log of the largest ratio P(x_Q | x_i = s) / P(x_Q | x_i = t), both orders. */
export function influence(
  joint: Pick<JointDistribution, 'sizes' | 'strides' | 'probabilities'>,
  i: number,
  quilt: readonly number[],
): number {
  const keys = new Map<number, Float64Array>();
  const marginal = new Float64Array(joint.sizes[i]!);
  const value = (state: number, j: number) => Math.floor(state / joint.strides[j]!) % joint.sizes[j]!;
  joint.probabilities.forEach((p, state) => {
    let key = 0;
    for (const j of quilt) key = key * joint.sizes[j]! + value(state, j);
    const row = keys.get(key) ?? new Float64Array(joint.sizes[i]!);
    row[value(state, i)]! += p;
    marginal[value(state, i)]! += p;
    keys.set(key, row);
  });
  let most = 0;
  for (const row of keys.values()) {
    const given = [...row].flatMap((p, s) => (marginal[s]! > 0 ? [p / marginal[s]!] : []));
    const top = Math.max(...given);
    if (top > 0) most = Math.max(most, Math.log(top / Math.min(...given)));
  }
  return most;
}

/** Records that i still reaches when the quilt is taken out of the model's graph (i included, the quilt not). */
function nearSet(model: Model, i: number, quilt: ReadonlySet<number>): Set<number> {
  const near = new Set([i]);
  for (const record of near)
    for (const factor of model.factors)
      if (factor.records.includes(record)) for (const other of factor.records) if (!quilt.has(other)) near.add(other);
  return near;
}

/** The Markov quilt mechanism on any small network: every subset of the other records is tried as a quilt. See markov-quilt.proof.md. */
export function quiltOnNetwork(model: Model, joint: JointDistribution, epsilon: number): number {
  const n = model.ids.length;
  const steps = n * 2 ** (n - 1) * joint.probabilities.length;
  if (!(steps <= largestNetwork)) throw enumerationTooLarge('steps', steps, largestNetwork);
  const ofRecord = (i: number) => {
    const others = model.ids.flatMap((_, j) => (j === i ? [] : [j]));
    let best = nearSet(model, i, new Set()).size / epsilon;
    for (let mask = 1; mask < 2 ** others.length; mask++) {
      const quilt = others.filter((_, k) => (mask >> k) & 1);
      const near = nearSet(model, i, new Set(quilt)).size;
      if (near / epsilon >= best) continue;
      const e = influence(joint, i, quilt);
      if (e < epsilon) best = Math.min(best, near / (epsilon - e));
    }
    return best;
  };
  return maximumOf(model.ids.map((_, i) => ofRecord(i)));
}

export const markovQuilt = ({ model, joint, answers, epsilon }: MechanismInput): Calibration => ({
  name: 'markov-quilt',
  scale: quiltOnNetwork(model, joint, epsilon) * maximumOf(answers.sensitivities),
  ...provenAgainst('uninformed'),
  assumption: 'The adversary knows the distribution and no record; further releases use the same quilts.',
});
