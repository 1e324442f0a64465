import type { DuckDBConnection } from '@duckdb/node-api';
import { Fault } from '../../../base/errors.js';
import { join } from '../../../base/platform/paths.js';
import { openStatFile } from '../../statfile/statfile.js';
import { copyReadable, copySurvey } from '../csv/copy.js';
import { copyDecoded } from '../csv/encoding.js';
import { examineCsv, malformedLines } from '../csv/form.js';
import { readCsvHeader } from '../csv/header.js';
import { splitCsvColumns } from '../csv/split.js';
import { isPacked } from '../csv/text.js';
import { changedMeanwhile, type FileState, fileState, logOf } from '../data-file.js';
import { type SourceView, selectAll, storedIn, viewClause, viewInjector } from '../data-view.js';
import type { EngineLimits, SourceColumn, Statement } from '../engine.js';
import type { CellReadings, EngineSource, RelationSource } from '../source.js';
import { relationView } from '../structure.js';
import { codeColumns, withPlaceColumns } from './coded.js';
import type { Connections } from './connections.js';
import { cannotSplit } from './fault.js';
import { blockOfColumns, readAll } from './readings.js';
import { bothWays, tuplesOnce } from './relation.js';
import { attached, type CsvScan, type Scan, type ScanOptions, scanFile, textLiteral, withoutLong } from './scan.js';

/** A file that fits into this part of the memory limit is loaded once; a larger one is read again for every statement. */
const loadedShare = 8;
/** Estimated ratio of unpacked to packed size. */
const packing = 8;
/** Reading the columns needed from a Parquet file beats loading it, unless it is so small that opening it is most of the work. */
const smallParquet = 4 * 1024 ** 2;

/**
 * Least memory, in bytes, of a column of a table for each thread that
 * fills it; and the part of a file that one thread reads at a time.
 */
export const leastColumn = 264 * 1024;
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

/** The data in one state of its files. Never modified: changed files are loaded as a new instance. */
export interface LoadedData {
  readonly files: readonly FileState[];
  readonly columns: readonly SourceColumn[];
  /** Columns of the side tables. */
  readonly tableColumns: ReadonlyMap<string, readonly SourceColumn[]>;
  /** Gives a statement access to the data it names. */
  readonly show: (statement: Statement) => Statement;
  /** Rows of a CSV, all of which DuckDB found: counting them is what proves that every line has the form of the first. */
  readonly rows?: number;
  /** Files that are read by every statement; of others the engine holds what they were, so later changes cannot show. */
  readonly watched: readonly FileState[];
  /** Tables that hold it, and go with it. */
  readonly tables: readonly string[];
}

const isFile = (relation: RelationSource) => /\.[A-Za-z]+$/.test(relation.table);
export const filesOf = (source: EngineSource): string[] => [
  ...new Set([
    source.source,
    ...source.relations.filter(isFile).map((r) => r.table),
    ...(source.tables ?? []).map((t) => t.source ?? source.source),
  ]),
];

/** A table as it was read. */
interface ReadTable {
  readonly columns: readonly SourceColumn[];
  readonly shown: SourceView;
  readonly held: boolean;
  readonly rows?: number;
}

type DataTable = CellReadings & { readonly table?: string };

/** Brings files into the database, each time into tables of their own. */
export class Loader {
  readonly #source: EngineSource;
  readonly #limits: EngineLimits;
  readonly #folder: string;
  readonly #connections: Connections;
  #loads = 0;

  constructor(source: EngineSource, limits: EngineLimits, folder: string, connections: Connections) {
    this.#source = source;
    this.#limits = limits;
    this.#folder = folder;
    this.#connections = connections;
  }

  /** Attaches the data read-only, then takes away every other file, the network, extensions, and the right to change that. */
  async seal(files: readonly FileState[]): Promise<void> {
    const data = files[0]!;
    await this.#connections.use(async ({ connection }) => {
      if (data.kind === 'duckdb') await connection.run(`ATTACH ${textLiteral(data.path)} AS ${attached} (READ_ONLY)`);
      const parts = Array.from({ length: mostParts }, (_, k) => this.#partOf(k));
      const paths = [...files.flatMap(({ path }, i) => [path, logOf(path), this.#copyOf(i)]), this.#decodedData, ...parts];
      await connection.run(`SET allowed_paths = [${paths.map(textLiteral).join(', ')}]`);
      await connection.run('SET enable_external_access = false');
      await connection.run('SET lock_configuration = true');
    }, data.path);
  }

  /** Path of the readable copy of a file. */
  #copyOf(file: number): string {
    return join(this.#folder, `text-${file}.csv`);
  }

  /** Path of a part with some columns of the data. */
  #partOf(part: number): string {
    return join(this.#folder, `part-${part}.csv`);
  }

  async load(): Promise<LoadedData> {
    const files = await Promise.all(filesOf(this.#source).map(fileState));
    const data = files[0]!;
    const options = this.#optionsOf(this.#source);
    const load = ++this.#loads;
    const tables: string[] = [];
    const readOne = (file: FileState, own: DataTable, table: string) =>
      this.#connections.use(
        ({ connection }) =>
          // A sheet of a side table is loaded into memory, however large its workbook is.
          file.kind === 'statfile' && own !== this.#source
            ? this.#loadData(connection, file, own, table, tables)
            : this.#read(files, files.indexOf(file), (csv) => this.#loadData(connection, file, own, table, tables, csv)),
        file.path,
      );
    try {
      const { shown, held, columns, rows } = await readOne(data, this.#source, `fugu_loaded_${load}`);
      const sideTables = new Map<string, ReadTable>();
      const watched = held ? [] : [data];
      for (const own of this.#source.tables ?? []) {
        const file = files.find((f) => f.path === (own.source ?? data.path))!;
        const read = await readOne(file, own, `fugu_loaded_${load}_${sideTables.size}`);
        sideTables.set(own.name, read);
        if (!read.held) watched.push(file);
      }
      const relations = new Map<string, readonly string[]>();
      for (const relation of this.#source.relations) {
        const file = isFile(relation) ? files.find((f) => f.path === relation.table)! : data;
        refuseOtherDatabase(relation, file, data);
        const sql = await this.#connections.use(
          ({ connection }) =>
            this.#read(files, files.indexOf(file), (csv) =>
              this.#loadRelation(connection, relation, file, options, `fugu_tuples_${load}_${relations.size}`, tables, csv),
            ),
          file.path,
        );
        const view = relationView(relation.name);
        relations.set(view, [viewClause(view, sql)]);
      }
      const sideViews = new Map([...sideTables].map(([name, read]) => [name, read.shown]));
      return {
        columns,
        tableColumns: new Map([...sideTables].map(([name, read]) => [name, read.columns])),
        show: viewInjector(shown, relations, sideViews),
        ...(rows !== undefined && { rows }),
        files,
        watched,
        tables,
      };
    } catch (error) {
      await this.drop(tables);
      throw error;
    }
  }

  /** No snapshot uses it any more. */
  async drop(tables: readonly string[]): Promise<void> {
    if (tables.length === 0) return;
    await this.#connections
      .use(async ({ connection }) => {
        for (const table of tables) await connection.run(`DROP TABLE IF EXISTS ${table}`);
      })
      .catch(() => undefined);
    // Prepared statements may hold on to it.
    this.#connections.renew();
  }

  /**
   * Opens a file in a form that DuckDB reads. No cell may decide if a CSV is readable: invalid UTF-8
   * and cells that are too long are read from a copy, which differs from the file in those cells alone.
   */
  async #read<T>(files: readonly FileState[], at: number, work: (csv?: CsvScan) => Promise<T>): Promise<T> {
    const { kind, path } = files[at]!;
    if (kind === 'statfile') return work(await this.#copyLarge(files[at]!, at));
    if (kind !== 'csv') return work();
    const text = await this.#decoded(path, at);
    const { header, plain, folded, records } = await examineCsv(text, await readCsvHeader(text, path), path);
    if (!plain) await copyReadable(text, this.#copyOf(at), header, this.#limits.spill);
    const split =
      at === 0 && plain && !folded && header.names.length > mostHeld && header.names.length <= mostParts * blockOfColumns;
    const parts =
      split &&
      (await splitCsvColumns(text, header, { atOnce: blockOfColumns, most: this.#limits.spill, to: (k) => this.#partOf(k) }));
    const csv = { header, records, path: plain ? text : this.#copyOf(at), single: folded, ...(parts && { parts }) };
    return work(csv).catch((error: unknown) => {
      if (!cannotSplit(error)) throw error;
      return work({ ...csv, single: true });
    });
  }

  /** Data whose encoding, by the policy, is not UTF-8 is copied first. Relations are always UTF-8. */
  async #decoded(path: string, at: number): Promise<string> {
    const { encoding } = this.#source;
    if (at !== 0 || encoding === undefined) return path;
    await copyDecoded(path, this.#decodedData, encoding, this.#limits.spill);
    return this.#decodedData;
  }

  get #decodedData(): string {
    return join(this.#folder, 'decoded.csv');
  }

  /** A survey file that would fill the memory is copied as CSV, which is read again for every statement. */
  async #copyLarge(file: FileState, at: number): Promise<CsvScan | undefined> {
    const table = at === 0 ? this.#source.table : undefined;
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

  #optionsOf({ codes, numbers = new Set(), commas = new Set(), dates = new Set() }: CellReadings): ScanOptions {
    return { codes, numbers, commas, dates, memory: this.#limits.memory, into: 'fugu_file' };
  }

  async #loadData(
    connection: DuckDBConnection,
    data: FileState,
    own: DataTable,
    table: string,
    tables: string[],
    csv?: CsvScan,
  ): Promise<ReadTable> {
    const found = await scanFile(connection, data, own.table, this.#optionsOf(own), csv);
    const held = data.kind === 'statfile' ? !csv : fitsInMemory(data, found.columns.length, this.#limits);
    const scan = csv || data.kind === 'statfile' ? found : await this.#shortened(connection, found, held);
    // Text that is read from the file for every statement is best grouped by as it is stored there, unless all of it has to be parsed anyway.
    const read = await codeColumns(connection, scan, own.domains, !held && !csv);
    const coded = held ? withPlaceColumns(read, own.grids) : read;
    if (held) {
      tables.push(table);
      await connection.run(`CREATE OR REPLACE TABLE ${table} AS ${selectAll(coded.shown)}`);
    }
    // The splitter has verified that every line has the same number of cells.
    const rows = csv && (await countRows(connection, held ? table : (scan.columns[0]?.from ?? scan.from)));
    if (csv && rows !== csv.records) throw malformedLines(data.path);
    if ((await fileState(data.path)).mark !== data.mark) throw changedMeanwhile();
    if (data.kind === 'statfile' && held) await connection.run(`DROP TABLE ${scan.from}`);
    const shown = held ? storedIn(table, coded.shown) : coded.shown;
    return { columns: coded.columns, shown, held, ...(rows !== undefined && { rows }) };
  }

  /** In a loaded table every text is checked once; in a file read by every statement only columns that have a long text. */
  async #shortened(connection: DuckDBConnection, scan: Scan, held: boolean): Promise<Scan> {
    const long = held ? undefined : await readAll(connection, scan);
    return withoutLong(scan, (column) => long === undefined || long.has(column));
  }

  async #loadRelation(
    connection: DuckDBConnection,
    relation: RelationSource,
    file: FileState,
    options: ScanOptions,
    table: string,
    tables: string[],
    csv?: CsvScan,
  ): Promise<string> {
    const plain = { ...options, codes: new Set<string>(), numbers: new Set<string>(), into: 'fugu_relation_file' };
    const found = await scanFile(connection, file, isFile(relation) ? undefined : relation.table, plain, csv);
    const scan = csv || file.kind === 'statfile' ? found : withoutLong(found, () => true);
    tables.push(table);
    await connection.run(`CREATE OR REPLACE TABLE ${table} AS ${tuplesOnce(scan, relation, file.path)}`);
    if (file.kind === 'statfile' && !csv) await connection.run(`DROP TABLE ${scan.from}`);
    return bothWays(table, relation);
  }
}

function refuseOtherDatabase(relation: RelationSource, file: FileState, data: FileState): void {
  if (file.kind === 'duckdb' && file !== data)
    throw new Fault(
      'DATA_NOT_FOUND',
      `The table of relation "${relation.name}" lies in another database than the data.`,
      'Name a csv or parquet file, or a table of the database that data.source names.',
      { place: { file: file.path } },
    );
}

export async function countRows(connection: DuckDBConnection, from: string, values: Statement['values'] = []): Promise<number> {
  const found = await connection.runAndReadAll(`SELECT count(*) FROM ${from}`, [...values]);
  return Number(found.getRows()[0]![0]);
}
