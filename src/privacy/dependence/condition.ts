import { levelsMark, type Mark, sumsMark } from '../mechanism/record-class.js';
import type { Resolution } from './model/resolution.js';

/**
 * What every release so far must have been like for a bound to hold. Costs of releases that meet the need are booked once more under `mark`; while that
 * total equals the one under `*`, everything ever spent met it.
 */
export interface Condition {
  readonly mark: Mark;
  readonly need: Need;
}

export type Need =
  /** Reads the rows that releases may use, and no relation. */
  | { readonly kind: 'rows' }
  /** Gaussian noise only on sums to which every record adds a part of its own (gaussian/sums.proof.md). */
  | { readonly kind: 'sums' }
  /** Reads answers by the levels that the tables of the bound hold apart, or coarser. */
  | { readonly kind: 'levels'; readonly resolution: Resolution };

export const onlySums: Condition = { mark: sumsMark, need: { kind: 'sums' } };

/** The mark holds the declared values too: a total spent under another domain of a column is another total. */
export const wholeLevels = (resolution: Resolution): Condition => ({
  mark: levelsMark(resolution.digest.slice(0, 32)),
  need: { kind: 'levels', resolution },
});
