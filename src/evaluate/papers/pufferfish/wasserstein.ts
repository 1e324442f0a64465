import { enumerationTooLarge, type JointDistribution } from '../../../privacy/dependence/model/joint.js';
import { type Adversary, positions } from '../../audit/exact-loss.js';
import type { StateAnswers } from '../../audit/record-query.js';
import { type Calibration, type MechanismInput, maximumOverPairs, provenAgainst } from '../compare/mechanism.js';
import { infinityDistance, pointDistribution } from './wasserstein-distance.js';

const largestSweep = 3e7;

/**
 * Largest W-infinity distance (L1) between the answer's distributions for two possible values of one
 * record; for the informed adversary also over every known subset and its values. See wasserstein.proof.md.
 */
export function answerDistance(joint: JointDistribution, answers: StateAnswers, adversary: Adversary): number {
  const weights = joint.exactWeights();
  const possible = weights.flatMap((w, state) => (w > 0n ? [state] : []));
  const known = adversary === 'informed' ? joint.sizes.map((m) => m + 1) : joint.sizes.map(() => 1);
  const situations = known.reduce((product, m) => product * m, 1) * joint.sizes.length;
  const steps = situations * possible.length;
  if (!(steps <= largestSweep)) throw enumerationTooLarge('steps', steps, largestSweep);
  const point = (state: number) => [...answers.points.subarray(state * answers.width, (state + 1) * answers.width)];
  const value = (state: number, j: number) => Math.floor(state / joint.strides[j]!) % joint.sizes[j]!;

  let furthest = 0;
  for (const knowledge of positions(known)) {
    // Position known[j]-1 is "not known"; with nothing known it is the only one.
    const fixed = knowledge.flatMap((v, j) => (v < known[j]! - 1 ? [j] : []));
    const consistent = possible.filter((state) => fixed.every((j) => value(state, j) === knowledge[j]));
    if (consistent.length < 2) continue;
    for (let i = 0; i < joint.sizes.length; i++) {
      if (fixed.includes(i)) continue;
      const distributions = Array.from({ length: joint.sizes[i]! }, (_, a) =>
        pointDistribution(consistent.filter((state) => value(state, i) === a).map((state) => [point(state), weights[state]!])),
      ).filter(({ points }) => points.length > 0);
      furthest = Math.max(furthest, maximumOverPairs(distributions, infinityDistance));
    }
  }
  return furthest;
}

/** The Wasserstein mechanism of Song et al. 2017, against either adversary. */
export const wasserstein = ({ joint, answers, epsilon }: MechanismInput, adversary: Adversary): Calibration => ({
  name: adversary === 'informed' ? 'wasserstein-informed' : 'wasserstein',
  scale: answerDistance(joint, answers, adversary) / epsilon,
  ...provenAgainst(adversary),
  composes: false,
  assumption: 'The declared distribution is the true one, and nothing else about these records is ever released.',
});
