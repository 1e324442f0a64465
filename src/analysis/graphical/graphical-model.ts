import { holdingClique, type LogFactor } from './belief-propagation.js';
import { drawRows } from './draw.js';
import { eliminateColumns } from './eliminate.js';
import type { JunctionTree } from './junction-tree.js';
import { marginalIndex, marginalSize, sumInto } from './marginal.js';

/**
 * A distribution of rows over columns 0..k-1, as marginals over the cliques of a junction tree. Tables are row-major over columns in
 * increasing order.
 */
export interface GraphicalModel {
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
  readonly factors: readonly LogFactor[];
}

/** Marginals over the cliques of a junction tree, in expected rows. */
export interface CliqueBeliefs {
  readonly sizes: readonly number[];
  readonly tree: JunctionTree;
  readonly beliefs: readonly Float64Array[];
}

export function graphicalModel(
  calibrated: CliqueBeliefs,
  more: Pick<GraphicalModel, 'total' | 'cliques' | 'factors'>,
): GraphicalModel {
  const { sizes, tree, beliefs } = calibrated;
  const table = (target: readonly number[]): Float64Array => {
    const columns = [...target].sort((a, b) => a - b);
    const home = holdingClique(sizes, tree, columns);
    if (home < 0) return eliminateColumns(calibrated, columns);
    const out = new Float64Array(marginalSize(sizes, columns));
    sumInto(marginalIndex(sizes, tree.cliques[home]!, columns), beliefs[home]!, out);
    return out;
  };
  return { ...more, sizes, table, rows: (n, random, given) => drawRows(calibrated, n, random, given) };
}
