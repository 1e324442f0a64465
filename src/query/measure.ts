import type { RecordClass } from '../dependence/profile.js';
import type { Rational } from '../exact/rational.js';

/**
 * A measure is what is noised: a vector of exact integers. A bound query is one or more measures plus a way to finish them into a table.
 * answer = (exact integer + discrete noise) x grid.
 */
export interface CountedMeasure {
  readonly mechanism: 'additive';
  readonly name: string;
  /** One integer per cell; the labels say what it is, e.g. ["rep", "(missing)"]. */
  readonly cells: readonly (readonly string[])[];
  /** What one integer unit is worth in the answer. */
  readonly grid: Rational;
  /** Effect of replacing one record of a class, in integer units. Classes that are absent do not move the measure. */
  readonly effects: ReadonlyMap<RecordClass, Effect>;
  readonly counting: Counting;
}
export interface Effect {
  readonly l1: bigint;
  readonly l2squared: bigint;
}

/** Chosen by the exponential mechanism among finite public candidates: quantiles. */
export interface SelectedMeasure {
  readonly mechanism: 'exponential';
  readonly name: string;
  readonly candidates: readonly Rational[];
  /** How far replacing one record can move any candidate's integer score. */
  readonly effects: ReadonlyMap<RecordClass, Effect>;
  /** Twice the score is |2 x (rows below or at the candidate) x den - ...|: the compiler states the integer score from two counts. */
  readonly score: (below: bigint, at: bigint, total: bigint) => bigint;
  readonly counting: Counting;
}
export type Measure = CountedMeasure | SelectedMeasure;

/**
 * How the exact integers are obtained, independent of any dialect; query/compile.ts turns it into SQL, release/measure.ts into a streaming count.
 * Rows are first cut to `maxRows` per person, then filtered, then keyed, then valued.
 */
export interface Counting {
  readonly filter: readonly RowTest[];
  /** Each key maps a row to one of `size` positions; the cell index is the mixed-radix number of the positions (last key fastest). */
  readonly keys: readonly RowKey[];
  /** What a row adds to its cell: 1, or a clamped, quantised number, possibly times a weight. */
  readonly value: RowValue;
}
export type RowTest =
  | { readonly kind: 'code'; readonly column: string; readonly codes: readonly string[]; readonly negate: boolean }
  | {
      readonly kind: 'number';
      readonly column: string;
      readonly op: '=' | '!=' | '<' | '<=' | '>' | '>=';
      readonly value: number;
    }
  | { readonly kind: 'missing'; readonly column: string; readonly negate: boolean };
export type RowKey =
  /** Position of the code in `codes`; anything else is the last position (missing). */
  | { readonly kind: 'code'; readonly column: string; readonly codes: readonly string[]; readonly size: number }
  /** Bin of the clamped number between `edges`; missing is the last position. */
  | { readonly kind: 'bin'; readonly column: string; readonly edges: readonly number[]; readonly size: number }
  /** A multi-select row adds to every option it names; options first, then missing. */
  | {
      readonly kind: 'options';
      readonly column: string;
      readonly codes: readonly string[];
      readonly separator: string;
      readonly size: number;
    };
export type RowValue =
  | { readonly kind: 'one' }
  /** round((clamp(x) - origin) / step) as an integer, to the given power; missing adds nothing. */
  | { readonly kind: 'number'; readonly column: string; readonly power: 1 | 2; readonly weight?: string }
  /** 1 when the column has a usable number, else 0: the denominator of a mean. */
  | { readonly kind: 'present'; readonly column: string; readonly weight?: string }
  | { readonly kind: 'weight'; readonly column: string };
