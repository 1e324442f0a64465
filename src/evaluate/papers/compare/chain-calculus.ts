import { toNumberDown } from '../../../base/exact/rational.js';
import type { Adversary } from '../../../policy/policy.js';
import { informedLaw, uninformedLaw } from '../../../privacy/dependence/chain/chain-law.js';
import { chainLeakage } from '../../../privacy/dependence/chain/chain-leakage.js';
import { stationaryOf } from '../../../privacy/dependence/chain/stationary.js';
import { largestBelow } from '../../../privacy/dependence/largest-below.js';
import type { Chain } from '../pufferfish/markov-quilt.js';

/**
 * The calculus along a chain of any length, with the accounting of a declared
 * sequence: the least Laplace scale for answers with this sensitivity to every step.
 */
export function chainScale(
  { transition, initial, length }: Chain,
  effect: number,
  epsilon: number,
  adversary: Adversary,
): number {
  const stationary = initial === 'stationary' ? stationaryOf(transition) : undefined;
  const law =
    adversary === 'informed' ? informedLaw([transition]) : uninformedLaw(transition, stationary ? { stationary } : 'free');
  const chain = { first: 1, last: length, laws: [law], gaps: false, window: 1 };
  const leakage = (cost: number) => chainLeakage(chain, [{ from: 1, to: length, cost }]);
  return effect / toNumberDown(largestBelow(leakage, epsilon, epsilon));
}
