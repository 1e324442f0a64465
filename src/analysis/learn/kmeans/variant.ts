import type { AdditiveMechanism } from '../../../privacy/mechanism/additive.js';
import type { Payment } from '../../../privacy/mechanism/payment.js';
import type { PointBox, Points } from './points.js';

/** Public facts known before the data is read; every variant derives its noise from these alone. */
export interface KmeansSetting {
  readonly box: PointBox;
  readonly clusters: number;
  /** Public number of records, and most rows one of them has. */
  readonly records: number;
  readonly rowsPerRecord: number;
  /** Records may be left out as a whole: there may be fewer rows than records. */
  readonly leftOut?: boolean;
  /** Protected pairs of values, where noise may be fitted to them: no ties, and one row is one record. */
  readonly pairs?: PairDistances | undefined;
}

/** Largest distance of a pair in each column, in positions of its grid. */
export interface PairDistances {
  readonly digest: string;
  readonly largest: readonly number[];
  /** True if a row that is left out for a missing coordinate forms a pair with one that is not. */
  readonly withMissing: boolean;
}

export interface KmeansVariant {
  readonly name: 'grid' | 'soft' | 'halving' | 'lloyd';
  readonly why: string;
  readonly mechanisms: readonly AdditiveMechanism[];
  /** The returned function is the only one that sees data. */
  readonly prepare: (payment: Payment) => (points: Points) => Clustering;
}

/** Centres are in units of the half box, so that all coordinates lie in [-1, 1]. */
export interface Clustering {
  readonly centres: readonly (readonly number[])[];
  readonly counts?: readonly number[];
}

/** The candidate of the lowest score; the first of equals. */
export const leastBy = <T>(candidates: readonly T[], score: (candidate: T) => number): T =>
  candidates.reduce((a, b) => (score(b) < score(a) ? b : a));
