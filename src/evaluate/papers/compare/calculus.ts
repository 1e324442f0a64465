import type { Adversary } from '../../../policy/policy.js';
import { ties } from '../../../privacy/dependence/leakage.js';
import type { Model } from '../../../privacy/dependence/model/model.js';
import { leastRoot } from '../../audit/least-root.js';
import type { Chain } from '../pufferfish/markov-quilt.js';
import { chainScale } from './chain-calculus.js';
import { type Calibration, largest, total } from './mechanism.js';

/** The dependence calculus: the least Laplace scale whose costs (sensitivity over scale, record by record) leak at most epsilon. */
export function leakageScale(model: Model, effects: readonly number[], epsilon: number, adversary: Adversary): Calibration {
  const declared = ties(model, adversary);
  const profile = new Float64Array(effects.length);
  const excess = (scale: number) => {
    for (const [j, effect] of effects.entries()) profile[j] = effect / scale;
    return Math.log(declared.leakage(profile).worst.leakage / epsilon);
  };
  const whole = total(effects);
  return {
    ...calculus(adversary),
    scale: whole === 0 ? 0 : leastRoot(excess, (whole / epsilon) * (1 + 1e-9), 1e-9),
  };
}

/** Promise of the calculus, independent of how its noise is calibrated. */
const calculus = (adversary: Adversary): Omit<Calibration, 'scale'> => ({
  name: adversary === 'informed' ? 'calculus-informed' : 'calculus',
  certified: true,
  against: adversary,
  composes: true,
  assumption:
    adversary === 'informed'
      ? 'No dependence is missing from the declared graph, and no odds ratio is larger than declared.'
      : 'No dependence is missing from the declared graph, its tables are the true ones, and the adversary knows no record.',
});

/**
 * Along a chain the smaller bound of the graph of its steps and the chain as
 * a whole: both are proven. Graphs of many steps take long, and are left out.
 */
export function chainCalibration(
  chain: Chain,
  model: Model,
  effects: readonly number[],
  epsilon: number,
  adversary: Adversary,
): Calibration {
  const byChain = chainScale(chain, largest(effects), epsilon, adversary);
  if (chain.length > mostSteps) return { ...calculus(adversary), scale: byChain };
  const byGraph = leakageScale(model, effects, epsilon, adversary);
  return { ...byGraph, scale: Math.min(byGraph.scale, byChain) };
}
const mostSteps = 400;
