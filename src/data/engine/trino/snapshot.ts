import { type Cell, type Chunk, databaseClosed, type Snapshot, type Statement } from '../engine.js';
import { Exact } from '../exact.js';
import { textNumbering } from '../server-cells.js';
import { type ServerSchema, ServerSnapshot } from '../server-snapshot.js';
import type { Client, StatementRunner } from './client.js';
import { trino } from './dialect.js';
import { trinoFault } from './fault.js';
import { trinoChunk, trinoRows } from './page.js';
import { spelt } from './spelling.js';
import type { Watch } from './table-versions.js';

/** Tables at one moment. */
interface WatchedTables extends Pick<Snapshot, 'source' | 'room'> {
  readonly client: Client;
  readonly runner: StatementRunner;
  readonly schema: ServerSchema;
  /** Tables with their versions, or their states. */
  readonly content: unknown;
  readonly watch: Watch;
}

/**
 * The tables at one moment. Nothing stays open and nothing is created: every
 * statement names the version it reads, or is followed by a check for changes.
 */
export class TrinoSnapshot extends ServerSnapshot {
  readonly dialect = trino;
  readonly #tables: WatchedTables;
  readonly #log = (query: string): void => void this.logged.add(query);
  #closed = false;

  constructor(tables: WatchedTables) {
    super(tables, tables.schema);
    this.#tables = tables;
  }

  async id(): Promise<string> {
    return this.digestWith(this.#tables.content);
  }

  async *stream(statement: Statement): AsyncIterable<Exact<Chunk>> {
    this.#refuseClosed();
    const { runner, watch } = this.#tables;
    try {
      const numbering = statement.numbered && textNumbering();
      for await (const { fields, rows } of runner.parts(spelt(this.schema.showShort(statement)), this.#log))
        if (rows.length > 0) yield new Exact(trinoChunk(fields, rows, numbering));
      await watch.unchanged();
    } catch (error) {
      throw trinoFault(error);
    }
  }

  /** Answers are parsed here, where any error becomes a fault: an error message would quote cells. */
  protected async answer(shown: Statement): Promise<readonly (readonly Cell[])[]> {
    this.#refuseClosed();
    const { runner, watch } = this.#tables;
    try {
      const { fields, rows } = await runner.all(spelt(shown), this.#log);
      await watch.unchanged();
      return trinoRows(fields, rows);
    } catch (error) {
      throw trinoFault(error);
    }
  }

  #refuseClosed(): void {
    this.#tables.client.refuseClosed();
    if (this.#closed) throw databaseClosed();
  }

  async close(): Promise<void> {
    this.#closed = true;
  }
}
