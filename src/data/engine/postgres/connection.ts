import type { Socket } from 'node:net';
import pg from 'pg';
import type { Fault } from '../../../base/errors.js';
import { randomUUID } from '../../../base/platform/random.js';
import type { DatabaseAddress } from '../../../policy/address.js';
import type { Statement } from '../engine.js';
import { tlsOptions, userName } from '../server-access.js';
import { RowBlocks } from './blocks.js';
import { postgresFault, postgresTimeout, schemaChanged } from './fault.js';

/** Longest time, in milliseconds, to connect. */
const patience = 15_000;

/** Cells come as the server writes them; cells.ts reads them. */
const asWritten = { getTypeParser: () => (written: string) => written } as unknown as pg.CustomTypesConfig;

export interface PostgresField {
  readonly name: string;
  readonly dataTypeID: number;
  /** In bytes; below 0 where cells differ. */
  readonly dataTypeSize: number;
  readonly dataTypeModifier: number;
}
export interface RawRows {
  readonly fields: readonly PostgresField[];
  readonly rows: readonly (readonly (string | null)[])[];
  /** Command tag, as the server reports it. */
  readonly command?: string;
}

/**
 * Settings of every connection, whatever the defaults of server, database or user: read-only, a fixed search path,
 * one text form of dates and numbers, the user of the address. The server stops a statement whose client is gone.
 */
const settings = (deadline: number): string =>
  [
    `SET statement_timeout = ${Math.ceil(deadline)}`,
    'SET default_transaction_read_only = on',
    "SET search_path = 'pg_catalog'",
    "SET client_encoding = 'UTF8'",
    'SET standard_conforming_strings = on',
    "SET datestyle = 'ISO, YMD'",
    "SET intervalstyle = 'iso_8601'",
    "SET timezone = 'UTC'",
    "SET bytea_output = 'hex'",
    "SET lc_monetary = 'C'",
    "SET lc_numeric = 'C'",
    "SET lc_time = 'C'",
    'SET extra_float_digits = 1',
    'SET quote_all_identifiers = off',
    'SET transform_null_equals = off',
    'SET array_nulls = on',
    "SET xmlbinary = 'base64'",
    "SET xmloption = 'content'",
    "SET timezone_abbreviations = 'Default'",
    // Views and row security ask who reads; a setting of a role holds from one connection to the next, so that two of one release might be two readers.
    'SET ROLE NONE',
    'SET row_security = on',
    // An index would hand out some of the rows, by chance.
    'SET gin_fuzzy_search_limit = 0',
    'SET lock_timeout = 0',
    // The connection that holds a snapshot is idle for as long as a release takes.
    `SELECT set_config(name, '0', false) FROM pg_settings WHERE name IN ('idle_in_transaction_session_timeout', 'idle_session_timeout', 'transaction_timeout')`,
  ].join('; ');
/** Not on every system: there a statement goes on until its deadline. */
const noticing = "SET client_connection_check_interval = '1s'";

/** Options of a connection that does not only read. */
export interface ConnectOptions {
  /** Otherwise that of the environment, or of ~/.pgpass. */
  readonly password?: string;
  /** Statements that follow the settings of every connection, and may undo them. */
  readonly also?: string;
  /** Fault to report when the connection is refused. */
  readonly asFault?: (error: unknown) => Fault;
}

/** One connection, for one statement at a time. Once something has gone wrong in it, it is not used again. */
export class PostgresConnection {
  readonly #client: pg.Client;
  /** Callers that wait for the server; rejected when the connection is lost. */
  readonly #waiting = new Set<(error: unknown) => void>();
  /** Known to this session of the server and to no other. */
  readonly #mark = randomUUID();
  #broken = false;

  private constructor(client: pg.Client) {
    this.#client = client;
    const gone = (error: unknown) => {
      this.#broken = true;
      for (const reject of this.#waiting) reject(error);
    };
    client.on('error', gone);
    client.on('end', () => gone(Object.assign(new Error('ended'), { code: '08006' })));
  }

  static async connect(
    address: DatabaseAddress,
    deadline: number,
    { password, also, asFault }: ConnectOptions = {},
  ): Promise<PostgresConnection> {
    const client = new pg.Client({
      ssl: tlsOptions(address) ?? false,
      host: address.host,
      port: address.port,
      database: address.database,
      user: userName(address.user, 'PGUSER'),
      ...(password !== undefined && { password }),
      keepAlive: true,
      application_name: 'fugu',
    });
    const connection = new PostgresConnection(client);
    let passed = false;
    const timer = setTimeout(() => {
      passed = true;
      connection.destroy();
    }, patience);
    try {
      await connection.#guarded(async () => {
        await client.connect();
        await client.query(`${settings(deadline)}; SET fugu.session = '${connection.#mark}'`);
        await client.query(noticing).catch(() => undefined);
        if (also !== undefined) await client.query(also);
      });
      return connection;
    } catch (error) {
      connection.destroy();
      const cause = passed ? Object.assign(new Error('late'), { code: 'ETIMEDOUT' }) : error;
      throw asFault?.(cause) ?? postgresFault(cause, true);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Process id of the server for this connection, as in the server's log. */
  get name(): string {
    return `pid ${(this.#client as unknown as { processID: number | null }).processID}`;
  }

  get usable(): boolean {
    return !this.#broken;
  }

  /** Several statements without values at once. */
  async runAll(sql: string): Promise<readonly RawRows[]> {
    return this.#guarded(async () => {
      const result = (await this.#client.query({ text: sql, rowMode: 'array', types: asWritten })) as unknown;
      return (Array.isArray(result) ? result : [result]) as readonly RawRows[];
    });
  }
  /**
   * Several statements of which the first begins a transaction: still in the session that was set up. A pooler that hands out sessions by transaction gives another,
   * in which nothing is as it was set: dates are spelt otherwise, and commits do not wait for the disk.
   */
  async begin(sql: string): Promise<readonly RawRows[]> {
    const results = await this.runAll(`${sql}; SELECT current_setting('fugu.session', true)`);
    if (results.at(-1)!.rows[0]?.[0] !== this.#mark) {
      this.destroy();
      throw schemaChanged();
    }
    return results.slice(0, -1);
  }
  /** The rows of the last. */
  async run(sql: string): Promise<RawRows> {
    return (await this.runAll(sql)).at(-1)!;
  }

  async query({ sql, values }: Statement): Promise<RawRows> {
    const config: pg.QueryArrayConfig = { text: sql, values: [...values], rowMode: 'array', types: asWritten };
    return this.#guarded(async () => (await this.#client.query(config)) as unknown as RawRows);
  }

  async *blocks(statement: Statement, rowsAtOnce: (fields: number) => number): AsyncGenerator<RawRows> {
    const blocks = new RowBlocks(statement, asWritten, this.#stream, rowsAtOnce);
    this.#client.query(blocks.query);
    try {
      for (let block = await this.#guarded(() => blocks.next()); block; block = await this.#guarded(() => blocks.next()))
        yield block;
    } finally {
      // Stopped early: the remaining rows are not needed, and a server that does not respond is not waited for.
      if (!blocks.ended) this.destroy();
    }
  }

  /** Losing the connection ends the wait. */
  async #guarded<T>(work: () => Promise<T>): Promise<T> {
    let refuse: (error: unknown) => void = () => undefined;
    const gone = new Promise<never>((_, reject) => {
      refuse = reject;
    });
    this.#waiting.add(refuse);
    try {
      return await Promise.race([work(), gone]);
    } catch (error) {
      this.#broken = true;
      throw error;
    } finally {
      this.#waiting.delete(refuse);
    }
  }

  /** Ends in time, or with the fault of a deadline; the connection is destroyed then. */
  async within<T>(deadline: number, work: (connection: this) => Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const passed = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject(postgresTimeout());
        this.destroy();
      }, deadline);
    });
    try {
      return await Promise.race([work(this), passed]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Closes at once without notifying the server, which stops the statement when it detects the lost connection. */
  destroy(): void {
    this.#broken = true;
    for (const reject of this.#waiting) reject(Object.assign(new Error('destroyed'), { code: '08006' }));
    this.#stream.destroy();
  }

  get #stream(): Socket {
    return (this.#client as unknown as { connection: { stream: Socket } }).connection.stream;
  }

  /** Does not wait for a server that does not answer. */
  async end(): Promise<void> {
    this.#broken = true;
    await Promise.race([this.#client.end().catch(() => undefined), new Promise((waited) => setTimeout(waited, 1000).unref())]);
    this.destroy();
  }
}
