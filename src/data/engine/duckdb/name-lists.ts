import type { DuckDBConnection } from '@duckdb/node-api';
import { sha256 } from '../../../base/platform/hash.js';
import type { KeepTest } from '../without-rows.js';

/** Lists of names, each in a table of its own that is written once and never changed: engines without the same names share it. */
export class NameLists {
  readonly #written = new Map<string, Promise<string>>();

  /** The table that holds these names. */
  table(
    names: readonly string[],
    use: (work: (connection: DuckDBConnection) => Promise<void>) => Promise<void>,
  ): Promise<string> {
    const digest = sha256(JSON.stringify([...names].sort()));
    const known = this.#written.get(digest);
    if (known) return known;
    const table = `fugu_without_${digest.slice(0, 32)}`;
    const written = use((connection) => write(connection, table, names)).then(() => table);
    this.#written.set(digest, written);
    written.catch(() => this.#written.delete(digest));
    return written;
  }
}

async function write(connection: DuckDBConnection, table: string, names: readonly string[]): Promise<void> {
  await connection.run(`CREATE OR REPLACE TABLE ${table} (name VARCHAR)`);
  const appender = await connection.createAppender(table);
  for (const own of names) {
    appender.appendVarchar(own);
    appender.endRow();
  }
  appender.closeSync();
}

/** No name is empty, so rows without one stay. */
export const notIn =
  (table: string): KeepTest =>
  (own) => ({ test: `coalesce(${own}, '') NOT IN (SELECT name FROM main.${table})`, values: [] });
