import type { JointDistribution } from '../../privacy/dependence/model/joint.js';
import { exactLoss, type LossOptions, lossWithoutNoise, spanOf } from './exact-loss.js';
import { leastRoot } from './least-root.js';
import type { StateAnswers } from './record-query.js';

/**
 * The least Laplace scale whose exact loss is at most epsilon, rounded up. Sound because the loss never
 * increases with the scale (note F2): larger noise is smaller noise plus independent noise, so post-processing.
 */
export function leastScale(joint: JointDistribution, answers: StateAnswers, epsilon: number, options: LossOptions): number {
  if (lossWithoutNoise(joint, answers, options) <= epsilon * (1 - 1e-9)) return 0;
  const possible = Array.from(joint.probabilities.keys()).filter((state) => joint.probabilities[state]! > 0);
  const excess = (scale: number) => {
    const { loss, slack } = exactLoss(joint, answers, scale, options);
    return Math.log((loss + slack) / epsilon);
  };
  // No two answers are farther from each other than the span, so this scale is safe even after rounding.
  return leastRoot(excess, (spanOf(answers, possible) / epsilon) * (1 + 1e-9));
}
