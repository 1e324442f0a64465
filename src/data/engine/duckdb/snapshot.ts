import type { DuckDBConnection } from '@duckdb/node-api';
import { Fault } from '../../../base/errors.js';
import { changedMeanwhile, contentDigest, fileState } from '../data-file.js';
import type { Cell, Chunk, HeldRows, Snapshot, SourceColumn, Statement } from '../engine.js';
import { Exact } from '../exact.js';
import { dataDigest, type EngineSource } from '../source.js';
import type { TimeLeft } from '../time-left.js';
import { allRows } from '../without-rows.js';
import { readChunk } from './cells.js';
import type { Connections, Lease } from './connections.js';
import { duckdb } from './dialect.js';
import type { HeldResults } from './held-results.js';
import { countRows, type LoadedData, leastColumn } from './loading.js';
import { TextNumbers } from './text-numbers.js';

/** Share of memory for all results stored from one state of the data, and the bytes assumed per cell. */
const heldShare = 8;
const cellRoom = 64;
export const leastRows = Math.ceil(leastColumn / cellRoom);

/** Loaded data, its number of snapshots, and figures known about it. */
export interface HeldData {
  readonly loaded: LoadedData;
  pins: number;
  size: number | undefined;
  /** Rows each streamed statement has. */
  readonly counts: Map<string, number>;
  /** Results computed from it once. */
  readonly kept: HeldResults;
}

/** State shared by all snapshots of an engine. */
export interface DuckdbShared {
  readonly source: EngineSource;
  readonly room: number;
  /** Bytes that the database may hold. */
  readonly memory: number;
  readonly connections: Connections;
  /** One after the other, where several at once would need the memory several times. */
  readonly inTurn: <T>(read: () => Promise<T>) => Promise<T>;
}

export class DuckdbSnapshot implements Snapshot {
  readonly dialect = duckdb;
  readonly whole = this;
  readonly source: EngineSource;
  readonly room: number;
  readonly #held: HeldData;
  readonly #loaded: LoadedData;
  readonly #connections: Connections;
  readonly #turn: DuckdbShared['inTurn'];
  readonly #left: TimeLeft;
  readonly #memory: number;
  readonly #letGo: () => Promise<void>;

  constructor(held: HeldData, reading: DuckdbShared, left: TimeLeft, letGo: () => Promise<void>) {
    const { source, room, memory, connections, inTurn } = reading;
    this.source = source;
    this.room = room;
    this.#held = held;
    this.#loaded = held.loaded;
    this.#connections = connections;
    this.#turn = inTurn;
    this.#left = left;
    this.#memory = memory;
    this.#letGo = letGo;
  }

  get moment(): object {
    return this.#held;
  }

  async id(): Promise<string> {
    return dataDigest(this.source, await Promise.all(this.#loaded.files.map(contentDigest)));
  }

  async columns(table?: string): Promise<readonly SourceColumn[]> {
    return table === undefined ? this.#loaded.columns : this.#loaded.tableColumns.get(table)!;
  }

  async beneath(values: Statement['values']) {
    return { from: allRows, values };
  }

  async size(): Promise<Exact<number>> {
    this.#held.size ??= await this.#use(({ connection }) =>
      this.#count(connection, { sql: 'SELECT 1 FROM fugu_data', values: [] }),
    );
    return new Exact(this.#held.size);
  }

  hold(statement: Statement, columns: number): Promise<HeldRows | undefined> {
    const room = Math.floor(this.#memory / heldShare / cellRoom);
    return this.#held.kept.hold(this.#loaded.show(statement), columns, room, (write) =>
      this.#inTurn(() =>
        this.#use(async ({ connection }) => {
          const held = await write(connection);
          await refuseChange(this.#loaded);
          return held;
        }).catch(notHeld),
      ),
    );
  }

  rows(statement: Statement): Promise<Exact<readonly (readonly Cell[])[]>> {
    return this.#inTurn(() => this.#rows(statement));
  }

  /** Each reader of a CSV fills buffers of its own and uses every thread: in turn they need the memory once. */
  #inTurn<T>(read: () => Promise<T>): Promise<T> {
    return this.#loaded.watched.every(({ kind }) => kind !== 'csv' && kind !== 'statfile') ? read() : this.#turn(read);
  }

  async #rows(statement: Statement): Promise<Exact<readonly (readonly Cell[])[]>> {
    return this.#use(async (lease) => {
      const result = await (await lease.prepare(this.#loaded.show(statement))).run();
      const rows: Cell[][] = [];
      for (let c = 0; c < result.chunkCount; c++) {
        const { rows: length, columns } = readChunk(result.getChunk(c));
        for (let i = 0; i < length; i++) rows.push(columns.map((column) => column[i]!));
      }
      await refuseChange(this.#loaded);
      return new Exact(rows);
    });
  }

  /**
   * The driver ends a stream in the same way after the last row and after an error in the middle (an interrupt, no memory, a failed read), so the end is
   * believed only when as many rows came as the statement has.
   */
  async *stream(statement: Statement): AsyncIterable<Exact<Chunk>> {
    const lease = await this.#connections.lease(this.#left());
    let whole = false;
    try {
      const expected = await this.#count(lease.connection, statement);
      const numbers = statement.numbered && new TextNumbers();
      let came = 0;
      const result = await (await lease.prepare(this.#loaded.show(statement))).stream();
      for (let chunk = await result.fetchChunk(); chunk && chunk.rowCount > 0; chunk = await result.fetchChunk()) {
        came += chunk.rowCount;
        yield new Exact(readChunk(chunk, numbers));
      }
      if (came !== expected) throw new Error('cut off');
      await refuseChange(this.#loaded);
      whole = true;
    } catch (error) {
      throw lease.fault(error);
    } finally {
      lease.done(whole);
    }
  }

  async count(statement: Statement): Promise<Exact<number>> {
    return new Exact(await this.#inTurn(() => this.#use(({ connection }) => this.#count(connection, statement))));
  }

  #use<T>(work: (lease: Lease) => Promise<T>): Promise<T> {
    return this.#connections.use(work, undefined, this.#left());
  }

  async #count(connection: DuckDBConnection, statement: Statement): Promise<number> {
    const { size, counts } = this.#held;
    if (statement.everyRow && size !== undefined) return size;
    const { sql, values } = this.#loaded.show(statement);
    const key = JSON.stringify([sql, values.map(String)]);
    const known = counts.get(key);
    if (known !== undefined) return known;
    const rows = await countRows(connection, `(${sql})`, values);
    counts.set(key, rows);
    return rows;
  }

  #closed = false;
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#letGo();
  }
}

/** Long cells may take more memory than estimated: holding a result may speed up an answer, never make it fail. */
function notHeld(error: unknown): undefined {
  if (error instanceof Fault && (error.code === 'ENGINE_MEMORY' || error.code === 'DISK_FULL')) return undefined;
  throw error;
}

/** An answer over two states of a file belongs to neither. Relations, and what is held, were copied when they were loaded. */
async function refuseChange({ watched }: LoadedData): Promise<void> {
  for (const { path, mark } of watched) if ((await fileState(path)).mark !== mark) throw changedMeanwhile();
}
