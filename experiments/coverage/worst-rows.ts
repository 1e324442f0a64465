import type { SelectionLaw } from '../../src/privacy/mechanism/law.js';
import type { SelectedMeasure } from '../../src/query/count/measure.js';
import type { Asked, Exact } from './world.js';

/**
 * The rows for which a median errs by more than its rank error as often as for any (src/query/kinds/quantile.proof.md, 3): a heap in the middle that is just as
 * large, and all others at the ends, so that every other candidate is that far off.
 */
export function worstRows({ bound, laws }: Asked, n: number): Exact {
  const { candidates } = bound.measures[0] as SelectedMeasure;
  const [table] = bound.finish([{ noise: laws[0] as SelectionLaw<number>, chosen: [0] }]);
  const least = Math.floor(2 * table!.rows[0]!.rankError!) + 1;
  const heap = least + ((n - least) % 2);
  const counts = candidates.map(() => 0n);
  counts[0] = BigInt((n - heap) / 2);
  counts[counts.length >> 1] = BigInt(heap);
  counts[counts.length - 1] = BigInt((n - heap) / 2);
  return [counts];
}
