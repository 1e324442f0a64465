import type { DuckDBConnection } from '@duckdb/node-api';
import { isLong, type Scan, type ScanColumn } from './scan.js';

/** DuckDB's planning time grows with the square of the number of columns: wider tables are processed in blocks of this many. */
export const blockOfColumns = 1000;

function* blocks<T>(list: readonly T[], size = blockOfColumns): Iterable<readonly T[]> {
  for (let from = 0; from < list.length; from += size) yield list.slice(from, from + size);
}

/**
 * Reads every cell; returns the columns with texts longer than the limit. Invalid UTF-8 in Parquet, a
 * view that fails on a row, or a cell that does not fit into memory must show now, not during a release.
 */
export async function readAll(connection: DuckDBConnection, { from, columns }: Scan): Promise<ReadonlySet<ScanColumn>> {
  const long = new Set<ScanColumn>();
  const ask = async (list: readonly string[]) =>
    (await connection.runAndReadAll(`SELECT ${list.join(', ')} FROM ${from}`)).getRows()[0]!;
  for (const block of blocks(columns)) {
    const texts = block.filter(({ type }) => type === 'text');
    const all = `bit_xor(hash(${block.map((c) => c.expression).join(', ')}))`;
    const any = texts.length > 0 ? `bool_or(${texts.map((c) => isLong(c.expression)).join(' OR ')})` : 'false';
    if ((await ask([all, any]))[1] !== true) continue;
    const found = await ask(texts.map((c) => `bool_or(${isLong(c.expression)})`));
    for (const [i, column] of texts.entries()) if (found[i] === true) long.add(column);
  }
  return long;
}
