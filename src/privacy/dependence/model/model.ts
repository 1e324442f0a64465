/**
 * A declared dependence model over a handful to a few thousand named records: what `fugu leak`, `audit` and `compare` read,
 * and what `kind: factors` and `kind: columns` compile to. P(x) is proportional to the product of the factors.
 */
export interface Model {
  readonly ids: readonly string[];
  /** The numeric values record j may take, in table order; an odds-ratio-only record may have any. */
  readonly values: readonly (readonly number[])[];
  readonly factors: readonly Factor[];
  /**
   * Records whose own weights are left open: the class holds every distribution that multiplies a non-negative function of one such
   * record onto the factors (a chain with initial law "any"). Absent: the factors are the whole model.
   */
  readonly anyPrior?: readonly number[];
  /** So many equal parts, one after the other, without a factor between them. */
  readonly copies?: number;
}

/** Either a weight table (C order over `records`, last fastest) or a declared odds ratio between the records. */
export type Factor = TableFactor | OddsFactor;
export interface TableFactor {
  readonly records: readonly number[];
  readonly table: Float64Array;
}
export interface OddsFactor {
  readonly records: readonly number[];
  /** At least 1; Infinity means copies. */
  readonly oddsRatio: number;
  /** The tie makes its two records alike, never different; they have two values each. */
  readonly pull?: 'alike';
}

export const isTable = (factor: Factor): factor is TableFactor => 'table' in factor;
