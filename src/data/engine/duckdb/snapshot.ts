import type { DuckDBConnection } from '@duckdb/node-api';
import { Fault } from '../../../base/errors.js';
import { changedMeanwhile, contentDigest, fileState } from '../data-file.js';
import type { Cell, Snapshot, Statement } from '../engine.js';
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
  readonly kept: HeldResults;
}

export interface DuckdbShared {
  readonly source: EngineSource;
  readonly room: number;
  /** Bytes that the database may hold. */
  readonly memory: number;
  readonly connections: Connections;
  /** One after the other, where several at once would need the memory several times. */
  readonly inTurn: <T>(read: () => Promise<T>) => Promise<T>;
}

export function duckdbSnapshot(held: HeldData, shared: DuckdbShared, left: TimeLeft, release: () => Promise<void>): Snapshot {
  const { source, room, memory, connections } = shared;
  const { loaded, counts, kept } = held;
  let closed = false;
  const use = <T>(work: (lease: Lease) => Promise<T>) => connections.use(work, undefined, left());
  /** Each reader of a CSV fills buffers of its own and uses every thread: in turn they need the memory once. */
  const needsTurn = loaded.watched.some(({ kind }) => kind === 'csv' || kind === 'statfile');
  const read = <T>(work: (lease: Lease) => Promise<T>) => (needsTurn ? shared.inTurn(() => use(work)) : use(work));

  const countOf = async (connection: DuckDBConnection, statement: Statement): Promise<number> => {
    if (statement.everyRow && held.size !== undefined) return held.size;
    const { sql, values } = loaded.show(statement);
    const key = JSON.stringify([sql, values.map(String)]);
    const known = counts.get(key);
    if (known !== undefined) return known;
    const rows = await countRows(connection, `(${sql})`, values);
    counts.set(key, rows);
    return rows;
  };

  const data: Snapshot = {
    dialect: duckdb,
    get whole() {
      return data;
    },
    source,
    room,
    moment: held,
    id: async () => dataDigest(source, await Promise.all(loaded.files.map(contentDigest))),
    columns: async (table) => (table === undefined ? loaded.columns : loaded.tableColumns.get(table)!),
    beneath: async (values) => ({ from: allRows, values }),
    size: async () => {
      held.size ??= await use(({ connection }) => countOf(connection, { sql: 'SELECT 1 FROM fugu_data', values: [] }));
      return new Exact(held.size);
    },
    hold: (statement, columns) =>
      kept.hold(loaded.show(statement), columns, Math.floor(memory / heldShare / cellRoom), (write) =>
        read(async ({ connection }) => {
          const rows = await write(connection);
          await refuseChange(loaded);
          return rows;
        }).catch(notHeld),
      ),
    rows: (statement) =>
      read(async (lease) => {
        const result = await (await lease.prepare(loaded.show(statement))).run();
        const rows: Cell[][] = [];
        for (let c = 0; c < result.chunkCount; c++) {
          const { rows: length, columns } = readChunk(result.getChunk(c));
          for (let i = 0; i < length; i++) rows.push(columns.map((column) => column[i]!));
        }
        await refuseChange(loaded);
        return new Exact(rows);
      }),
    count: async (statement) => new Exact(await read(({ connection }) => countOf(connection, statement))),
    /**
     * The driver ends a stream in the same way after the last row and after an error in the middle (an interrupt, no memory, a failed read), so the end is
     * believed only when as many rows came as the statement has.
     */
    stream: async function* (statement) {
      const lease = await connections.lease(left());
      let whole = false;
      try {
        const expected = await countOf(lease.connection, statement);
        const numbers = statement.numbered && new TextNumbers();
        let came = 0;
        const result = await (await lease.prepare(loaded.show(statement))).stream();
        for (let chunk = await result.fetchChunk(); chunk && chunk.rowCount > 0; chunk = await result.fetchChunk()) {
          came += chunk.rowCount;
          yield new Exact(readChunk(chunk, numbers));
        }
        if (came !== expected) throw new Error('cut off');
        await refuseChange(loaded);
        whole = true;
      } catch (error) {
        throw lease.fault(error);
      } finally {
        lease.done(whole);
      }
    },
    close: async () => {
      if (closed) return;
      closed = true;
      await release();
    },
  };
  return data;
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
