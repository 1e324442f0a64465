import { Fault } from '../../base/errors.js';
import type { Cell, Chunk, Engine, Snapshot, SourceColumn, Statement } from './engine.js';
import type { Exact } from './exact.js';
import { quoteName } from './structure.js';

/** Name under which a statement with a `fugu_data` of its own sees every row. */
export const allRows = 'fugu_all_rows';

/** Test if a row stays, by its name `own`. Its values are bound after the `bound` others of a statement. */
export type KeepTest = (own: string, bound: number) => { readonly test: string; readonly values: readonly string[] };

/** An engine without some rows of another: every statement reads its own `fugu_data`, and the database holds no trace of the list. */
export class WithoutRows implements Engine {
  readonly whole: Engine;
  readonly #column: string;
  readonly #staying: KeepTest;
  #closed = false;

  constructor(whole: Engine, column: string, staying: KeepTest) {
    this.whole = whole;
    this.#column = column;
    this.#staying = staying;
  }

  get dialect() {
    return this.whole.dialect;
  }
  get room() {
    return this.whole.room;
  }
  get source() {
    return this.whole.source;
  }
  async snapshot(): Promise<Snapshot> {
    if (this.#closed) throw new Fault('ENGINE_FAILED', 'The database is closed.', 'Open it again.');
    return new SnapshotWithout(await this.whole.snapshot(), this.#column, this.#staying);
  }
  without(column: string, names: readonly string[]): Promise<Engine> {
    return this.whole.without(column, names);
  }
  async close(): Promise<void> {
    this.#closed = true;
  }
}

class SnapshotWithout implements Snapshot {
  readonly whole: Snapshot;
  readonly #column: string;
  readonly #staying: KeepTest;

  constructor(whole: Snapshot, column: string, staying: KeepTest) {
    this.whole = whole;
    this.#column = column;
    this.#staying = staying;
  }

  get dialect() {
    return this.whole.dialect;
  }
  get source() {
    return this.whole.source;
  }
  get room() {
    return this.whole.room;
  }
  get moment() {
    return this.whole.moment;
  }
  get queries() {
    return this.whole.queries;
  }
  id(): Promise<string> {
    return this.whole.id();
  }
  columns(table?: string): Promise<readonly SourceColumn[]> {
    return this.whole.columns(table);
  }
  async beneath(values: Statement['values']): Promise<{ readonly from: string; readonly values: Statement['values'] }> {
    const { rest, values: bound } = await this.#rest(values);
    return { from: `(${rest})`, values: bound };
  }
  async size(): Promise<Exact<number>> {
    return this.count({ sql: 'SELECT 1 FROM fugu_data', values: [] });
  }
  async count(statement: Statement): Promise<Exact<number>> {
    return this.whole.count(await this.#over(statement));
  }
  async rows(statement: Statement): Promise<Exact<readonly (readonly Cell[])[]>> {
    return this.whole.rows(await this.#over(statement));
  }
  async *stream(statement: Statement): AsyncIterable<Exact<Chunk>> {
    yield* this.whole.stream(await this.#over(statement));
  }
  close(): Promise<void> {
    return this.whole.close();
  }

  /** The stored type is looked up every time: it may change with the data. */
  async #over({ sql, values, numbered }: Statement): Promise<Statement> {
    const { rest, values: bound } = await this.#rest(values);
    return { sql: `WITH fugu_data AS NOT MATERIALIZED (${rest}) ${sql}`, values: bound, ...(numbered && { numbered }) };
  }
  async #rest(values: Statement['values']): Promise<{ readonly rest: string; readonly values: Statement['values'] }> {
    const column = sourceColumnNamed(await this.columns(), this.#column);
    const own = this.dialect.name(quoteName(column.name), column.type);
    const { test, values: more } = this.#staying(own, values.length);
    const rest = `SELECT * FROM ${allRows} WHERE ${test}`;
    return { rest, values: more.length > 0 ? [...values, ...more] : values };
  }
}

export function sourceColumnNamed(columns: readonly SourceColumn[], own: string): SourceColumn {
  const found = columns.find((c) => c.name === own);
  if (found) return found;
  throw new Fault('COLUMN_UNKNOWN', `The data has no column "${own}".`, 'Check protect.unit in the policy.');
}
