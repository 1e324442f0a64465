/** What an analyst asks: one JSON form for library, command line and HTTP; SQL text is compiled to it. Parsed by query/parse.ts. */
export type Query =
  | CountQuery
  | SumQuery
  | MeanQuery
  | VarianceQuery
  | ShareQuery
  | HistogramQuery
  | CrosstabQuery
  | QuantileQuery;
export type QueryKind = Query['kind'];

interface Asked {
  /** Name the answer carries; made from the query when absent. */
  readonly name?: string;
  readonly where?: readonly Condition[];
  /** Group keys: declared category columns, or numbers with declared bins. */
  readonly by?: readonly string[];
  /** A declared weight column. */
  readonly weight?: string;
}
export interface CountQuery extends Asked {
  readonly kind: 'count';
}
export interface SumQuery extends Asked {
  readonly kind: 'sum';
  readonly column: string;
}
export interface MeanQuery extends Asked {
  readonly kind: 'mean';
  readonly column: string;
}
export interface VarianceQuery extends Asked {
  readonly kind: 'variance';
  readonly column: string;
  /** Divide by n (population) instead of n - 1. */
  readonly population?: boolean;
}
/** Share of the rows whose column takes one of the values. */
export interface ShareQuery extends Asked {
  readonly kind: 'share';
  readonly column: string;
  readonly values: readonly string[];
}
export interface HistogramQuery extends Asked {
  readonly kind: 'histogram';
  readonly column: string;
  /** Read off the joint histogram of the columns the policy merges this one with. */
  readonly merged?: true;
}
export interface CrosstabQuery extends Asked {
  readonly kind: 'crosstab';
  readonly columns: readonly [string, string];
}
export interface QuantileQuery extends Asked {
  readonly kind: 'quantile';
  readonly column: string;
  /** Shares strictly between 0 and 1, at most three decimals: 0.5 is the median. */
  readonly at: readonly number[];
}

/** Conditions are joined by AND. */
export type Condition =
  | { readonly column: string; readonly op: '=' | '!=' | '<' | '<=' | '>' | '>='; readonly value: string | number }
  | { readonly column: string; readonly op: 'in' | 'not in'; readonly values: readonly (string | number)[] }
  | { readonly column: string; readonly op: 'missing' | 'present' };

/** A batch shares one budget and one ledger entry. `{queries: […]}` in JSON. */
export interface Batch {
  readonly queries: readonly Query[];
}
