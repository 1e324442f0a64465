import type { Fault } from '../../../base/errors.js';
import { setTimeout as sleep } from '../../../base/platform/timers.js';
import { PostgresConnection } from '../../../data/engine/postgres/connection.js';
import { refuseServer } from '../../../data/engine/postgres/server.js';
import { readAddress } from '../../../policy/address.js';
import type { StoredLink } from '../chain/chain.js';
import { busyFault } from '../faults.js';
import { isLost, isUndone, serverFault } from './fault.js';

/** Time to wait for the lock, and for a server that is starting again. */
const lockTimeout = 30_000;
/** Longer than any of our statements should take once it has the lock. */
const deadline = 2 * lockTimeout;

/**
 * Commits wait for the disk, whatever the defaults of server, database or user. No statement timeout: one that ends a commit
 * waiting for a second server would report it as done. A session that is idle while it holds the lock loses it.
 */
const settings = [
  'SET default_transaction_read_only = off',
  'SET statement_timeout = 0',
  `SET lock_timeout = ${lockTimeout}`,
  `SET idle_in_transaction_session_timeout = ${deadline}`,
  "SELECT set_config('synchronous_commit', CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, false)",
].join('; ');

/** The one lock. `mark` has one row. */
export const lock = 'SELECT 1 FROM fugu_ledger.mark WHERE one = 1 FOR UPDATE';

const instead = 'Use one who may write the tables of the ledger and nothing else: docs/how-to/postgres.md says how to make one.';

/** One pooled connection, opened again when it was lost. */
export class LedgerServer {
  readonly place: string;
  #idle: PostgresConnection | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(place: string) {
    this.place = place;
  }

  /** A separate connection. */
  async connect(): Promise<PostgresConnection> {
    const toFault = (error: unknown): Fault => serverFault(error, this.place, true);
    const password = process.env.FUGU_LEDGER_PASSWORD;
    const entering = { also: settings, asFault: toFault, ...(password !== undefined && { password }) };
    const connection = await PostgresConnection.connect(readAddress(this.place), deadline, entering);
    try {
      await this.#within(connection, (c) => refuseServer(c, instead));
      return connection;
    } catch (error) {
      connection.destroy();
      throw serverFault(error, this.place);
    }
  }

  /** One after the other within a process; others wait at the lock. Any failure ends the connection. */
  transaction<T>(
    begin: string,
    work: (connection: PostgresConnection, begun: Awaited<ReturnType<PostgresConnection['runAll']>>) => Promise<T>,
  ): Promise<T> {
    const done = this.#turn.then(() => this.#run(begin, work));
    this.#turn = done.catch(() => undefined);
    return done;
  }

  async #run<T>(
    begin: string,
    work: (connection: PostgresConnection, begun: Awaited<ReturnType<PostgresConnection['runAll']>>) => Promise<T>,
  ): Promise<T> {
    if (this.#closed) throw busyFault(this.place);
    let connection = this.#idle?.usable ? this.#idle : undefined;
    const kept = connection !== undefined;
    this.#idle = undefined;
    connection ??= await this.connect();
    try {
      const begun = await this.#within(connection, (c) => c.begin(begin)).catch(async (error: unknown) => {
        // A pooled connection may have been closed by the server meanwhile: nothing was sent on it yet.
        if (!kept || !isLost(error)) throw error;
        connection!.destroy();
        connection = await this.connect();
        return this.#within(connection, (c) => c.begin(begin));
      });
      const open = connection;
      const result = await this.#within(open, (c) => work(c, begun));
      if (this.#closed) await open.end();
      else this.#idle = open;
      return result;
    } catch (error) {
      connection.destroy();
      throw serverFault(error, this.place);
    }
  }

  /** A timeout ends like a lost connection, so that the result of a commit is always looked up. */
  async #within<T>(connection: PostgresConnection, work: (connection: PostgresConnection) => Promise<T>): Promise<T> {
    const timer = setTimeout(() => connection.destroy(), deadline);
    try {
      return await work(connection);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Commits and returns the state of the added links: `unknown` where the server could not be reached in time. */
  async commit(
    connection: PostgresConnection,
    last: StoredLink | undefined,
  ): Promise<{ readonly state: 'committed' | 'undone' | 'unknown'; readonly error?: unknown }> {
    try {
      const { command } = await connection.run('COMMIT');
      return command === 'COMMIT' ? { state: 'committed' } : { state: 'undone' };
    } catch (error) {
      if (isUndone(error) || !last) return { state: 'undone', error };
      return { state: await this.#lookFor(last), error };
    }
  }

  /** Holding the lock proves that the lost transaction has ended, one way or the other. */
  async #lookFor({ sequence, hash }: StoredLink): Promise<'committed' | 'undone' | 'unknown'> {
    const until = performance.now() + lockTimeout;
    do {
      let connection: PostgresConnection | undefined;
      try {
        connection = await this.connect();
        await connection.begin(`BEGIN ISOLATION LEVEL READ COMMITTED; ${lock}`);
        const { rows } = await connection.query({
          sql: 'SELECT hash FROM fugu_ledger.link WHERE sequence = $1',
          values: [sequence],
        });
        await connection.run('ROLLBACK');
        return rows[0]?.[0] === hash ? 'committed' : 'undone';
      } catch {
        await sleep(200);
      } finally {
        connection?.destroy();
      }
    } while (performance.now() < until);
    return 'unknown';
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#turn;
    await this.#idle?.end();
    this.#idle = undefined;
  }
}
