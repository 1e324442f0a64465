import { toNumberDown } from '../../../base/exact/rational.js';
import type { Adversary } from '../../../policy/policy.js';
import { chainLeakage } from '../../../privacy/dependence/chain/chain-leakage.js';
import { informedTransitions, uninformedTransitions } from '../../../privacy/dependence/chain/chain-transitions.js';
import { stationaryDistribution } from '../../../privacy/dependence/chain/stationary.js';
import { largestBelow } from '../../../privacy/dependence/largest-below.js';
import { leakageCalculator } from '../../../privacy/dependence/leakage.js';
import type { Model } from '../../../privacy/dependence/model/model.js';
import { leastRoot } from '../../audit/least-root.js';
import type { MarkovChain } from '../pufferfish/markov-quilt.js';
import { type Calibration, maximumOf, provenAgainst, total } from './mechanism.js';

/** The dependence calculus: the least Laplace scale whose costs (sensitivity over scale, record by record) leak at most epsilon. */
export function leakageScale(model: Model, sensitivities: readonly number[], epsilon: number, adversary: Adversary): Calibration {
  const declared = leakageCalculator(model, adversary);
  const costs = new Float64Array(sensitivities.length);
  const excess = (scale: number) => {
    for (const [j, sensitivity] of sensitivities.entries()) costs[j] = sensitivity / scale;
    return Math.log(declared.leakage(costs).worst.leakage / epsilon);
  };
  const whole = total(sensitivities);
  return calculus(adversary, whole === 0 ? 0 : leastRoot(excess, (whole / epsilon) * (1 + 1e-9), 1e-9));
}

/** Promise of the calculus, independent of how its noise is calibrated. */
const calculus = (adversary: Adversary, scale: number): Calibration => ({
  name: adversary === 'informed' ? 'calculus-informed' : 'calculus',
  scale,
  ...provenAgainst(adversary),
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
  { chain, model }: { readonly chain: MarkovChain; readonly model: Model },
  sensitivities: readonly number[],
  epsilon: number,
  adversary: Adversary,
): Calibration {
  const byChain = chainScale(chain, maximumOf(sensitivities), epsilon, adversary);
  if (chain.length > mostSteps) return calculus(adversary, byChain);
  const byGraph = leakageScale(model, sensitivities, epsilon, adversary);
  return { ...byGraph, scale: Math.min(byGraph.scale, byChain) };
}
const mostSteps = 400;

/**
 * The calculus along a chain of any length, with the accounting of a declared
 * sequence: the least Laplace scale for answers with this sensitivity to every step.
 */
export function chainScale(
  { transition, initial, length }: MarkovChain,
  sensitivity: number,
  epsilon: number,
  adversary: Adversary,
): number {
  const stationary = initial === 'stationary' ? stationaryDistribution(transition) : undefined;
  const chainModel =
    adversary === 'informed'
      ? informedTransitions([transition])
      : uninformedTransitions(transition, stationary ? { stationary } : 'free');
  const chain = { first: 1, last: length, transitions: [chainModel], gaps: false, window: 1 };
  const leakage = (cost: number) => chainLeakage(chain, [{ from: 1, to: length, cost }]);
  return sensitivity / toNumberDown(largestBelow(leakage, epsilon, epsilon));
}
