import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { Fault } from '../errors.js';
import { duckdbFault } from './duckdb-fault.js';

const closed = () => new Fault('ENGINE_FAILED', 'The database is closed.', 'Open it again.');

/** A connection for one statement or stream, with its deadline. `fault` says what an error in it means; `done` must follow. */
export interface Lease {
  readonly connection: DuckDBConnection;
  fault(error: unknown, file?: string): Fault;
  done(): void;
}

/** Hands out connections: one per statement, so that statements run side by side and each can be stopped by itself. */
export class Connections {
  readonly #instance: DuckDBInstance;
  readonly #deadline: number;
  /** Statements under way: how to stop each, and when it has ended. */
  readonly #running = new Map<() => void, Promise<void>>();
  #closed = false;

  constructor(instance: DuckDBInstance, deadline: number) {
    this.#instance = instance;
    this.#deadline = deadline;
  }

  async lease(): Promise<Lease> {
    if (this.#closed) throw closed();
    const connection = await this.#instance.connect();
    const stop = () => connection.interrupt();
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      stop();
    }, this.#deadline);
    let ended = () => {};
    this.#running.set(stop, new Promise<void>((resolve) => (ended = resolve)));
    return {
      connection,
      fault: (error, file) => (this.#closed ? closed() : duckdbFault(error, { late, ...(file !== undefined && { file }) })),
      done: () => {
        clearTimeout(timer);
        this.#running.delete(stop);
        connection.closeSync();
        ended();
      },
    };
  }

  /** Runs the work on a connection of its own; a complaint about input is one about `file` while that is being opened. */
  async use<T>(work: (connection: DuckDBConnection) => Promise<T>, file?: string): Promise<T> {
    const { connection, fault, done } = await this.lease();
    try {
      return await work(connection);
    } catch (error) {
      throw fault(error, file);
    } finally {
      done();
    }
  }

  /** Stops what is under way first: a statement left running would go on without its engine. False when it was closed before. */
  async close(): Promise<boolean> {
    if (this.#closed) return false;
    this.#closed = true;
    for (const stop of this.#running.keys()) stop();
    await Promise.race([Promise.all(this.#running.values()), new Promise((waited) => setTimeout(waited, 5000).unref())]);
    this.#instance.closeSync();
    return true;
  }
}
