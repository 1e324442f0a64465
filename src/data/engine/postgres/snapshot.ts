import { type Cell, type Chunk, databaseClosed, type Statement } from '../engine.js';
import { Exact } from '../exact.js';
import { inTurn, once } from '../once.js';
import { textNumbering } from '../server-cells.js';
import { type ServerSchema, ServerSnapshot } from '../server-snapshot.js';
import type { EngineSource } from '../source.js';
import type { TimeLeft } from '../time-left.js';
import { type ReachedObjects, refuseCatalogChange } from './catalog-marks.js';
import { postgresChunk, postgresRows } from './cells.js';
import type { PostgresConnection, RawRows } from './connection.js';
import { postgres } from './dialect.js';
import { postgresFault, postgresTimeout } from './fault.js';
import { type Pool, Turnstile } from './pool.js';

export interface PostgresSchema extends ServerSchema, ReachedObjects {
  /** Views of the relations and of the side tables. */
  readonly sideViews: readonly string[];
  /** Some of it is computed by user-defined expressions. */
  readonly viewed: boolean;
  /** Digest of all data shown, computed once. */
  id?: Promise<string>;
}

/** A state of the database that a connection holds open. */
export interface PinnedState {
  readonly source: EngineSource;
  readonly room: number;
  readonly pool: Pool;
  readonly holder: PostgresConnection;
  /** By which other connections import it. */
  readonly snapshot: string;
  readonly schema: PostgresSchema;
  /** State of the catalog beside it. */
  readonly marks: string;
  readonly left: TimeLeft;
}

/** Cells of one block, where they are short. */
const cellsAtOnce = 1 << 16;
const atOnce = (fields: number): number => Math.max(16, Math.min(8192, Math.floor(cellsAtOnce / Math.max(1, fields))));

/**
 * One snapshot of the database. A connection that reads no rows holds it open; reading connections import it, so
 * all see the same rows. Nothing is created in the database: `fugu_data` is part of every statement that reads it.
 */
export class PostgresSnapshot extends ServerSnapshot {
  readonly dialect = postgres;
  readonly #pinned: PinnedState;
  readonly #turns = new Turnstile();
  readonly #idle: PostgresConnection[] = [];
  readonly #checkInTurn = inTurn();
  #closed = false;

  constructor(pinned: PinnedState) {
    super(pinned, pinned.schema);
    this.#pinned = pinned;
  }

  get viewed(): boolean {
    return this.#pinned.schema.viewed;
  }

  /**
   * Sum of two hashes of every row: independent of the order of rows, dependent
   * on every cell shown. Computed again only if the database has changed since.
   */
  id(): Promise<string> {
    const { schema } = this.#pinned;
    return once(schema, 'id', async () => {
      const sums: Cell[] = [];
      for (const view of ['fugu_data', ...schema.sideViews]) {
        const hash = (seed: number) => `coalesce(sum(CAST(hash_record_extended(fugu_row.*, ${seed}) AS NUMERIC)), 0)`;
        const sql = `SELECT count(*), ${hash(0)}, ${hash(0x5eed)} FROM (SELECT * FROM ${view}) AS fugu_row`;
        sums.push(...(await this.answer(schema.showShort({ sql, values: [] })))[0]!);
      }
      return this.digestWith(sums.map(String));
    });
  }

  protected async answer(shown: Statement): Promise<readonly (readonly Cell[])[]> {
    return postgresRows(await this.#query(shown));
  }

  async #query(shown: Statement): Promise<RawRows> {
    const connection = await this.#lease();
    let whole = false;
    try {
      const result = await connection.within(this.#pinned.left(), async () => {
        const written = await connection.query(shown);
        await this.#refuseChanged();
        return written;
      });
      whole = true;
      return result;
    } catch (error) {
      throw this.#fault(error);
    } finally {
      await this.#giveBack(connection, whole);
    }
  }

  async *stream(statement: Statement): AsyncIterable<Exact<Chunk>> {
    const connection = await this.#lease();
    let whole = false;
    let passed = false;
    const timer = setTimeout(() => {
      passed = true;
      connection.destroy();
    }, this.#pinned.left());
    try {
      const numbering = statement.numbered && textNumbering();
      for await (const block of connection.blocks(this.schema.showShort(statement), atOnce))
        yield new Exact(postgresChunk(block, numbering));
      await connection.within(this.#pinned.left(), () => this.#refuseChanged());
      whole = true;
    } catch (error) {
      throw passed ? postgresTimeout() : this.#fault(error);
    } finally {
      clearTimeout(timer);
      await this.#giveBack(connection, whole);
    }
  }

  /** One check after the other: a connection is for one statement at a time. */
  #refuseChanged(): Promise<void> {
    return this.#checkInTurn(async () => {
      // By then another caller may use the connection.
      if (this.#closed) throw databaseClosed();
      const { holder, schema, marks } = this.#pinned;
      await refuseCatalogChange(holder, schema, marks);
    });
  }

  #fault(error: unknown): Error {
    return this.#pinned.pool.isClosed || this.#closed ? databaseClosed() : postgresFault(error);
  }

  async #lease(): Promise<PostgresConnection> {
    const { pool, snapshot, left } = this.#pinned;
    if (this.#closed) throw databaseClosed();
    pool.refuseClosed();
    if (left() <= 0) throw postgresTimeout();
    await this.#turns.enter(left());
    let connection: PostgresConnection | undefined;
    try {
      while (this.#idle.length > 0) {
        connection = this.#idle.pop()!;
        if (connection.usable) return connection;
        pool.drop(connection);
      }
      connection = await pool.take();
      const begin = `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET TRANSACTION SNAPSHOT '${snapshot}'`;
      await connection.within(left(), (open) => open.begin(`${begin}; SAVEPOINT fugu_reading`));
      this.logged.add(connection.name);
      return connection;
    } catch (error) {
      this.#turns.leave();
      if (connection) pool.drop(connection);
      throw this.#fault(error);
    }
  }

  /**
   * An idle connection holds no lock: a session waiting for one would wait until the release ends,
   * and block our other statements. Changes in the meantime are detected after the next statement.
   */
  async #giveBack(connection: PostgresConnection, whole: boolean): Promise<void> {
    const { pool, left } = this.#pinned;
    const unlocked =
      whole &&
      connection.usable &&
      (await connection.within(left(), (open) => open.run('ROLLBACK TO SAVEPOINT fugu_reading')).catch(() => undefined));
    if (!unlocked || !connection.usable) pool.drop(connection);
    else if (this.#closed) void pool.giveBack(connection);
    else this.#idle.push(connection);
    this.#turns.leave();
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    const { pool, holder } = this.#pinned;
    this.#turns.refuseAll();
    await Promise.all([holder, ...this.#idle.splice(0)].map((connection) => pool.giveBack(connection)));
    pool.pins.leave();
  }
}
