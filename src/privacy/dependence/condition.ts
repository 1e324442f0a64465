import { levelsMark, type Mark, sumsMark } from '../mechanism/record-class.js';
import type { Resolution } from './model/resolution.js';

/**
 * Property that all releases so far must have for a bound to be valid. Costs with the property are also booked under `mark`;
 * while that total equals the one under `*`, all have it.
 */
export interface ReleaseCondition {
  readonly mark: Mark;
  readonly need: ConditionNeed;
}

export type ConditionNeed =
  /** Reads the rows that releases may use, and no relation. */
  | { readonly kind: 'rows' }
  /** Gaussian noise only on sums to which every record adds a part of its own (gaussian/sums.proof.md). */
  | { readonly kind: 'sums' }
  /** Reads answers only by the levels that the tables of the bound distinguish, or coarser. */
  | { readonly kind: 'levels'; readonly resolution: Resolution };

export const onlySums: ReleaseCondition = { mark: sumsMark, need: { kind: 'sums' } };

/**
 * Condition that a release reads whole levels. The mark includes the declared values, so costs under another domain of a column
 * are another total.
 */
export const wholeLevels = (resolution: Resolution): ReleaseCondition => ({
  mark: levelsMark(resolution.digest.slice(0, 32)),
  need: { kind: 'levels', resolution },
});
