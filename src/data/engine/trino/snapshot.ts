import { sha256 } from '../../../base/platform/hash.js';
import type { Cell, Chunk, Snapshot, SourceColumn, Statement } from '../engine.js';
import { Exact } from '../exact.js';
import { once } from '../once.js';
import type { EngineSource } from '../source.js';
import { allRows } from '../without-rows.js';
import type { Client, ResultPart, StatementRunner } from './client.js';
import { trino } from './dialect.js';
import { trinoClosed, trinoFault } from './fault.js';
import { type TrinoTextNumbers, trinoChunk, trinoRows } from './page.js';
import { spelt } from './spelling.js';
import type { Watch } from './table-versions.js';

/** Views and columns for statements, valid while the tables are unchanged. */
export interface TrinoSchema {
  readonly columns: readonly SourceColumn[];
  readonly tableColumns: ReadonlyMap<string, readonly SourceColumn[]>;
  readonly show: (statement: Statement) => Statement;
  /** For statements whose cells are fetched: texts that are longer than any that is read are missing. */
  readonly showShort: (statement: Statement) => Statement;
  /** Tables with their versions, or their states. */
  readonly content: unknown;
  /** Computed once. */
  size?: Promise<number>;
}

/**
 * The tables at one moment. Nothing stays open and nothing is created: every
 * statement names the version it reads, or is followed by a check for changes.
 */
export class TrinoSnapshot implements Snapshot {
  readonly dialect = trino;
  readonly whole = this;
  readonly source: EngineSource;
  readonly room: number;
  readonly #client: Client;
  readonly #asking: StatementRunner;
  readonly #reading: TrinoSchema;
  readonly #watch: Watch;
  readonly #queries = new Set<string>();
  readonly #named = (query: string): void => void this.#queries.add(query);
  #closed = false;

  constructor(given: {
    source: EngineSource;
    room: number;
    client: Client;
    asking: StatementRunner;
    reading: TrinoSchema;
    watch: Watch;
  }) {
    this.source = given.source;
    this.room = given.room;
    this.#client = given.client;
    this.#asking = given.asking;
    this.#reading = given.reading;
    this.#watch = given.watch;
  }

  get queries(): readonly string[] {
    return [...this.#queries];
  }

  async columns(table?: string): Promise<readonly SourceColumn[]> {
    return table === undefined ? this.#reading.columns : this.#reading.tableColumns.get(table)!;
  }

  async beneath(values: Statement['values']) {
    return { from: allRows, values };
  }

  async id(): Promise<string> {
    const { columns, tableColumns, content } = this.#reading;
    const namesAndTypes = (list: readonly SourceColumn[]) => list.map(({ name, type }) => [name, type]);
    return sha256(JSON.stringify([namesAndTypes(columns), content, ...[...tableColumns.values()].map(namesAndTypes)]));
  }

  async size(): Promise<Exact<number>> {
    const all = { sql: 'SELECT 1 AS one FROM fugu_data', values: [] };
    return new Exact(await once(this.#reading, 'size', () => this.#count(all)));
  }

  async count(statement: Statement): Promise<Exact<number>> {
    return statement.everyRow ? this.size() : new Exact(await this.#count(statement));
  }

  async #count({ sql, values }: Statement): Promise<number> {
    const shown = this.#reading.show({ sql, values });
    return this.#ask({ sql: `SELECT count(*) FROM (${shown.sql}) AS fugu_counted`, values }, ({ rows }) => Number(rows[0]![0]));
  }

  async rows(statement: Statement): Promise<Exact<readonly (readonly Cell[])[]>> {
    return new Exact(await this.#ask(this.#reading.show(statement), ({ fields, rows }) => trinoRows(fields, rows)));
  }

  async *stream(statement: Statement): AsyncIterable<Exact<Chunk>> {
    this.#refuseClosed();
    try {
      const numbers: TrinoTextNumbers | undefined = statement.numbered && new Map();
      for await (const { fields, rows } of this.#asking.parts(spelt(this.#reading.showShort(statement)), this.#named))
        if (rows.length > 0) yield new Exact(trinoChunk(fields, rows, numbers));
      await this.#watch.unchanged();
    } catch (error) {
      throw trinoFault(error);
    }
  }

  /** Answers are parsed here, where any error becomes a fault: an error message would quote cells. */
  async #ask<T>(statement: Statement, read: (found: ResultPart) => T): Promise<T> {
    this.#refuseClosed();
    try {
      const found = await this.#asking.all(spelt(statement), this.#named);
      await this.#watch.unchanged();
      return read(found);
    } catch (error) {
      throw trinoFault(error);
    }
  }

  #refuseClosed(): void {
    this.#client.refuseClosed();
    if (this.#closed) throw trinoClosed();
  }

  async close(): Promise<void> {
    this.#closed = true;
  }
}
