import { DuckDBInstance } from '@duckdb/node-api';
import { Fault } from '../../../base/errors.js';
import { type FileState, fileState } from '../data-file.js';
import { type Engine, type EngineLimits, type Snapshot, withSnapshot } from '../engine.js';
import type { EngineSource } from '../source.js';
import { makeTempFolder, removeTempFolder } from '../temp-folder.js';
import { timeLeft } from '../time-left.js';
import { sourceColumnNamed, WithoutRows } from '../without-rows.js';
import { Connections } from './connections.js';
import { duckdb } from './dialect.js';
import { duckdbFault } from './fault.js';
import { HeldResults } from './held-results.js';
import { filesOf, type LoadedData, Loader } from './loading.js';
import { NameLists, notIn } from './name-lists.js';
import { type DuckdbShared, DuckdbSnapshot, type HeldData, leastRows } from './snapshot.js';

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
    return new DuckdbEngine(source, limits, folder, connections, loader, await loader.load());
  } catch (error) {
    instance?.closeSync();
    await removeTempFolder(folder);
    throw duckdbFault(error);
  }
}

/** Files are loaded when they have changed; an earlier state stays while a snapshot uses it. */
class DuckdbEngine implements Engine {
  readonly dialect = duckdb;
  readonly whole = this;
  readonly source: EngineSource;
  readonly room: number;
  readonly #limits: EngineLimits;
  readonly #folder: string;
  readonly #connections: Connections;
  readonly #loader: Loader;
  readonly #lists = new NameLists();
  readonly #reading: DuckdbShared;
  #held: HeldData;
  #loading: Promise<unknown> = Promise.resolve();
  #turn: Promise<unknown> = Promise.resolve();

  constructor(
    source: EngineSource,
    limits: EngineLimits,
    folder: string,
    connections: Connections,
    loader: Loader,
    loaded: LoadedData,
  ) {
    this.source = source;
    this.room = limits.room ?? limits.memory;
    this.#limits = limits;
    this.#folder = folder;
    this.#connections = connections;
    this.#loader = loader;
    this.#held = holding(loaded);
    this.#reading = {
      source,
      room: this.room,
      memory: limits.memory,
      connections,
      inTurn: (read) => {
        const turn = this.#turn.then(read);
        this.#turn = turn.catch(() => undefined);
        return turn;
      },
    };
  }

  async snapshot(): Promise<Snapshot> {
    const left = timeLeft(this.#limits);
    // One at a time, so that a change is taken in once.
    const turn = this.#loading.then(() => this.#present());
    this.#loading = turn.catch(() => undefined);
    const held = await turn;
    return new DuckdbSnapshot(held, this.#reading, left, () => this.#letGo(held));
  }

  async #present(): Promise<HeldData> {
    this.#connections.refuseClosed();
    const { files } = this.#held.loaded;
    const now = await Promise.all(files.map(({ path }) => fileState(path)));
    if (!sameMarks(now, files)) {
      // A database was attached once and for all: what lies under its name now is not what would be read.
      if (now[0]!.kind === 'duckdb' && now[0]!.mark !== files[0]!.mark) throw replaced();
      const former = this.#held;
      this.#held = holding(await this.#loader.load());
      if (former.pins === 0) await this.#loader.drop(tablesIn(former));
    }
    this.#held.pins++;
    return this.#held;
  }

  async #letGo(held: HeldData): Promise<void> {
    held.pins--;
    if (held.pins === 0 && held !== this.#held) await this.#loader.drop(tablesIn(held));
  }

  async without(column: string, names: readonly string[]): Promise<Engine> {
    await withSnapshot(this, async (data) => sourceColumnNamed(await data.columns(), column));
    const table = await this.#lists.table(names, (write) => this.#connections.use(({ connection }) => write(connection)));
    return new WithoutRows(this, column, notIn(table));
  }

  async close(): Promise<void> {
    if (await this.#connections.close()) await removeTempFolder(this.#folder);
  }
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
