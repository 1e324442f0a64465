import { sha256 } from '../../base/platform/hash.js';
import type { Cell, Chunk } from './engine.js';

/** A whole number as a number where a number holds it exactly. */
export function wholeCell(written: unknown): Cell {
  const x = Number(written);
  return Number.isSafeInteger(x) ? x : BigInt(written as string);
}

/** Decimals come out of our statements as sums of whole numbers and as nothing else. */
export const decimalCell = (written: string): Cell => (/^-?\d+$/.test(written) ? BigInt(written) : written);

/** A block of rows, with a reader for the cells of each column. */
export function chunkOf<Written>(
  rows: readonly (readonly (Written | null)[])[],
  readers: readonly ((written: Written) => Cell)[],
): Chunk {
  const columns = readers.map((read, c) => {
    const cells: Cell[] = new Array(rows.length);
    for (let i = 0; i < rows.length; i++) {
      const written = rows[i]![c]!;
      cells[i] = written === null ? null : read(written);
    }
    return cells;
  });
  return { rows: rows.length, columns };
}

/** The same row by row. */
export const rowsOf = <Written>(
  rows: readonly (readonly (Written | null)[])[],
  readers: readonly ((written: Written) => Cell)[],
): readonly (readonly Cell[])[] => rows.map((row) => row.map((written, c) => (written === null ? null : readers[c]!(written))));

/** Longest text that is kept as it is. None of these is as long as a digest. */
const longest = 64;

/** Numbers texts from 0 up, in the order in which they come; of long ones it keeps digests. */
export function textNumbering(): (text: string) => number {
  const known = new Map<string, number>();
  return (text) => {
    const key = text.length <= longest ? text : `#${sha256(text)}`;
    const number = known.get(key) ?? known.size;
    if (number === known.size) known.set(key, number);
    return number;
  };
}
