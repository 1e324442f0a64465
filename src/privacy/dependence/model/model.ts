/**
 * Declared dependence model over up to a few thousand named records, with P(x) proportional to the product of its factors: input
 * of `fugu leak`, `audit` and `compare`, and of `kind: factors` and `kind: columns`.
 */
export interface Model {
  readonly ids: readonly string[];
  /** The numeric values record j may take, in table order; an odds-ratio-only record may have any. */
  readonly values: readonly (readonly number[])[];
  readonly factors: readonly ModelFactor[];
  /**
   * Records whose own weights are left open: the class holds every distribution with any non-negative weight on such a record (a
   * chain with initial "any"). When absent, the factors are the whole model.
   */
  readonly anyPrior?: readonly number[];
  /** Number of independent, equal copies that the records consist of, one after the other. */
  readonly copies?: number;
}

/** Either a weight table (C order over `records`, last fastest) or a declared odds ratio between the records. */
export type ModelFactor = TableFactor | OddsFactor;
export interface TableFactor {
  readonly records: readonly number[];
  readonly table: Float64Array;
}
export interface OddsFactor {
  readonly records: readonly number[];
  /** At least 1; Infinity means copies. */
  readonly oddsRatio: number;
  /** The tie is attractive and both records are two-valued. */
  readonly pull?: 'alike';
}

export const isTable = (factor: ModelFactor): factor is TableFactor => 'table' in factor;
