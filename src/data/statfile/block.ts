import type { StatCell } from './variable.js';

/** DuckDB takes this many rows at once. */
const maxRowsAtOnce = 2048;
const maxBlockCells = 1 << 20;
const maxBlockBytes = 32 << 20;

/** Rows to hold at a time, so that neither many columns nor long text make a block large. */
export const rowsAtOnce = (columns: number, rowBytes: number): number =>
  Math.max(1, Math.min(maxRowsAtOnce, Math.floor(maxBlockCells / columns), Math.floor(maxBlockBytes / Math.max(1, rowBytes))));

/** `rows` rows from rows of equal length: each column has a reader of its cell in the bytes of a row. */
export type StatCellReader = (row: Buffer) => StatCell;

export function* rowBlocks(
  readers: readonly StatCellReader[],
  rows: number,
  rowBytes: number,
  next: () => Buffer,
): Generator<readonly StatCell[][]> {
  const most = rowsAtOnce(readers.length, rowBytes);
  for (let done = 0; done < rows; ) {
    const count = Math.min(most, rows - done);
    const block: StatCell[][] = readers.map(() => new Array<StatCell>(count));
    for (let i = 0; i < count; i++) {
      const row = next();
      for (let c = 0; c < readers.length; c++) block[c]![i] = readers[c]!(row);
    }
    done += count;
    yield block;
  }
}
