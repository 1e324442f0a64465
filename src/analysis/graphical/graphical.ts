import { drawRows } from './draw.js';
import { eliminated } from './eliminate.js';
import { cellsOf, placesOf, sumInto } from './margin.js';
import { type Factor, homeOf } from './propagate.js';
import type { Tree } from './tree.js';

/**
 * A distribution of rows over columns 0..k-1, as marginals over the cliques of a junction tree. Tables are row-major over columns in
 * increasing order.
 */
export interface Graphical {
  readonly sizes: readonly number[];
  readonly total: number;
  readonly cliques: readonly (readonly number[])[];
  /**
   * Expected rows in every cell of a marginal over any columns, read from a clique or by elimination; refused with its size if too
   * large.
   */
  table(columns: readonly number[]): Float64Array;
  /**
   * So many rows, one array per column: shares of values are given out whole, only remainders are drawn. `random` is uniform on [0, 1).
   * Columns inside one clique may be `given`.
   */
  rows(n: number, random: () => number, given?: ReadonlyMap<number, Uint16Array>): readonly Uint16Array[];
  /** Parameters another fit may start from. */
  readonly factors: readonly Factor[];
}

export function graphical(
  sizes: readonly number[],
  total: number,
  { cliques }: Tree,
  tree: Tree,
  beliefs: readonly Float64Array[],
  factors: readonly Factor[],
): Graphical {
  const table = (asked: readonly number[]): Float64Array => {
    const columns = [...asked].sort((a, b) => a - b);
    const home = homeOf(sizes, tree, columns);
    if (home < 0) return eliminated({ sizes, tree, beliefs }, columns);
    const out = new Float64Array(cellsOf(sizes, columns));
    sumInto(placesOf(sizes, tree.cliques[home]!, columns), beliefs[home]!, out);
    return out;
  };
  return {
    sizes,
    total,
    cliques,
    factors,
    table,
    rows: (n, random, given) => drawRows({ sizes, tree, beliefs }, n, random, given),
  };
}
