import type { DuckDBConnection } from '@duckdb/node-api';
import { name } from './duckdb-scan.js';
import type { SourceColumn } from './engine.js';

/** Names as callers spell them: a real number as JavaScript prints it, everything else as the database does. */
export async function listKept(connection: DuckDBConnection, names: readonly string[]): Promise<void> {
  await connection.run('CREATE OR REPLACE TABLE fugu_kept (name VARCHAR)');
  const appender = await connection.createAppender('fugu_kept');
  for (const own of names) {
    appender.appendVarchar(own);
    appender.endRow();
  }
  appender.closeSync();
}

/** The rows of a statement whose column is listed, or empty. */
export function keptOf(select: string, column: SourceColumn): string {
  const own = name(column.name);
  const listed =
    column.type === 'real'
      ? `${own} IN (SELECT try_cast(name AS DOUBLE) FROM fugu_kept)`
      : `CAST(${own} AS VARCHAR) IN (SELECT name FROM fugu_kept)`;
  return `SELECT * FROM (${select}) WHERE ${own} IS NULL OR ${listed}`;
}
