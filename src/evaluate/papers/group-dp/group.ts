import { conditionalDistribution, type JointDistribution } from '../../../privacy/dependence/model/joint.js';
import { asPublished, type Calibration, type MechanismInput, maximumOf, provenAgainst, total } from '../compare/mechanism.js';

/** Ordinary Laplace noise for the sensitivity of one record, as if records were independent. */
export const laplaceFor = (sensitivity: number, epsilon: number): Calibration => ({
  name: 'laplace',
  scale: sensitivity / epsilon,
  ...asPublished,
  composes: true,
  assumption: 'The records are independent of one another.',
});
export const independentLaplace = ({ answers, epsilon }: MechanismInput): Calibration =>
  laplaceFor(maximumOf(answers.sensitivities), epsilon);

/** Noise for a whole dependent component at once (Chen et al. 2014, with k read as the component). See group.proof.md. */
export const groupFor = (
  components: readonly (readonly number[])[],
  sensitivities: readonly number[],
  epsilon: number,
  assumption = 'Records in different components are independent.',
): Calibration => ({
  name: 'group',
  scale: maximumOf(components.map((c) => total(c.map((j) => sensitivities[j]!)))) / epsilon,
  ...provenAgainst('informed'),
  assumption,
});
export const componentGroup = ({ joint, answers, epsilon }: MechanismInput): Calibration =>
  groupFor(joint.components, answers.sensitivities, epsilon, 'Records in different components of the model are independent.');

/** The published reading: k counts the records pairwise dependent on one record, times the largest sensitivity. */
export const pairwiseGroup = ({ joint, answers, epsilon }: MechanismInput): Calibration => ({
  name: 'group-pairwise',
  scale:
    (maximumOf(pairwiseDependent(joint).map((row) => row.filter(Boolean).length)) * maximumOf(answers.sensitivities)) / epsilon,
  ...asPublished,
  composes: true,
  assumption: 'Dependence shows between pairs of records (xor does not).',
});

/** Below this a difference of conditional probabilities is rounding. */
const rounding = 1e-12;

/** Pairwise dependent records, judged from each two-record marginal; the diagonal counts. */
export function pairwiseDependent(joint: JointDistribution): boolean[][] {
  return joint.sizes.map((_, i) =>
    joint.sizes.map((_, j) => {
      if (i === j) return true;
      const rows = conditionalDistribution(joint, i, j).filter((row) => row.some((p) => p > 0));
      return rows.some((row) => row.some((p, v) => Math.abs(p - rows[0]![v]!) > rounding));
    }),
  );
}
