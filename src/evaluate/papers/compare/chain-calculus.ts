import { toNumberDown } from '../../../base/exact/rational.js';
import type { Adversary } from '../../../policy/policy.js';
import { chainLeakage } from '../../../privacy/dependence/chain/chain-leakage.js';
import { informedTransitions, uninformedTransitions } from '../../../privacy/dependence/chain/chain-transitions.js';
import { stationaryDistribution } from '../../../privacy/dependence/chain/stationary.js';
import { largestBelow } from '../../../privacy/dependence/largest-below.js';
import type { MarkovChain } from '../pufferfish/markov-quilt.js';

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
