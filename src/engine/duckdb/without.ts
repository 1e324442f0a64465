import { createHash } from 'node:crypto';
import type { DuckDBConnection } from '@duckdb/node-api';
import { Fault } from '../../errors.js';
import type { Cell, Chunk, Engine, SourceColumn, Statement } from '../engine.js';
import type { Exact } from '../exact.js';
import { nameReader } from '../name.js';
import { name } from './scan.js';
import { allRows } from './shown.js';

/** Lists of names, each in a table of its own that is written once and never changed: engines without the same names share it. */
export class NameLists {
  readonly #written = new Map<string, Promise<string>>();

  /** The table that holds these names. */
  table(
    names: readonly string[],
    use: (work: (connection: DuckDBConnection) => Promise<void>) => Promise<void>,
  ): Promise<string> {
    const digest = createHash('sha256')
      .update(JSON.stringify([...names].sort()))
      .digest('hex');
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

/** An engine without some rows of another: every statement reads its own `fugu_data`, and nothing in the database says so. */
export class WithoutRows implements Engine {
  readonly whole: Engine;
  readonly #column: string;
  readonly #table: string;
  #closed = false;

  constructor(whole: Engine, column: string, table: string) {
    this.whole = whole;
    this.#column = column;
    this.#table = table;
  }

  get dialect() {
    return this.whole.dialect;
  }
  get source() {
    return this.whole.source;
  }
  columns(): Promise<readonly SourceColumn[]> {
    return this.whole.columns();
  }
  snapshot(): Promise<string> {
    return this.whole.snapshot();
  }
  without(column: string, names: readonly string[]): Promise<Engine> {
    return this.whole.without(column, names);
  }
  async size(): Promise<Exact<number>> {
    return this.count({ sql: 'SELECT 1 FROM fugu_data', values: [] });
  }
  async count(statement: Statement): Promise<Exact<number>> {
    return this.whole.count(await this.#over(statement));
  }
  get room() {
    return this.whole.room;
  }
  async rows(statement: Statement): Promise<Exact<readonly (readonly Cell[])[]>> {
    return this.whole.rows(await this.#over(statement));
  }
  async *stream(statement: Statement): AsyncIterable<Exact<Chunk>> {
    yield* this.whole.stream(await this.#over(statement));
  }
  async close(): Promise<void> {
    this.#closed = true;
  }

  /** The stored type is looked up every time: it may change with the data. */
  async #over({ sql, values, numbered }: Statement): Promise<Statement> {
    if (this.#closed) throw new Fault('ENGINE_FAILED', 'The database is closed.', 'Open it again.');
    const column = columnNamed(await this.columns(), this.#column);
    const own = nameReader(this.dialect)(name(column.name), column.type);
    // No name is empty, so rows without one stay.
    const rest = `SELECT * FROM ${allRows} WHERE coalesce(${own}, '') NOT IN (SELECT name FROM main.${this.#table})`;
    return { sql: `WITH fugu_data AS NOT MATERIALIZED (${rest}) ${sql}`, values, ...(numbered && { numbered }) };
  }
}

export function columnNamed(columns: readonly SourceColumn[], own: string): SourceColumn {
  const found = columns.find((c) => c.name === own);
  if (found) return found;
  throw new Fault('COLUMN_UNKNOWN', `The data has no column "${own}".`, 'Check protect.unit in the policy.');
}
