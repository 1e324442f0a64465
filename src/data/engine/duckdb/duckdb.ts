import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { Fault } from '../../../base/errors.js';
import { sha256 } from '../../../base/platform/hash.js';
import { type FileState, fileState } from '../data-file.js';
import type { Engine, EngineLimits } from '../engine.js';
import { inTurn, once } from '../once.js';
import type { EngineSource } from '../source.js';
import { makeTempFolder, removeTempFolder } from '../temp-folder.js';
import { timeLeft } from '../time-left.js';
import { engineWithout, unlessNamed } from '../without-rows.js';
import { Connections } from './connections.js';
import { duckdb } from './dialect.js';
import { duckdbFault } from './fault.js';
import { HeldResults } from './held-results.js';
import { filesOf, type LoadedData, Loader } from './loading.js';
import { duckdbSnapshot, type HeldData, leastRows } from './snapshot.js';

export async function openDuckdb(source: EngineSource, limits: EngineLimits): Promise<Engine> {
  const files = await Promise.all(filesOf(source).map(fileState));
  const folder = await makeTempFolder();
  let instance: DuckDBInstance | undefined;
  try {
    instance = await DuckDBInstance.create(':memory:', {
      memory_limit: `${Math.ceil(limits.memory / 1024)}KiB`,
      temp_directory: folder,
      max_temp_directory_size: `${Math.ceil(limits.spill / 1024)}KiB`,
      threads: String(limits.threads),
      preserve_insertion_order: 'false',
      autoinstall_known_extensions: 'false',
      autoload_known_extensions: 'false',
    });
    const connections = new Connections(instance, limits.deadline);
    const loader = new Loader(source, limits, folder, connections);
    await loader.seal(files);
    return duckdbEngine({ source, limits, folder, connections, loader }, await loader.load());
  } catch (error) {
    instance?.closeSync();
    await removeTempFolder(folder);
    throw duckdbFault(error);
  }
}

interface OpenDatabase {
  readonly source: EngineSource;
  readonly limits: EngineLimits;
  readonly folder: string;
  readonly connections: Connections;
  readonly loader: Loader;
}

/** Files are loaded when they have changed; an earlier state stays while a snapshot uses it. */
function duckdbEngine({ source, limits, folder, connections, loader }: OpenDatabase, loaded: LoadedData): Engine {
  const room = limits.room ?? limits.memory;
  const shared = { source, room, memory: limits.memory, connections, inTurn: inTurn() };
  /** One at a time, so that a change is taken in once. */
  const presentInTurn = inTurn();
  const nameTables: Record<string, Promise<string>> = {};
  let held = holding(loaded);

  const present = async (): Promise<HeldData> => {
    connections.refuseClosed();
    const { files } = held.loaded;
    const now = await Promise.all(files.map(({ path }) => fileState(path)));
    if (!sameMarks(now, files)) {
      // A database was attached once and for all: what lies under its name now is not what would be read.
      if (now[0]!.kind === 'duckdb' && now[0]!.mark !== files[0]!.mark) throw replaced();
      const former = held;
      held = holding(await loader.load());
      if (former.pins === 0) await loader.drop(tablesIn(former));
    }
    held.pins++;
    return held;
  };
  const release = async (data: HeldData): Promise<void> => {
    data.pins--;
    if (data.pins === 0 && data !== held) await loader.drop(tablesIn(data));
  };

  const engine: Engine = {
    dialect: duckdb,
    get whole() {
      return engine;
    },
    source,
    room,
    snapshot: async () => {
      const left = timeLeft(limits);
      const data = await presentInTurn(present);
      return duckdbSnapshot(data, shared, left, () => release(data));
    },
    without: (column, names) =>
      engineWithout(engine, column, async () => {
        // Written once and never changed: engines without the same names share the table.
        const digest = sha256(JSON.stringify([...names].sort()));
        const table = await once(nameTables, digest, () =>
          connections.use(({ connection }) => writeNames(connection, `fugu_without_${digest.slice(0, 32)}`, names)),
        );
        return unlessNamed(() => `SELECT name FROM main.${table}`);
      }),
    close: async () => {
      if (await connections.close()) await removeTempFolder(folder);
    },
  };
  return engine;
}

async function writeNames(connection: DuckDBConnection, table: string, names: readonly string[]): Promise<string> {
  await connection.run(`CREATE OR REPLACE TABLE ${table} (name VARCHAR)`);
  const appender = await connection.createAppender(table);
  for (const own of names) {
    appender.appendVarchar(own);
    appender.endRow();
  }
  appender.closeSync();
  return table;
}

const holding = (loaded: LoadedData): HeldData => ({
  loaded,
  pins: 0,
  size: loaded.rows,
  counts: new Map(),
  kept: new HeldResults(leastRows),
});

const tablesIn = ({ loaded, kept }: HeldData): readonly string[] => [...loaded.tables, ...kept.tables];

const replaced = (): Fault =>
  new Fault('ENGINE_FAILED', 'The database file was changed or replaced since it was opened.', 'Open the data again.');

const sameMarks = (a: readonly FileState[], b: readonly FileState[]) => a.every((file, i) => file.mark === b[i]!.mark);
