import { codesOf } from '../code.js';
import { isCoded } from '../domain.js';
import { gridOf } from '../grid.js';
import type { ColumnPairs, Pairs } from '../pairs/pairs.js';
import type { Column } from '../policy.js';

/** A column, cut where a total tells values apart: codes one by one, numbers where pieces after the first begin. No answer is a piece of its own. */
export interface Cut {
  readonly column: string;
  readonly starts?: readonly number[];
  /** How many pieces there are. */
  readonly size: number;
}

/** Values of one column that are counted; positions of a number, both ends in it. */
export type KnownTest =
  | { readonly column: string; readonly codes: readonly string[] }
  | { readonly column: string; readonly from: number; readonly to: number };

/** One exact total that everybody knows. Numbers are absent where they are told from the data. */
export type KnownTotal =
  | { readonly kind: 'margin'; readonly by: readonly Cut[]; readonly values?: readonly bigint[] }
  | { readonly kind: 'count'; readonly where: readonly KnownTest[]; readonly values?: readonly bigint[] }
  /** Sums in units of the column's grid. */
  | { readonly kind: 'sum'; readonly column: string; readonly by: readonly Cut[]; readonly values?: readonly bigint[] };

/** Totals that everybody knows, and what that makes of neighbours (known.proof.md). */
export interface Known {
  /** Of the totals, and of how the cells of their columns are read. */
  readonly digest: string;
  readonly totals: readonly KnownTotal[];
  /** In words, one by one. */
  readonly told: readonly string[];
  /** How many records a change that keeps all totals takes at most, if no part of it keeps them. */
  readonly together: number;
  /** The margin that all totals follow from, where there is one. */
  readonly margin?: readonly Cut[];
  /** Whether the totals say how many rows there are of each kind that they tell apart: then the promise is about single rows, not only about rows changed together. */
  readonly singles: boolean;
}

/** Rows that agree in these cuts, as pairs of values. */
export const within = (cuts: readonly Cut[], columns: ReadonlyMap<string, Column>): Pairs => ({
  digest: '',
  columns: new Map(cuts.map((cut) => [cut.column, agreeing(cut, columns.get(cut.column)!)])),
  told: [],
});

function agreeing({ starts }: Cut, column: Column): ColumnPairs {
  const size = isCoded(column) ? codesOf(column).length : gridOf(column).last + 1;
  return starts ? { form: 'ranges', starts, missing: 'apart', size } : { form: 'same', missing: 'apart', size };
}
