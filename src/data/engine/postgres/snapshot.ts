import { sha256 } from '../../../base/platform/hash.js';
import type { Cell, Chunk, Snapshot, SourceColumn, Statement } from '../engine.js';
import { Exact } from '../exact.js';
import { once } from '../once.js';
import type { EngineSource } from '../source.js';
import type { TimeLeft } from '../time-left.js';
import { allRows } from '../without-rows.js';
import { type ReachedObjects, refuseCatalogChange } from './catalog-marks.js';
import { PostgresTextNumbers, postgresChunk, postgresRows } from './cells.js';
import { inTime, type PostgresConnection, type RawRows } from './connection.js';
import { postgres } from './dialect.js';
import { postgresClosed, postgresFault, postgresTimeout } from './fault.js';
import { type Pool, Turnstile } from './pool.js';

/** Views and columns for statements, valid while the schema is unchanged. */
export interface PostgresSchema extends ReachedObjects {
  readonly columns: readonly SourceColumn[];
  readonly show: (statement: Statement) => Statement;
  /** For statements whose cells are fetched, or that put rows together: texts that are longer than any that is read are missing. */
  readonly showShort: (statement: Statement) => Statement;
  readonly tableColumns: ReadonlyMap<string, readonly SourceColumn[]>;
  /** Views of the relations and of the side tables. */
  readonly sideViews: readonly string[];
  /** Some of it is computed by user-defined expressions. */
  readonly viewed: boolean;
  /** Computed once: digest of all data shown, and number of rows. */
  id?: Promise<string>;
  size?: Promise<number>;
}

/** Cells of one block, where they are short. */
const cellsAtOnce = 1 << 16;
const atOnce = (fields: number): number => Math.max(16, Math.min(8192, Math.floor(cellsAtOnce / Math.max(1, fields))));

/**
 * One snapshot of the database. A connection that reads no rows holds it open; reading connections import it, so
 * all see the same rows. Nothing is created in the database: `fugu_data` is part of every statement that reads it.
 */
export class PostgresSnapshot implements Snapshot {
  readonly dialect = postgres;
  readonly whole = this;
  readonly source: EngineSource;
  readonly room: number;
  readonly #pool: Pool;
  readonly #holder: PostgresConnection;
  readonly #snapshot: string;
  readonly #reading: PostgresSchema;
  readonly #marks: string;
  readonly #left: TimeLeft;
  readonly #turns = new Turnstile();
  readonly #idle: PostgresConnection[] = [];
  readonly #names = new Set<string>();
  #looks: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(given: {
    source: EngineSource;
    room: number;
    pool: Pool;
    holder: PostgresConnection;
    snapshot: string;
    reading: PostgresSchema;
    marks: string;
    left: TimeLeft;
  }) {
    this.source = given.source;
    this.room = given.room;
    this.#pool = given.pool;
    this.#holder = given.holder;
    this.#snapshot = given.snapshot;
    this.#reading = given.reading;
    this.#marks = given.marks;
    this.#left = given.left;
  }

  get queries(): readonly string[] {
    return [...this.#names];
  }
  get viewed(): boolean {
    return this.#reading.viewed;
  }

  async columns(table?: string): Promise<readonly SourceColumn[]> {
    return table === undefined ? this.#reading.columns : this.#reading.tableColumns.get(table)!;
  }

  async beneath(values: Statement['values']) {
    return { from: allRows, values };
  }

  /**
   * Sum of two hashes of every row: independent of the order of rows, dependent
   * on every cell shown. Computed again only if the database has changed since.
   */
  id(): Promise<string> {
    return once(this.#reading, 'id', () => this.#digest());
  }

  async #digest(): Promise<string> {
    const sums: Cell[] = [];
    for (const view of ['fugu_data', ...this.#reading.sideViews]) {
      const hash = (seed: number) => `coalesce(sum(CAST(hash_record_extended(fugu_row.*, ${seed}) AS NUMERIC)), 0)`;
      const sql = `SELECT count(*), ${hash(0)}, ${hash(0x5eed)} FROM (SELECT * FROM ${view}) AS fugu_row`;
      const shown = this.#reading.showShort({ sql, values: [] });
      sums.push(...postgresRows(await this.#ask((connection) => connection.query(shown)))[0]!);
    }
    const { columns, tableColumns } = this.#reading;
    const namesAndTypes = (list: readonly SourceColumn[]) => list.map(({ name, type }) => [name, type]);
    return sha256(JSON.stringify([namesAndTypes(columns), sums.map(String), ...[...tableColumns.values()].map(namesAndTypes)]));
  }

  async size(): Promise<Exact<number>> {
    return new Exact(await once(this.#reading, 'size', () => this.#count({ sql: 'SELECT 1 FROM fugu_data', values: [] })));
  }

  async count(statement: Statement): Promise<Exact<number>> {
    return statement.everyRow ? this.size() : new Exact(await this.#count(statement));
  }

  async #count({ sql, values }: Statement): Promise<number> {
    const shown = this.#reading.show({ sql, values });
    const { rows } = await this.#ask((connection) =>
      connection.query({ sql: `SELECT count(*) FROM (${shown.sql}) AS fugu_counted`, values: shown.values }),
    );
    return Number(rows[0]![0]);
  }

  async rows(statement: Statement): Promise<Exact<readonly (readonly Cell[])[]>> {
    return new Exact(postgresRows(await this.#ask((connection) => connection.query(this.#reading.show(statement)))));
  }

  async *stream(statement: Statement): AsyncIterable<Exact<Chunk>> {
    const connection = await this.#lease();
    let whole = false;
    let passed = false;
    const timer = setTimeout(() => {
      passed = true;
      connection.destroy();
    }, this.#left());
    try {
      const numbers = statement.numbered && new PostgresTextNumbers();
      for await (const block of connection.blocks(this.#reading.showShort(statement), atOnce))
        yield new Exact(postgresChunk(block, numbers || undefined));
      await inTime(
        this.#left(),
        () => connection.destroy(),
        () => this.#refuseChanged(),
      );
      whole = true;
    } catch (error) {
      throw passed ? postgresTimeout() : this.#fault(error);
    } finally {
      clearTimeout(timer);
      await this.#done(connection, whole);
    }
  }

  async #ask(work: (connection: PostgresConnection) => Promise<RawRows>): Promise<RawRows> {
    const connection = await this.#lease();
    let whole = false;
    try {
      const result = await inTime(
        this.#left(),
        () => connection.destroy(),
        async () => {
          const written = await work(connection);
          await this.#refuseChanged();
          return written;
        },
      );
      whole = true;
      return result;
    } catch (error) {
      throw this.#fault(error);
    } finally {
      await this.#done(connection, whole);
    }
  }

  /** One after the other: a connection is for one statement at a time. */
  #refuseChanged(): Promise<void> {
    const look = this.#looks.then(() => {
      // By then another caller may use the connection.
      if (this.#closed) throw postgresClosed();
      return refuseCatalogChange(this.#holder, this.#reading, this.#marks);
    });
    this.#looks = look.catch(() => undefined);
    return look;
  }

  #fault(error: unknown): Error {
    return this.#pool.isClosed || this.#closed ? postgresClosed() : postgresFault(error);
  }

  /** A connection that sees this snapshot. */
  async #lease(): Promise<PostgresConnection> {
    if (this.#closed) throw postgresClosed();
    this.#pool.refuseClosed();
    if (this.#left() <= 0) throw postgresTimeout();
    await this.#turns.enter(this.#left());
    let connection: PostgresConnection | undefined;
    try {
      while (this.#idle.length > 0) {
        connection = this.#idle.pop()!;
        if (connection.usable) return connection;
        this.#pool.drop(connection);
      }
      connection = await this.#pool.take();
      const begin = `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET TRANSACTION SNAPSHOT '${this.#snapshot}'`;
      await this.#within(connection, (open) => open.begin(`${begin}; SAVEPOINT fugu_reading`));
      connection.snapshot = this.#snapshot;
      this.#names.add(connection.name);
      return connection;
    } catch (error) {
      this.#turns.leave();
      if (connection) this.#pool.drop(connection);
      throw this.#fault(error);
    }
  }

  /**
   * An idle connection holds no lock: a session waiting for one would wait until the release ends,
   * and block our other statements. Changes in the meantime are detected after the next statement.
   */
  async #done(connection: PostgresConnection, whole: boolean): Promise<void> {
    const unlocked =
      whole &&
      connection.usable &&
      (await this.#within(connection, (open) => open.run('ROLLBACK TO SAVEPOINT fugu_reading')).catch(() => undefined));
    if (!unlocked || !connection.usable) this.#pool.drop(connection);
    else if (this.#closed) void this.#pool.giveBack(connection);
    else this.#idle.push(connection);
    this.#turns.leave();
  }

  #within<T>(connection: PostgresConnection, work: (open: PostgresConnection) => Promise<T>): Promise<T> {
    return inTime(
      this.#left(),
      () => connection.destroy(),
      () => work(connection),
    );
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#turns.refuseAll();
    await Promise.all([this.#holder, ...this.#idle.splice(0)].map((connection) => this.#pool.giveBack(connection)));
    this.#pool.pins.leave();
  }
}
