import type { RecordClass } from './profile.js';

/**
 * What every release so far must have been like for a bound to hold. Costs of releases that meet the need are booked once more under `mark`; while that
 * total equals the one under `*`, everything ever spent met it.
 */
export interface Condition {
  readonly mark: RecordClass;
  readonly need: Need;
}

export type Need =
  /** Reads the rows that releases may use, and no relation. */
  | { readonly kind: 'rows' }
  /** Gaussian noise only on sums to which every record adds a part of its own (gaussian-sums.proof.md). */
  | { readonly kind: 'sums' };

export const onlySums: Condition = { mark: 'sums:all', need: { kind: 'sums' } };
