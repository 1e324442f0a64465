import type { DuckDBConnection, DuckDBInstance, DuckDBPreparedStatement } from '@duckdb/node-api';
import type { Fault } from '../../../base/errors.js';
import { databaseClosed, type Statement } from '../engine.js';
import { duckdbFault } from './fault.js';

/** A connection for one statement or stream, with its deadline. `fault` interprets its errors; `done` must be called afterwards. */
export interface Lease {
  readonly connection: DuckDBConnection;
  /** The statement with its values, ready to run; parsed and planned once while the data stays as it is. */
  prepare(statement: Statement): Promise<DuckDBPreparedStatement>;
  fault(error: unknown, file?: string): Fault;
  /** `whole`: everything was read to its end, so the connection can serve again. */
  done(whole: boolean): void;
}

/** Connections at rest, and statements remembered on each. */
const mostIdle = 4;
const mostPrepared = 32;

class Connected {
  readonly connection: DuckDBConnection;
  readonly #prepared = new Map<string, DuckDBPreparedStatement>();

  constructor(connection: DuckDBConnection) {
    this.connection = connection;
  }

  async prepare({ sql, values }: Statement): Promise<DuckDBPreparedStatement> {
    const known = this.#prepared.get(sql);
    const prepared = known ?? (await this.connection.prepare(sql));
    // The map keeps the order of use: its first entry was used longest ago.
    this.#prepared.delete(sql);
    this.#prepared.set(sql, prepared);
    if (this.#prepared.size > mostPrepared) {
      const [oldest, statement] = this.#prepared.entries().next().value!;
      this.#prepared.delete(oldest);
      statement.destroySync();
    }
    if (values.length > 0) prepared.bind([...values]);
    return prepared;
  }

  close(): void {
    this.connection.closeSync();
  }
}

/** Hands out connections: one per statement, so that statements run side by side and each can be stopped by itself. */
export class Connections {
  readonly #instance: DuckDBInstance;
  readonly #deadline: number;
  /** Statements under way: how to stop each, and when it has ended. */
  readonly #running = new Map<() => void, Promise<void>>();
  #idle: Connected[] = [];
  /** Counts the changes of the data: a connection from before one is not used again. */
  #era = 0;
  #closed = false;

  constructor(instance: DuckDBInstance, deadline: number) {
    this.#instance = instance;
    this.#deadline = deadline;
  }

  refuseClosed(): void {
    if (this.#closed) throw databaseClosed();
  }

  /** `deadline`: of a statement whose release has less time left than any statement has. */
  async lease(deadline = this.#deadline): Promise<Lease> {
    this.refuseClosed();
    if (deadline <= 0) throw duckdbFault(undefined, { late: true });
    const era = this.#era;
    const connected = this.#idle.pop() ?? (await this.#connect());
    const { connection } = connected;
    let stopped = false;
    let again: NodeJS.Timeout | undefined;
    // An interrupt sent just before a statement starts is lost, so it is repeated until the statement has ended.
    const stop = () => {
      stopped = true;
      connection.interrupt();
      again ??= setInterval(() => connection.interrupt(), 50);
    };
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      stop();
    }, deadline);
    let ended = () => {};
    this.#running.set(stop, new Promise<void>((resolve) => (ended = resolve)));
    return {
      connection,
      prepare: (statement) => connected.prepare(statement),
      fault: (error, file) =>
        this.#closed ? databaseClosed() : duckdbFault(error, { late, ...(file !== undefined && { file }) }),
      done: (whole) => {
        clearTimeout(timer);
        clearInterval(again);
        this.#running.delete(stop);
        // An interrupt may still be on its way to a connection that was stopped.
        const reusable = whole && !stopped && !this.#closed && era === this.#era && this.#idle.length < mostIdle;
        if (reusable) this.#idle.push(connected);
        else connected.close();
        ended();
      },
    };
  }

  async #connect(): Promise<Connected> {
    const connected = await this.#instance.connect().then(
      (connection) => new Connected(connection),
      (error: unknown) => {
        throw this.#closed ? databaseClosed() : duckdbFault(error);
      },
    );
    // Closing interrupts running statements, but this connection was not registered yet.
    if (!this.#closed) return connected;
    connected.close();
    throw databaseClosed();
  }

  /** Runs the work on a connection of its own; a complaint about input is one about `file` while that is being opened. */
  async use<T>(work: (lease: Lease) => Promise<T>, file?: string, deadline?: number): Promise<T> {
    const lease = await this.lease(deadline);
    let whole = false;
    try {
      const result = await work(lease);
      whole = true;
      return result;
    } catch (error) {
      throw lease.fault(error, file);
    } finally {
      lease.done(whole);
    }
  }

  /** Forgets what was prepared: it may hold on to data, or a view of it, that has been replaced. */
  renew(): void {
    this.#era++;
    for (const connected of this.#idle) connected.close();
    this.#idle = [];
  }

  /** Stops what is under way first: a statement left running would go on without its engine. False when it was closed before. */
  async close(): Promise<boolean> {
    if (this.#closed) return false;
    this.#closed = true;
    this.renew();
    for (const stop of this.#running.keys()) stop();
    await Promise.race([Promise.all(this.#running.values()), new Promise((waited) => setTimeout(waited, 5000).unref())]);
    this.#instance.closeSync();
    return true;
  }
}
