import type { CodedTable } from '../learn/network/coded.js';

/** Rows in every cell of a marginal over these columns, row-major in their order. Exact, if the table is. */
export function countMarginal({ columns, levels, rows }: CodedTable, marginal: readonly number[]): Float64Array {
  const out = new Float64Array(codedTableSize(levels, marginal));
  const [i, j, k] = marginal;
  if (marginal.length === 1) {
    const a = columns[i!]!;
    for (let r = 0; r < rows; r++) out[a[r]!]!++;
  } else if (marginal.length === 2) {
    const [a, b, width] = [columns[i!]!, columns[j!]!, levels[j!]!];
    for (let r = 0; r < rows; r++) out[a[r]! * width + b[r]!]!++;
  } else if (marginal.length === 3) {
    const [a, b, c, wide, width] = [columns[i!]!, columns[j!]!, columns[k!]!, levels[j!]!, levels[k!]!];
    for (let r = 0; r < rows; r++) out[(a[r]! * wide + b[r]!) * width + c[r]!]!++;
  } else
    for (let r = 0; r < rows; r++) {
      let cell = 0;
      for (const c of marginal) cell = cell * levels[c]! + columns[c]![r]!;
      out[cell]!++;
    }
  return out;
}

export const codedTableSize = (sizes: readonly number[], columns: readonly number[]): number =>
  columns.reduce((n, c) => n * sizes[c]!, 1);
