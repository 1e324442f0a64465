import { codesOf } from '../code.js';
import { isCoded } from '../domain.js';
import { gridOf } from '../grid.js';
import type { ColumnPairs, Pairs } from '../pairs/pairs.js';
import type { Column } from '../policy.js';

/**
 * Column with the cuts at which a total distinguishes its values: single codes, or starts of ranges after the first. No answer is
 * a separate piece.
 */
export interface ColumnCut {
  readonly column: string;
  readonly starts?: readonly number[];
  /** Number of pieces, no answer included. */
  readonly size: number;
}

/** Counted values of one column; for numbers a range of positions, both ends included. */
export type KnownTest =
  | { readonly column: string; readonly codes: readonly string[] }
  | { readonly column: string; readonly from: number; readonly to: number };

/** Exact total that is public. Its values are absent if they are still to be read from the data. */
export type KnownTotal =
  | { readonly kind: 'margin'; readonly by: readonly ColumnCut[]; readonly values?: readonly bigint[] }
  | { readonly kind: 'count'; readonly where: readonly KnownTest[]; readonly values?: readonly bigint[] }
  /** Sums in units of the column's grid. */
  | { readonly kind: 'sum'; readonly column: string; readonly by: readonly ColumnCut[]; readonly values?: readonly bigint[] };

/** Known totals and their effect on the definition of neighbouring data sets (known.proof.md). */
export interface KnownTotals {
  /** Digest of the totals, and of the reading of their columns. */
  readonly digest: string;
  readonly totals: readonly KnownTotal[];
  /** Descriptions in words, one for each total. */
  readonly descriptions: readonly string[];
  /** Largest number of records in a change that keeps all totals and contains no smaller such change. */
  readonly together: number;
  /** Margin from which all totals follow, if there is one. */
  readonly margin?: readonly ColumnCut[];
  /**
   * True if the totals determine the number of rows of each kind they distinguish: the promise then covers single rows, not only
   * rows changed jointly.
   */
  readonly singles: boolean;
}

/** Pairs of values that connect rows with equal pieces in these cuts. */
export const pairsWithin = (cuts: readonly ColumnCut[], columns: ReadonlyMap<string, Column>): Pairs => ({
  digest: '',
  columns: new Map(cuts.map((cut) => [cut.column, agreeing(cut, columns.get(cut.column)!)])),
  declarations: [],
});

function agreeing({ starts }: ColumnCut, column: Column): ColumnPairs {
  const size = isCoded(column) ? codesOf(column).length : gridOf(column).last + 1;
  return starts ? { form: 'ranges', starts, missing: 'apart', size } : { form: 'same', missing: 'apart', size };
}
