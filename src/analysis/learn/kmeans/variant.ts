import type { Additive } from '../../../privacy/mechanism/additive.js';
import type { Paid } from '../../../privacy/mechanism/paid.js';
import type { Box, Points } from './points.js';

/** Public facts known before the data is read; every variant derives its noise from these alone. */
export interface Setting {
  readonly box: Box;
  readonly clusters: number;
  /** Public number of records, and most rows one of them has. */
  readonly rows: number;
  readonly each: number;
  /** Records may be left out as a whole: there may be fewer rows than records. */
  readonly leftOut?: boolean;
  /** Protected pairs of values, where noise may be fitted to them: no ties, and one row is one record. */
  readonly near?: Near;
}

/** Largest distance of a pair in each column, in positions of its grid. */
export interface Near {
  readonly digest: string;
  readonly reach: readonly number[];
  /** True if a row that is left out for a missing coordinate forms a pair with one that is not. */
  readonly leads: boolean;
}

export interface Variant {
  readonly name: 'grid' | 'soft' | 'halving' | 'lloyd';
  readonly why: string;
  readonly mechanisms: readonly Additive[];
  /** The returned function is the only one that sees data. */
  readonly ready: (paid: Paid) => (points: Points) => Clustered;
}

/** Centres are in units of the half box, so that all coordinates lie in [-1, 1]. */
export interface Clustered {
  readonly centres: readonly (readonly number[])[];
  readonly counts?: readonly number[];
}
