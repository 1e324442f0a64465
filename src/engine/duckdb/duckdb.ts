import { join } from 'node:path';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { Fault } from '../../errors.js';
import { openStatFile } from '../../statfile/statfile.js';
import { copyReadable, copySurvey } from '../csv/copy.js';
import { examineCsv, malformedLines } from '../csv/form.js';
import { readCsvHeader } from '../csv/header.js';
import { splitColumns } from '../csv/split.js';
import { isPacked } from '../csv/text.js';
import { changedMeanwhile, contentDigest, type FileState, logOf, lookAt } from '../data-file.js';
import type { Cell, Chunk, Engine, EngineLimits, SourceColumn, Statement } from '../engine.js';
import { Exact } from '../exact.js';
import type { EngineSource, RelationSource } from '../source.js';
import { digestOf } from '../source.js';
import { makeTempFolder, removeTempFolder } from '../temp-folder.js';
import { readChunk } from './cells.js';
import { codeColumns, withPlaces } from './coded.js';
import { Connections } from './connections.js';
import { cannotSplit, duckdbFault } from './fault.js';
import { makeRelation } from './relation.js';
import { attached, type CsvScan, type ScanOptions, scanFile, text } from './scan.js';
import { blockOfColumns, heldIn, readingsOf, selectAll, shower } from './shown.js';
import { TextNumbers } from './text-numbers.js';
import { columnNamed, NameLists, WithoutRows } from './without.js';

/** A file that fits into this part of the memory limit is loaded once; a larger one is read again for every statement. */
const loadedShare = 8;
/** How much larger a packed file may become, as a guess. */
const packing = 8;
/** Reading the columns needed from a Parquet file beats loading it, unless it is so small that opening it is most of the work. */
const smallParquet = 4 * 1024 ** 2;

/** What a column of a held table takes at least, for each thread that fills it; a thread reads this much of a file at a time. */
const leastColumn = 264 * 1024;
const perThread = 32 * 1024 ** 2;

/** Writing a table is one statement over all of its columns. */
const mostHeld = 2 * blockOfColumns;
/** Wider tables are read whole by every statement. */
const mostParts = 50;

function fitsInMemory(file: FileState, columns: number, { memory, threads }: EngineLimits): boolean {
  if (file.kind === 'duckdb' || (file.kind === 'parquet' && file.bytes > smallParquet)) return false;
  if (columns > mostHeld) return false;
  const bytes = file.bytes * (isPacked(file.path) || file.kind === 'parquet' ? packing : 1);
  const fillers = Math.min(threads, Math.ceil(bytes / perThread));
  return Math.max(bytes, columns * leastColumn * fillers) * loadedShare <= memory;
}

interface Loaded {
  readonly files: readonly FileState[];
  readonly columns: readonly SourceColumn[];
  /** Gives a statement the data it asks about. */
  readonly show: (statement: Statement) => Statement;
  /** Rows of a CSV, all of which DuckDB found: counting them is what proves that every line has the form of the first. */
  readonly rows?: number;
  /** The data is held by the engine, so later changes of the file cannot show. */
  readonly held: boolean;
}

export async function openDuckdb(source: EngineSource, limits: EngineLimits): Promise<Engine> {
  const files = await Promise.all(filesOf(source).map(lookAt));
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
    const engine = new DuckdbEngine(source, limits, folder, instance);
    await engine.seal(files);
    await engine.load();
    return engine;
  } catch (error) {
    instance?.closeSync();
    await removeTempFolder(folder);
    throw duckdbFault(error);
  }
}

const isFile = (relation: RelationSource) => /\.[A-Za-z]+$/.test(relation.table);
const filesOf = (source: EngineSource): string[] => [
  ...new Set([source.source, ...source.relations.filter(isFile).map((r) => r.table)]),
];

class DuckdbEngine implements Engine {
  readonly dialect = 'duckdb';
  readonly whole = this;
  readonly source: EngineSource;
  readonly #limits: EngineLimits;
  readonly #folder: string;
  readonly #connections: Connections;
  #loaded!: Loaded;
  #size: number | undefined;
  /** Rows each streamed statement has on this data. */
  readonly #counts = new Map<string, number>();
  readonly #lists = new NameLists();
  #loading: Promise<void> = Promise.resolve();
  #reading: Promise<unknown> = Promise.resolve();

  constructor(source: EngineSource, limits: EngineLimits, folder: string, instance: DuckDBInstance) {
    this.source = source;
    this.#limits = limits;
    this.#folder = folder;
    this.#connections = new Connections(instance, limits.deadline);
  }

  /** Attaches the data read-only, then takes away every other file, the network, extensions, and the right to change that. */
  async seal(files: readonly FileState[]): Promise<void> {
    const data = files[0]!;
    await this.#connections.use(async ({ connection }) => {
      if (data.kind === 'duckdb') await connection.run(`ATTACH ${text(data.path)} AS ${attached} (READ_ONLY)`);
      const parts = Array.from({ length: mostParts }, (_, k) => this.#partOf(k));
      const paths = [...files.flatMap(({ path }, i) => [path, logOf(path), this.#copyOf(i)]), ...parts];
      await connection.run(`SET allowed_paths = [${paths.map(text).join(', ')}]`);
      await connection.run('SET enable_external_access = false');
      await connection.run('SET lock_configuration = true');
    }, data.path);
  }

  /** Where a readable copy of a file is kept. */
  #copyOf(file: number): string {
    return join(this.#folder, `text-${file}.csv`);
  }

  /** Where some columns of the data are kept. */
  #partOf(part: number): string {
    return join(this.#folder, `part-${part}.csv`);
  }

  async load(): Promise<void> {
    const files = await Promise.all(filesOf(this.source).map(lookAt));
    const data = files[0]!;
    const { codes, numbers = new Set(), commas = new Set() } = this.source;
    const options: ScanOptions = { codes, numbers, commas, memory: this.#limits.memory, into: 'fugu_file' };
    this.#loaded = await this.#connections.use(
      ({ connection }) => this.#read(files, 0, (csv) => this.#loadData(connection, files, options, csv)),
      data.path,
    );
    this.#size = this.#loaded.rows;
    this.#counts.clear();
    this.#connections.renew();
    for (const relation of this.source.relations) {
      const file = isFile(relation) ? files.find((f) => f.path === relation.table)! : data;
      if (file.kind === 'duckdb' && file !== data)
        throw new Fault(
          'DATA_NOT_FOUND',
          `The table of relation "${relation.name}" lies in another database than the data.`,
          'Name a csv or parquet file, or a table of the database that data.source names.',
          { place: { file: file.path } },
        );
      await this.#connections.use(
        ({ connection }) =>
          this.#read(files, files.indexOf(file), (csv) => this.#loadRelation(connection, relation, file, options, csv)),
        file.path,
      );
    }
  }

  /**
   * Reads a file in a form in which DuckDB can. What a cell holds may not decide whether a CSV is read: text that is no UTF-8 and cells that are too long
   * are read from a copy, which differs from the file in those cells alone.
   */
  async #read<T>(files: readonly FileState[], at: number, work: (csv?: CsvScan) => Promise<T>): Promise<T> {
    const { kind, path } = files[at]!;
    if (kind === 'statfile') return work(await this.#copyLarge(files[at]!, at));
    if (kind !== 'csv') return work();
    const { header, plain, folded, records } = await examineCsv(path, await readCsvHeader(path));
    if (!plain) await copyReadable(path, this.#copyOf(at), header, this.#limits.spill);
    const split =
      at === 0 && plain && !folded && header.names.length > mostHeld && header.names.length <= mostParts * blockOfColumns;
    const parts =
      split &&
      (await splitColumns(path, header, { atOnce: blockOfColumns, most: this.#limits.spill, to: (k) => this.#partOf(k) }));
    const csv = { header, records, path: plain ? path : this.#copyOf(at), single: folded, ...(parts && { parts }) };
    return work(csv).catch((error: unknown) => {
      if (!cannotSplit(error)) throw error;
      return work({ ...csv, single: true });
    });
  }

  /** A survey file that would fill the memory is copied as CSV, which is read again for every statement. */
  async #copyLarge(file: FileState, at: number): Promise<CsvScan | undefined> {
    const table = at === 0 ? this.source.table : undefined;
    const survey = await openStatFile(file.path, table === undefined ? {} : { table });
    try {
      const names = survey.variables.map((v) => v.name);
      if (fitsInMemory({ ...file, bytes: Math.max(file.bytes, 8 * names.length * survey.rows) }, names.length, this.#limits))
        return undefined;
      const copy = this.#copyOf(at);
      const folded = await copySurvey(survey, copy, this.#limits.spill);
      return { header: { names, before: 0, delimiter: ',' }, path: copy, records: survey.rows, single: folded };
    } finally {
      await survey.close();
    }
  }

  async #loadData(
    connection: DuckDBConnection,
    files: readonly FileState[],
    options: ScanOptions,
    csv?: CsvScan,
  ): Promise<Loaded> {
    const data = files[0]!;
    const scan = await scanFile(connection, data, this.source.table, options, csv);
    const held = data.kind === 'statfile' ? !csv : fitsInMemory(data, scan.columns.length, this.#limits);
    // Text that is read from the file for every statement is best grouped by as it is stored there, unless all of it has to be parsed anyway.
    const read = await codeColumns(connection, scan, this.source.domains, !held && !csv);
    const coded = held ? withPlaces(read, this.source.grids) : read;
    if (held) await connection.run(`CREATE OR REPLACE TABLE fugu_loaded AS ${selectAll(coded.shown)}`);
    else if (!csv) for (const sql of readingsOf(scan.from, scan.columns)) await connection.run(sql);
    const show = shower(held ? heldIn('fugu_loaded', coded.shown) : coded.shown);
    // Whoever split the lines has found as many cells in each.
    const rows = csv && (await count(connection, held ? 'fugu_loaded' : (scan.columns[0]?.from ?? scan.from)));
    if (csv && rows !== csv.records) throw malformedLines(data.path);
    if ((await lookAt(data.path)).mark !== data.mark) throw changedMeanwhile();
    if (data.kind === 'statfile' && held) await connection.run(`DROP TABLE ${scan.from}`);
    return { files, columns: coded.columns, show, held, ...(rows !== undefined && { rows }) };
  }

  async #loadRelation(
    connection: DuckDBConnection,
    relation: RelationSource,
    file: FileState,
    options: ScanOptions,
    csv?: CsvScan,
  ): Promise<void> {
    const plain = { ...options, codes: new Set<string>(), numbers: new Set<string>(), into: 'fugu_relation_file' };
    const scan = await scanFile(connection, file, isFile(relation) ? undefined : relation.table, plain, csv);
    for (const sql of makeRelation(scan, relation, file.path)) await connection.run(sql);
    if (file.kind === 'statfile' && !csv) await connection.run(`DROP TABLE ${scan.from}`);
  }

  async columns(): Promise<readonly SourceColumn[]> {
    return this.#loaded.columns;
  }

  async size(): Promise<Exact<number>> {
    this.#size ??= await this.#connections.use(({ connection }) =>
      this.#count(connection, { sql: 'SELECT 1 FROM fugu_data', values: [] }),
    );
    return new Exact(this.#size);
  }

  async without(column: string, names: readonly string[]): Promise<Engine> {
    columnNamed(await this.columns(), column);
    const table = await this.#lists.table(names, (write) => this.#connections.use(({ connection }) => write(connection)));
    return new WithoutRows(this, column, table);
  }

  async snapshot(): Promise<string> {
    // One at a time, so that a change is taken in once.
    const turn = this.#loading.then(async () => {
      const now = await Promise.all(this.#loaded.files.map(({ path }) => lookAt(path)));
      if (sameMarks(now, this.#loaded.files)) return;
      // A database was attached once and for all: what lies under its name now is not what would be read.
      if (now[0]!.kind === 'duckdb' && now[0]!.mark !== this.#loaded.files[0]!.mark) throw replaced();
      await this.load();
    });
    this.#loading = turn.catch(() => undefined);
    await turn;
    return digestOf(this.source, await Promise.all(this.#loaded.files.map(contentDigest)));
  }

  rows(statement: Statement): Promise<Exact<readonly (readonly Cell[])[]>> {
    return this.#inTurn(() => this.#rows(statement));
  }

  /** Each reader of a CSV fills buffers of its own and uses every thread: in turn they need the memory once. */
  #inTurn<T>(read: () => Promise<T>): Promise<T> {
    const { held, files } = this.#loaded;
    if (held || !/^(csv|statfile)$/.test(files[0]!.kind)) return read();
    const turn = this.#reading.then(read);
    this.#reading = turn.catch(() => undefined);
    return turn;
  }

  async #rows(statement: Statement): Promise<Exact<readonly (readonly Cell[])[]>> {
    const loaded = this.#loaded;
    return this.#connections.use(async (lease) => {
      const result = await (await lease.prepare(loaded.show(statement))).run();
      const rows: Cell[][] = [];
      for (let c = 0; c < result.chunkCount; c++) {
        const { rows: length, columns } = readChunk(result.getChunk(c));
        for (let i = 0; i < length; i++) rows.push(columns.map((column) => column[i]!));
      }
      await refuseChange(loaded);
      return new Exact(rows);
    });
  }

  /**
   * The driver ends a stream in the same way after the last row and after an error in the middle (an interrupt, no memory, a failed read), so the end is
   * believed only when as many rows came as the statement has.
   */
  async *stream(statement: Statement): AsyncIterable<Exact<Chunk>> {
    const loaded = this.#loaded;
    const lease = await this.#connections.lease();
    let whole = false;
    try {
      const expected = await this.#count(lease.connection, statement);
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
  }

  /** How many rows a statement has on this data. */
  async count(statement: Statement): Promise<Exact<number>> {
    return new Exact(await this.#inTurn(() => this.#connections.use(({ connection }) => this.#count(connection, statement))));
  }
  get room(): number {
    return this.#limits.room ?? this.#limits.memory;
  }

  async #count(connection: DuckDBConnection, statement: Statement): Promise<number> {
    if (statement.everyRow && this.#size !== undefined) return this.#size;
    const { sql, values } = this.#loaded.show(statement);
    const key = JSON.stringify([sql, values.map(String)]);
    const known = this.#counts.get(key);
    if (known !== undefined) return known;
    const rows = await count(connection, `(${sql})`, values);
    this.#counts.set(key, rows);
    return rows;
  }

  async close(): Promise<void> {
    if (await this.#connections.close()) await removeTempFolder(this.#folder);
  }
}

/** An answer over two states of a file belongs to neither. Relations, and a held CSV, were copied when they were loaded. */
async function refuseChange({ held, files }: Loaded): Promise<void> {
  if (!held && (await lookAt(files[0]!.path)).mark !== files[0]!.mark) throw changedMeanwhile();
}

const replaced = (): Fault =>
  new Fault('ENGINE_FAILED', 'The database file was changed or replaced since it was opened.', 'Open the data again.');

const sameMarks = (a: readonly FileState[], b: readonly FileState[]) => a.every((file, i) => file.mark === b[i]!.mark);

async function count(connection: DuckDBConnection, from: string, values: Statement['values'] = []): Promise<number> {
  const found = await connection.runAndReadAll(`SELECT count(*) FROM ${from}`, [...values]);
  return Number(found.getRows()[0]![0]);
}
