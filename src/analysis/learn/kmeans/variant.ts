import type { Additive } from '../../../privacy/mechanism/additive.js';
import type { Paid } from '../../../privacy/mechanism/paid.js';
import type { Box, Points } from './points.js';

/** What is known before the data is read; every variant makes its noise from this alone. */
export interface Setting {
  readonly box: Box;
  readonly clusters: number;
  /** Public number of records, and most rows one of them has. */
  readonly rows: number;
  readonly each: number;
  /** Records may be left out as a whole: there may be fewer rows than records. */
  readonly leftOut?: boolean;
  /** Pairs of values that must not be told apart, where noise may be fitted to them: nobody is tied, and one row is one record. */
  readonly near?: Near;
}

/** How far apart pairs lie in each column, in positions of its grid. */
export interface Near {
  readonly digest: string;
  readonly reach: readonly number[];
  /** Whether a row that is left out for want of a coordinate is a pair with one that is not. */
  readonly leads: boolean;
}

export interface Variant {
  readonly name: 'grid' | 'soft' | 'halving' | 'lloyd';
  readonly why: string;
  readonly mechanisms: readonly Additive[];
  /** What it gives back is the only thing that sees data. */
  readonly ready: (paid: Paid) => (points: Points) => Clustered;
}

/** Centres are in units of the half box, so that all coordinates lie in [-1, 1]. */
export interface Clustered {
  readonly centres: readonly (readonly number[])[];
  readonly counts?: readonly number[];
}
