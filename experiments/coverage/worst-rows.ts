import type { SelectionDistribution } from '../../src/privacy/mechanism/distribution.js';
import type { SelectionMeasure } from '../../src/query/count/measure.js';
import type { BoundWithNoise, Exact } from './world.js';

/**
 * Rows for which a median exceeds its rank error as often as possible (src/query/kinds/quantile.proof.md, 3):
 * a group of that size in the middle and all others at the ends, so that every other candidate has that rank error.
 */
export function worstRows({ bound, laws }: BoundWithNoise, n: number): Exact {
  const { candidates } = bound.measures[0] as SelectionMeasure;
  const [table] = bound.finish([{ noise: laws[0] as SelectionDistribution<number>, chosen: [0] }]);
  const least = Math.floor(2 * table!.rows[0]!.rankError!) + 1;
  const heap = least + ((n - least) % 2);
  const counts = candidates.map(() => 0n);
  counts[0] = BigInt((n - heap) / 2);
  counts[counts.length >> 1] = BigInt(heap);
  counts[counts.length - 1] = BigInt((n - heap) / 2);
  return [counts];
}
