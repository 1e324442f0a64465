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
import { quoteText, relationView } from '../structure.js';
import { codeColumns, withPlaceColumns } from './coded.js';
import type { Connections } from './connections.js';
import { cannotSplit } from './fault.js';
import { bothWays, tuplesOnce } from './relation.js';
import { attached, blockOfColumns, type CsvScan, columnsWithLongTexts, scanFile, withoutLong } from './scan.js';

/** A file that fits into this part of the memory limit is loaded once; a larger one is read again for every statement. */
const loadedShare = 8;
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
/** Paths of the files of a source, the data first. */
export const filesOf = (source: EngineSource): string[] => [
  ...new Set([
    source.source,
    ...source.relations.filter(isFile).map((r) => r.table),
    ...(source.tables ?? []).map((t) => t.source ?? source.source),
  ]),
];

/** One file of the source, with its position among them: its copies are named by it, and the data comes first. */
interface SourceFile {
  readonly state: FileState;
  readonly index: number;
}

/** A file to be brought into the database, and the table that is made for it. */
interface LoadRequest {
  readonly file: SourceFile;
  readonly into: string;
  /** Tables made by this load so far. */
  readonly made: string[];
}

interface LoadedTable {
  readonly columns: readonly SourceColumn[];
  readonly shown: SourceView;
  /** The database holds its rows: the file is not read again. */
  readonly held: boolean;
  readonly rows?: number;
}

type TableReadings = CellReadings & { readonly table?: string };

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
      if (data.kind === 'duckdb') await connection.run(`ATTACH ${quoteText(data.path)} AS ${attached} (READ_ONLY)`);
      const parts = Array.from({ length: mostParts }, (_, k) => this.#partPath(k));
      const paths = [...files.flatMap(({ path }, i) => [path, logOf(path), this.#copyPath(i)]), this.#decodedPath, ...parts];
      await connection.run(`SET allowed_paths = [${paths.map(quoteText).join(', ')}]`);
      await connection.run('SET enable_external_access = false');
      await connection.run('SET lock_configuration = true');
    }, data.path);
  }

  /** The readable copy of a file. */
  #copyPath(file: number): string {
    return join(this.#folder, `text-${file}.csv`);
  }
  /** Some columns of the data. */
  #partPath(part: number): string {
    return join(this.#folder, `part-${part}.csv`);
  }
  /** The data in UTF-8. */
  get #decodedPath(): string {
    return join(this.#folder, 'decoded.csv');
  }

  async load(): Promise<LoadedData> {
    const files = await Promise.all(filesOf(this.#source).map(fileState));
    const named = (path: string): SourceFile => {
      const index = files.findIndex((file) => file.path === path);
      return { state: files[index]!, index };
    };
    const load = ++this.#loads;
    const made: string[] = [];
    try {
      const source = this.#source;
      const data = named(source.source);
      const { shown, held, columns, rows } = await this.#loadTable({ file: data, into: `fugu_loaded_${load}`, made }, source);
      const watched = held ? [] : [data.state];
      const sideTables = new Map<string, LoadedTable>();
      for (const own of source.tables ?? []) {
        const file = named(own.source ?? source.source);
        const table = await this.#loadTable({ file, into: `fugu_loaded_${load}_${sideTables.size}`, made }, own);
        sideTables.set(own.name, table);
        if (!table.held) watched.push(file.state);
      }
      const relations = new Map<string, readonly string[]>();
      for (const relation of source.relations) {
        const file = isFile(relation) ? named(relation.table) : data;
        refuseOtherDatabase(relation, file.state, data.state);
        const sql = await this.#loadRelation({ file, into: `fugu_tuples_${load}_${relations.size}`, made }, relation);
        const view = relationView(relation.name);
        relations.set(view, [viewClause(view, sql)]);
      }
      return {
        columns,
        tableColumns: new Map([...sideTables].map(([name, table]) => [name, table.columns])),
        show: viewInjector(shown, relations, new Map([...sideTables].map(([name, table]) => [name, table.shown]))),
        ...(rows !== undefined && { rows }),
        files,
        watched,
        tables: made,
      };
    } catch (error) {
      await this.drop(made);
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

  /** Loads the data or a side table into a table, or finds out how every statement can read its file. */
  #loadTable({ file, into, made }: LoadRequest, own: TableReadings): Promise<LoadedTable> {
    const { state } = file;
    const load = async (connection: DuckDBConnection, csv?: CsvScan): Promise<LoadedTable> => {
      const request = { file: state, table: own.table, csv, readings: own, memory: this.#limits.memory, into: 'fugu_file' };
      const found = await scanFile(connection, request);
      const held = state.kind === 'statfile' ? !csv : fitsInMemory(state, found.columns.length, this.#limits);
      // In a loaded table every text is checked once; in a file read by every statement only columns that have a long text.
      const long = csv || state.kind === 'statfile' || held ? undefined : await columnsWithLongTexts(connection, found);
      const scan =
        csv || state.kind === 'statfile' ? found : withoutLong(found, (column) => long === undefined || long.has(column));
      // Text that is read from the file for every statement is best grouped by as it is stored there, unless all of it has to be parsed anyway.
      const coded = await codeColumns(connection, scan, own.domains, !held && !csv);
      const { columns, shown } = held ? withPlaceColumns(coded, own.grids) : coded;
      if (held) {
        made.push(into);
        await connection.run(`CREATE OR REPLACE TABLE ${into} AS ${selectAll(shown)}`);
      }
      // The splitter has verified that every line has the same number of cells.
      const rows = csv && (await countRows(connection, held ? into : (scan.columns[0]?.from ?? scan.from)));
      if (csv && rows !== csv.records) throw malformedLines(state.path);
      if ((await fileState(state.path)).mark !== state.mark) throw changedMeanwhile();
      if (state.kind === 'statfile' && held) await connection.run(`DROP TABLE ${scan.from}`);
      return { columns, shown: held ? storedIn(into, shown) : shown, held, ...(rows !== undefined && { rows }) };
    };
    return this.#connections.use(
      ({ connection }) =>
        // A sheet of a side table is loaded into memory, however large its workbook is.
        state.kind === 'statfile' && own !== this.#source
          ? load(connection)
          : this.#withReadable(file, (csv) => load(connection, csv)),
      state.path,
    );
  }

  /** Loads the tuples of a relation into a table; returns the query that shows them. */
  #loadRelation({ file, into, made }: LoadRequest, relation: RelationSource): Promise<string> {
    const { path, kind } = file.state;
    const readings = { ...this.#source, codes: new Set<string>(), numbers: new Set<string>() };
    const table = isFile(relation) ? undefined : relation.table;
    return this.#connections.use(
      ({ connection }) =>
        this.#withReadable(file, async (csv) => {
          const request = { file: file.state, table, csv, readings, memory: this.#limits.memory, into: 'fugu_relation_file' };
          const found = await scanFile(connection, request);
          const scan = csv || kind === 'statfile' ? found : withoutLong(found, () => true);
          made.push(into);
          await connection.run(`CREATE OR REPLACE TABLE ${into} AS ${tuplesOnce(scan, relation, path)}`);
          if (kind === 'statfile' && !csv) await connection.run(`DROP TABLE ${scan.from}`);
          return bothWays(into, relation);
        }),
      path,
    );
  }

  /**
   * Works on a file in a form that DuckDB reads. No cell may decide if a CSV is readable: invalid UTF-8
   * and cells that are too long are read from a copy, which differs from the file in those cells alone.
   */
  async #withReadable<T>(file: SourceFile, work: (csv?: CsvScan) => Promise<T>): Promise<T> {
    const { kind } = file.state;
    if (kind === 'statfile') return work(await this.#copyOfLargeSurvey(file));
    if (kind !== 'csv') return work();
    const csv = await this.#readableCsv(file);
    return work(csv).catch((error: unknown) => {
      if (!cannotSplit(error)) throw error;
      return work({ ...csv, single: true });
    });
  }

  async #readableCsv({ state: { path }, index }: SourceFile): Promise<CsvScan> {
    const { spill } = this.#limits;
    const text = await this.#inUtf8(path, index);
    const { header, plain, folded, records } = await examineCsv(text, await readCsvHeader(text, path), path);
    const copy = this.#copyPath(index);
    if (!plain) await copyReadable(text, copy, header, spill);
    const columns = header.names.length;
    const isSplit = index === 0 && plain && !folded && columns > mostHeld && columns <= mostParts * blockOfColumns;
    const parts =
      isSplit && (await splitCsvColumns(text, header, { atOnce: blockOfColumns, most: spill, to: (k) => this.#partPath(k) }));
    return { header, records, path: plain ? text : copy, single: folded, ...(parts && { parts }) };
  }

  /** Data whose encoding, by the policy, is not UTF-8 is copied first. Relations are always UTF-8. */
  async #inUtf8(path: string, index: number): Promise<string> {
    const { encoding } = this.#source;
    if (index !== 0 || encoding === undefined) return path;
    await copyDecoded(path, this.#decodedPath, encoding, this.#limits.spill);
    return this.#decodedPath;
  }

  /** A survey file that would fill the memory is copied as CSV, which is read again for every statement. */
  async #copyOfLargeSurvey({ state, index }: SourceFile): Promise<CsvScan | undefined> {
    const table = index === 0 ? this.#source.table : undefined;
    const survey = await openStatFile(state.path, table === undefined ? {} : { table });
    try {
      const names = survey.variables.map((v) => v.name);
      const bytes = Math.max(state.bytes, 8 * names.length * survey.rows);
      if (fitsInMemory({ ...state, bytes }, names.length, this.#limits)) return undefined;
      const copy = this.#copyPath(index);
      const folded = await copySurvey(survey, copy, this.#limits.spill);
      return { header: { names, before: 0, delimiter: ',' }, path: copy, records: survey.rows, single: folded };
    } finally {
      await survey.close();
    }
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
