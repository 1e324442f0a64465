import {
  makeNetwork,
  type Network,
  type NetworkOrigin,
  type NetworkVariable,
} from '../../../privacy/dependence/model/network.js';
import { levelCount, type PairTables, pairCount } from '../../../privacy/dependence/pairwise/pair-tables.js';
import type { CodedTable } from './coded.js';

/** Conditional tables from counts; `smoothing` is added to every cell (a parent combination without rows gets the uniform row). */
export function fitNetwork(
  name: string,
  table: CodedTable,
  values: readonly (readonly string[])[],
  parents: readonly (readonly number[])[],
  origin: NetworkOrigin,
  smoothing = 0,
): Network {
  const variables = table.names.map(
    (column, x): NetworkVariable => ({
      name: column,
      values: values[x]!,
      parents: parents[x]!,
      table: conditionalTable(familyCounts(table, x, parents[x]!), table.levels[x]!, smoothing),
    }),
  );
  return makeNetwork(name, variables, origin);
}

/** The same for a forest, whose families are tables of two columns; `parent` is -1 at a root. */
export function fitForest(
  name: string,
  pairs: PairTables,
  values: readonly (readonly string[])[],
  parent: ArrayLike<number>,
  origin: NetworkOrigin,
): Network {
  const variables = pairs.names.map((column, x): NetworkVariable => {
    const [p, width] = [parent[x]!, pairs.levels[x]!];
    const counts =
      p < 0
        ? Float64Array.from({ length: width }, (_, b) => levelCount(pairs, x, b))
        : Float64Array.from({ length: pairs.levels[p]! * width }, (_, cell) =>
            pairCount(pairs, p, Math.floor(cell / width), x, cell % width),
          );
    return { name: column, values: values[x]!, parents: p < 0 ? [] : [p], table: conditionalTable(counts, width, 0) };
  });
  return makeNetwork(name, variables, origin);
}

/** Counts of a child given its parents, C order over parents then child. */
function familyCounts(table: CodedTable, child: number, parents: readonly number[]): Float64Array {
  const family = [...parents, child];
  const counts = new Float64Array(family.reduce((size, c) => size * table.levels[c]!, 1));
  for (let r = 0; r < table.rows; r++) {
    let cell = 0;
    for (const c of family) cell = cell * table.levels[c]! + table.columns[c]![r]!;
    counts[cell]!++;
  }
  return counts;
}

/** Rows of counts to rows of probabilities. Negative counts (noise) are clamped to zero. */
export function conditionalTable(counts: Float64Array, width: number, smoothing: number): Float64Array {
  const table = new Float64Array(counts.length);
  for (let row = 0; row < counts.length; row += width) {
    let total = 0;
    for (let v = row; v < row + width; v++) {
      table[v] = Math.max(0, counts[v]!) + smoothing;
      total += table[v]!;
    }
    for (let v = row; v < row + width; v++) table[v] = total > 0 ? table[v]! / total : 1 / width;
  }
  return table;
}

/** BIC of a given structure on the data: what `bestStructure` maximises. */
export function bicScore(table: CodedTable, parents: readonly (readonly number[])[]): number {
  const weight = Math.log(Math.max(table.rows, 2)) / 2;
  let score = 0;
  parents.forEach((list, x) => {
    const width = table.levels[x]!;
    const counts = familyCounts(table, x, list);
    for (let row = 0; row < counts.length; row += width) {
      let total = 0;
      for (let v = row; v < row + width; v++) {
        total += counts[v]!;
        if (counts[v]! > 0) score += counts[v]! * Math.log(counts[v]!);
      }
      if (total > 0) score -= total * Math.log(total);
    }
    score -= weight * (width - 1) * (counts.length / width);
  });
  return score;
}
