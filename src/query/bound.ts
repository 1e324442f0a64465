import type { Policy } from '../policy/policy.js';
import type { AdditiveDistribution, NoiseDistribution } from '../privacy/mechanism/distribution.js';
import type { Measure } from './count/measure.js';
import type { Query } from './query.js';
import type { View } from './view/view.js';

/** Queries bound to a policy: the integers to be noised, and the step from noisy integers to answers. Made by query/bind.ts. */
export interface BoundBatch {
  readonly queries: readonly Query[];
  /** Shared by the queries, each once. */
  readonly measures: readonly Measure[];
  /** View that each query counts over, where that is not the data's own rows. */
  readonly views: readonly (View | undefined)[];
  /** Declarations for the rows of each query; parallel to `queries`. */
  readonly policies: readonly Policy[];
  /** Adds the sampling error to finished tables, where a design is declared. */
  withSampling(tables: readonly AnswerTable[]): readonly AnswerTable[];
  /** One table per query, in order; `noisy` is parallel to `measures`. Public arithmetic only, so safe on post-processed values. */
  finish(noisy: readonly NoisyMeasure[]): readonly AnswerTable[];
  /** Applies the requested arrangement to finished tables: rows chosen, ordered or cut, and days shown as dates. */
  arrange(tables: readonly AnswerTable[]): readonly AnswerTable[];
  /** Expected errors, known before any data is read; parallel to `queries`. */
  expectedErrors(noise: readonly NoiseDistribution<number>[]): readonly ExpectedError[];
}

export type NoisyMeasure = NoisyCounts | NoisySelection;
export interface NoisyCounts {
  readonly noise: AdditiveDistribution<number>;
  /** One integer per cell of the measure. */
  readonly values: readonly bigint[];
}
export interface NoisySelection {
  readonly noise: NoiseDistribution<number>;
  /** Index of the chosen candidate, per group. */
  readonly chosen: readonly number[];
}

export interface AnswerTable {
  readonly name: string;
  readonly query: Query;
  /** Names of the keys, then the name of the value. */
  readonly columns: readonly string[];
  readonly rows: readonly AnswerRow[];
  /** Derivation of standardError, low and high from the noise. */
  readonly error: ErrorKind;
  /** Warning where the noise dominates the answer. */
  readonly mostlyNoise?: string;
  /** Note where an answer rests on more than its numbers: corrections, and assumptions of its error. */
  readonly note?: string;
  /** Note where rows were chosen, ordered or cut by noisy numbers. */
  readonly arranged?: string;
}
/**
 * exact: noise distribution of that number; combined: that of a sum of noisy numbers; rank: a selected candidate, with `rankError` only.
 * propagated: a ratio; delta-method standard error, and the interval of all values the noise leaves possible.
 */
export type ErrorKind = 'exact' | 'combined' | 'propagated' | 'rank';
export interface AnswerRow {
  /** One label per key; "(missing)" for missing. */
  readonly keys: readonly string[];
  /** Null when the noise left no usable number (a mean over a noisy count of zero or less). */
  readonly value: number | null;
  readonly standardError: number | null;
  /** 95 % interval. */
  readonly low: number | null;
  readonly high: number | null;
  /** Counts by the values of a column: share among the answers in rows with the same other keys, with its 95 % interval. */
  readonly share?: {
    readonly value: number | null;
    readonly low: number;
    readonly high: number;
    /** The same interval including the sampling error, where the policy declares a design. */
    readonly withSampling?: { readonly low: number; readonly high: number };
  };
  /** Interval including the sampling error, where the policy declares a design, and the standard error of sampling alone. */
  readonly withSampling?: { readonly low: number | null; readonly high: number | null; readonly standardError: number };
  /** Quantiles: with 95 % probability the true quantile is within this many ranks, whatever the data. */
  readonly rankError?: number;
  /** The same if the rows lie evenly around it: as many to every possible answer, or as many possible answers to every row. */
  readonly evenRankError?: number;
}

/** Errors known from policy and noise alone. */
export interface ExpectedError {
  readonly name: string;
  readonly query: Query;
  readonly cells: number;
  readonly error: ErrorKind;
  /**
   * Standard error and 95 % half width of one answer. With `perRow`, divide by the (unknown) number of rows in the cell: worst case
   * over the data if that number is large compared with its own noise; with fewer rows the interval is wider.
   */
  readonly standardError: number;
  readonly halfWidth: number;
  readonly perRow: boolean;
  /** Warning where the error exceeds a tenth of the largest possible count. */
  readonly mostlyNoise?: string;
}
