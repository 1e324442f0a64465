import { type OddsInterval, oddsInterval } from './odds-interval.js';
import type { PairTable } from './pair-table.js';
import { mostValues, sharedStrength } from './shared-strength.js';

/** Estimate of a tie's odds ratio from pairs, and the assumption it rests on. */
export interface OddsEvidence extends OddsInterval {
  /** `pairs`: only independence of pairs. `shared`: a hierarchical model of the cells, too (shared-strength.proof.md). */
  readonly restsOn: 'pairs' | 'shared';
  /** The same estimate without that assumption. */
  readonly assumptionFree: Pick<OddsInterval, 'oddsRatio' | 'low' | 'high'>;
}

export interface CountNoise {
  /** Most by which noise moved a count, at the confidence level. */
  readonly slack: number;
  readonly variance: number;
  /** Part of alpha spent on the noise bound. */
  readonly part: number;
}
const noCountNoise: CountNoise = { slack: 0, variance: 0, part: 0 };

/** Least reduction of the upper end for which the assumption is made. */
const worthwhile = 1.25;

/**
 * The upper end is the smaller of two limits, each with its own part of alpha. The model's is computed at a fifth of its part:
 * simulation on tables from no prior of ours shows that coverage then holds (shared-strength.deep.test.ts).
 */
export function oddsEvidence(table: PairTable, confidence: number, noise: CountNoise = noCountNoise): OddsEvidence {
  const wrong = 1 - confidence;
  const free = { ...oddsInterval(table, 1 - wrong * (1 - noise.part), noise.slack), confidence };
  const { oddsRatio, low, high } = free;
  const assumptionFree = { oddsRatio, low, high };
  const shared = table.values.length > mostValues ? undefined : sharedStrength(table, 1 - wrong / 5, noise.variance);
  if (!shared || high <= worthwhile * shared.high) return { ...free, restsOn: 'pairs', assumptionFree };
  return {
    ...free,
    oddsRatio: shared.middle,
    low: Math.min(low, shared.middle),
    high: shared.high,
    restsOn: 'shared',
    assumptionFree,
  };
}

export const assumed: Record<OddsEvidence['restsOn'], string> = {
  pairs: 'Assumes only that the pairs are independent draws.',
  shared:
    'Assumes that cells lend each other strength: a pull towards agreement and one along a scale are common to all values, and each two values differ from that by exceptions of one size, which is learned. A single pair of values that behaves like no other and is hardly seen would escape it.',
};
