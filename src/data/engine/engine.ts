import { Fault } from '../../base/errors.js';
import type { Dialect } from './dialect.js';
import type { Exact } from './exact.js';
import type { EngineSource } from './source.js';

/** A statement compiled by us: text with placeholders $1, $2 … and the values bound to them. Never holds a data value in its text. */
export interface Statement {
  readonly sql: string;
  readonly values: readonly (string | number | bigint | boolean | null)[];
  /** It has one row for each row of `fugu_data`, so its rows need not be counted. */
  readonly everyRow?: true;
  /** Streamed texts are wanted as numbers from 0 up: equal texts have equal numbers, in all columns and blocks of one stream. */
  readonly numbered?: true;
}

export type Cell = string | number | bigint | boolean | null;

export interface SourceColumn {
  readonly name: string;
  /**
   * Type as shown, whatever is stored: integers fit signed 64 bits, reals are doubles, text from which
   * only numbers are read is shown as numbers. Showing a cell cannot fail and depends on that cell alone.
   */
  readonly type: 'text' | 'integer' | 'real' | 'boolean';
  /** A column of `fugu_data` that shows a declared category with all other text left out: quicker to read whole. */
  readonly coded?: string;
  /** The codes that `coded` shows, or the column itself where there is none. */
  readonly domain?: readonly string[];
  /** A column of `fugu_data` with the text of a declared category as it is written; longer ones than `longest` bytes are missing. Quicker to plan. */
  readonly written?: { readonly column: string; readonly longest: number };
  /** Columns with one number are read together at less cost than columns with several. */
  readonly block?: number;
  /** A column of `fugu_data` with the place of the number on a grid, NULL if it has none: for readers that use this very grid. */
  readonly places?: { readonly column: string; readonly grid: string };
}

/** A block of rows, column by column; a column without NULLs may be a typed array, so index it, do not spread it. */
export interface Chunk {
  readonly rows: number;
  readonly columns: readonly ArrayLike<Cell>[];
  /** Columns as the engine stores them, for counting many cells; where one is absent, `columns` has the cells. */
  readonly stored?: readonly (StoredColumn | undefined)[];
  /** Texts as the engine stores them, for comparing many; where a column is absent, `columns` has its cells. */
  readonly texts?: readonly (StoredTexts | undefined)[];
}

/** Four words for each row: the length of its text in bytes, then the bytes of a text of up to 12, in order. What a NULL row holds means nothing. */
export interface StoredTexts {
  readonly words: Uint32Array;
  readonly valid?: Uint32Array;
  /** Texts of more than 12 bytes by row. */
  readonly long: ReadonlyMap<number, string>;
}

/** The first bytes of a word of a stored text: what lies behind the end of the text means nothing. */
export function firstBytes(word: number, bytes: number): number {
  if (bytes >= 4) return word;
  return bytes <= 0 ? 0 : word & ((1 << (8 * bytes)) - 1);
}

export const isValid = (valid: Uint32Array | null | undefined, row: number): boolean =>
  !valid || ((valid[row >>> 5]! >>> (row & 31)) & 1) === 1;

/** Small numbers, or positions in a list of words. What `items` holds in a NULL row means nothing. */
export interface StoredColumn {
  readonly items: StoredItems;
  /** Row i is NULL where bit i is 0; absent when no row is. */
  readonly valid?: Uint32Array;
  readonly words?: readonly string[];
}
export type StoredItems = Int8Array | Uint8Array | Int16Array | Uint16Array | Int32Array | Uint32Array;

/**
 * A database, seen through what a release needs: views of it that do not change. Nothing that one user does to it shows to another. Every driver error is
 * turned into a Fault without driver text.
 */
export interface Engine {
  readonly dialect: Dialect;
  /** Memory, in bytes, for readers of rows or ties. */
  readonly room: number;
  /** As what the data was opened: which relations there are, and which text of categories may have been forgotten. */
  readonly source: EngineSource;
  /**
   * Snapshot of the data as it is now, unchanged until `close`. It can be
   * queried for as long as a release may take (`EngineLimits.release`).
   */
  snapshot(): Promise<Snapshot>;
  /**
   * A view for one user: its `fugu_data` omits rows with one of these names in the column, also after
   * the data changed. Calling it again starts from all rows; closing it affects no other engine.
   */
  without(column: string, names: readonly string[]): Promise<Engine>;
  /** The engine with every row: this one, unless it came from `without`. */
  readonly whole: Engine;
  close(): Promise<void>;
}

/**
 * The data at one moment, by views: `fugu_data`; relation R as `fugu_relation_R` with names c0, c1, … (name.ts; no duplicates or
 * NULLs; a symmetric one both ways, no self-ties); side table T as `fugu_table_T`. Reading files that changed since is a fault.
 */
export interface Snapshot {
  readonly dialect: Dialect;
  readonly source: EngineSource;
  /** The same snapshot with every row: this one, unless its engine came from `without`. Closed with it. */
  readonly whole: Snapshot;
  readonly room: number;
  /** Digest of the content: two snapshots with one id hold the same data. */
  id(): Promise<string>;
  /** Identity shared by all snapshots of data loaded once; absent if the engine cannot know it. */
  readonly moment?: object | undefined;
  /** Identifiers of the statements so far in the database's own log; absent if it has none. */
  readonly queries?: readonly string[] | undefined;
  /** Name and stored type of the columns of `fugu_data`, or of a side table. */
  columns(table?: string): Promise<readonly SourceColumn[]>;
  /**
   * FROM clause in place of `fugu_data` for a statement that defines a view of that name itself, with
   * the values of that statement and of this clause: a view over the tables is a further `fugu_data`.
   */
  beneath(values: Statement['values']): Promise<{ readonly from: string; readonly values: Statement['values'] }>;
  /**
   * Stores the rows of a statement with `columns` columns, once for equal statements on this state of the data: a table
   * for other statements, and its size. Undefined if there are too many rows; absent if the engine stores nothing.
   */
  readonly hold?: (statement: Statement, columns: number) => Promise<HeldRows | undefined>;
  /** Number of rows, to choose a plan by size; exact, so never to be released. */
  size(): Promise<Exact<number>>;
  /** A result small enough to hold. */
  rows(statement: Statement): Promise<Exact<readonly (readonly Cell[])[]>>;
  count(statement: Statement): Promise<Exact<number>>;
  stream(statement: Statement): AsyncIterable<Exact<Chunk>>;
  close(): Promise<void>;
}

export interface HeldRows {
  readonly table: string;
  /** Exact, so never to be released. */
  readonly rows: number;
}

export const databaseClosed = (): Fault => new Fault('ENGINE_FAILED', 'The database is closed.', 'Open it again.');

export async function withSnapshot<T>(engine: Engine, work: (data: Snapshot) => Promise<T>): Promise<T> {
  const data = await engine.snapshot();
  try {
    return await work(data);
  } finally {
    await data.close();
  }
}

export interface EngineLimits {
  /** Bytes the engine may hold in memory, and spill to its private temp folder. */
  readonly memory: number;
  /** Memory, in bytes, for ties read from the data; as much as for the engine by default. */
  readonly room?: number;
  readonly spill: number;
  /** Milliseconds one statement may take. */
  readonly deadline: number;
  /** Milliseconds for which a snapshot can be queried: all statements of a release end by then. */
  readonly release: number;
  readonly threads: number;
}
