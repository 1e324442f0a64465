import { marginalSize } from '../../graphical/marginal.js';

/**
 * A table of categorical answers: column c holds one code per row, each in 0 .. levels[c]-1. Exact data: never leaves analysis and
 * attack.
 */
export interface CodedTable {
  readonly names: readonly string[];
  readonly levels: readonly number[];
  readonly rows: number;
  readonly columns: readonly Codes[];
}
export type Codes = Uint8Array | Uint16Array;

/** The same table with only the columns at these positions. */
export const chooseColumns = (table: CodedTable, positions: readonly number[]): CodedTable => ({
  names: positions.map((c) => table.names[c]!),
  levels: positions.map((c) => table.levels[c]!),
  rows: table.rows,
  columns: positions.map((c) => table.columns[c]!),
});

/** The same table with only the rows at these positions. */
export const chooseRows = (table: CodedTable, positions: ArrayLike<number>): CodedTable => ({
  ...table,
  rows: positions.length,
  columns: table.columns.map((codes) => {
    const kept = codes instanceof Uint8Array ? new Uint8Array(positions.length) : new Uint16Array(positions.length);
    for (let i = 0; i < positions.length; i++) kept[i] = codes[positions[i]!]!;
    return kept;
  }),
});

/** Consecutive chunks of at most k columns, in column order (SplitColumns of Maughan and Near). */
export function splitColumns(columns: number, k: number): readonly (readonly number[])[] {
  const chunks: number[][] = [];
  for (let start = 0; start < columns; start += k)
    chunks.push(Array.from({ length: Math.min(k, columns - start) }, (_, i) => start + i));
  return chunks;
}

/** Rows in every cell of a marginal over these columns, row-major in their order. Exact, if the table is. */
export function countMarginal({ columns, levels, rows }: CodedTable, marginal: readonly number[]): Float64Array {
  const cells = new Int32Array(rows);
  for (const c of marginal) {
    const [codes, width] = [columns[c]!, levels[c]!];
    for (let r = 0; r < rows; r++) cells[r] = cells[r]! * width + codes[r]!;
  }
  const counts = new Float64Array(marginalSize(levels, marginal));
  for (let r = 0; r < rows; r++) counts[cells[r]!]!++;
  return counts;
}

/** The blocks one after the other in a list that is large enough for all. */
export function joinBlocks<T extends Int8Array | Uint16Array | Int32Array | Uint32Array>(blocks: readonly T[], all: T): T {
  let at = 0;
  for (const block of blocks) {
    all.set(block, at);
    at += block.length;
  }
  return all;
}
