import { toNumber } from '../../../base/exact/rational.js';
import { directions } from '../pattern-ladder.js';
import { maxLadderSteps } from './noise-figures.js';
import { approximateGuarantee, comparisonOffer, type PatternStrategy } from './strategy.js';

/**
 * Elastic sensitivity (Johnson et al. 2018) as a comparator: at distance k a join of g goals on columns of maximum frequency f moves
 * by at most g-1 joins each multiplying by f + k, summed over which goal changed.
 */
export const elasticSensitivity: PatternStrategy<'elastic'> = ({ analysis: a, budgetShare, delta, degree }) => {
  if (!delta) return [];
  const epsilon = toNumber(budgetShare.amount);
  const goals = a.pattern.goals.length;
  const beta = epsilon / (2 * Math.log(2 / toNumber(delta)));
  const change = directions(a);
  let stability = (_k: number): number => change;
  for (let joined = 1; joined < goals; joined++) {
    const before = stability;
    stability = (k) => (degree + k) ** joined * change + (degree + k) * before(k) + before(k) * change;
  }
  let best = 0;
  if (goals / beta > maxLadderSteps) best = Number.POSITIVE_INFINITY;
  else for (let k = 0; k <= Math.ceil(goals / beta); k++) best = Math.max(best, Math.exp(-beta * k) * stability(k));
  const scale = (2 * best) / (epsilon * Number(a.divisor));
  const note = 'comparison only: ties cannot be accounted for';
  return [comparisonOffer({ mechanism: 'elastic', scale, expectedError: scale, note }, approximateGuarantee)];
};
