import type { JointDistribution } from '../../../privacy/dependence/model/joint.js';
import { asPublished, type Calibration, type MechanismInput, maximumOf, total } from '../compare/mechanism.js';

/** Pearson correlation of two records under the joint; 0 where one of them is constant. */
export function pearson(joint: JointDistribution, i: number, j: number): number {
  const value = (state: number, r: number) => joint.values[r]![Math.floor(state / joint.strides[r]!) % joint.sizes[r]!]!;
  const mean = (f: (state: number) => number) => joint.probabilities.reduce((sum, p, state) => sum + p * f(state), 0);
  const [a, b] = [mean((s) => value(s, i)), mean((s) => value(s, j))];
  const covariance = mean((s) => (value(s, i) - a) * (value(s, j) - b));
  const spread = Math.sqrt(mean((s) => (value(s, i) - a) ** 2) * mean((s) => (value(s, j) - b) ** 2));
  return spread > 0 ? covariance / spread : 0;
}

/** Correlated sensitivity of Zhu et al. 2015: max_i sum_j |theta_ij| dQ_j with theta the Pearson correlation. */
export function correlatedSensitivity(joint: JointDistribution, sensitivities: readonly number[]): number {
  return maximumOf(
    sensitivities.map((own, i) => total(sensitivities.map((dQ, j) => (i === j ? own : Math.abs(pearson(joint, i, j)) * dQ)))),
  );
}

export const zhu = ({ joint, answers, epsilon }: MechanismInput): Calibration => ({
  name: 'zhu',
  scale: correlatedSensitivity(joint, answers.sensitivities) / epsilon,
  ...asPublished,
  assumption: 'Dependence is linear and pairwise, and correlations carry the whole effect.',
});
