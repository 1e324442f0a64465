import type { ScanColumn } from './scan.js';

/** DuckDB plans in a time that grows with the square of the columns it meets: beyond this many, work is done in blocks. */
export const blockOfColumns = 1000;

function* blocks<T>(list: readonly T[], size = blockOfColumns): Iterable<readonly T[]> {
  for (let from = 0; from < list.length; from += size) yield list.slice(from, from + size);
}

/** Reads every cell. Text in a Parquet file that is no UTF-8, or a view that fails on a row, must show now and not in a release. */
export function* readingsOf(from: string, columns: readonly ScanColumn[]): Iterable<string> {
  for (const block of blocks(columns)) yield `SELECT bit_xor(hash(${block.map((c) => c.expression).join(', ')})) FROM ${from}`;
}
