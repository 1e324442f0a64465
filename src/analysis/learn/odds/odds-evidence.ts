import { type OddsInterval, oddsInterval } from './odds-interval.js';
import type { PairTable } from './pair-table.js';
import { mostValues, sharedStrength } from './shared-strength.js';

/** Estimate of a tie's odds ratio from pairs, and the assumption it rests on. */
export interface OddsEvidence extends OddsInterval {
  /** `pairs`: nothing but that pairs are independent draws. `shared`: that cells lend each other strength (shared-strength.proof.md). */
  readonly restsOn: 'pairs' | 'shared';
  /** The same without that assumption. */
  readonly assumptionFree: Pick<OddsInterval, 'oddsRatio' | 'low' | 'high'>;
}

export interface Noise {
  /** Most by which noise moved a count, at the confidence level. */
  readonly slack: number;
  readonly variance: number;
  /** The part of what may go wrong that the slack takes. */
  readonly part: number;
}
const none: Noise = { slack: 0, variance: 0, part: 0 };

/** An assumption must earn its place: it is made only where it lowers the upper end by more than this. */
const worthwhile = 1.25;

/**
 * The upper end is the lesser of two limits, each with its own part of what may go wrong. The model's is taken at a fifth of it: simulation over tables that
 * no prior of ours made shows that then no more than the whole of it goes wrong (shared-strength.test.ts).
 */
export function oddsEvidence(table: PairTable, confidence: number, noise: Noise = none): OddsEvidence {
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
