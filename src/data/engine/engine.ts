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
   * How the engine shows it, whatever it is stored as: integers fit 64 bits with their sign, reals are doubles. A text of which only the number is ever
   * asked is shown as that number. Showing a cell cannot fail, and depends on that cell alone.
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
  /** A column of `fugu_data` that holds the place of the number on a grid, NULL where it has none: for whoever reads it through that very grid. */
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
  /** Bytes that whoever reads rows or ties from it may hold. */
  readonly room: number;
  /** As what the data was opened: which relations there are, and which text of categories may have been forgotten. */
  readonly source: EngineSource;
  /** The data as it is now, and stays for whoever holds it; `close` lets go of it. It can be asked for as long as a release may take (`EngineLimits.release`). */
  pin(): Promise<Pinned>;
  /**
   * The same data for one user of it: its `fugu_data` has no rows with one of these names in the column, also after the data changed. Nothing changes for
   * users of this engine. Asked of such an engine, it starts from all rows again; closing one lets go of it and of nothing else.
   */
  without(column: string, names: readonly string[]): Promise<Engine>;
  /** The engine with every row: this one, unless it came from `without`. */
  readonly whole: Engine;
  close(): Promise<void>;
}

/**
 * The data at one moment. Its rows are the view `fugu_data`; relation R is the view `fugu_relation_R` (`relationView`) with columns c0, c1, … of names
 * (name.ts; deduplicated, no NULLs; a symmetric relation is closed under reversal and ties nobody to themselves); table T beside the data is the view
 * `fugu_table_T` (`tableView`). Whatever is read through one of these is of
 * one moment, or a fault: a file that was changed since cannot be read as it was.
 */
export interface Pinned {
  readonly dialect: Dialect;
  readonly source: EngineSource;
  /** The same moment with every row: this one, unless its engine came from `without`. Closed with it. */
  readonly whole: Pinned;
  /** That of its engine. */
  readonly room: number;
  /** Digest of the content: two moments with one id hold the same data. */
  id(): Promise<string>;
  /** The same for all who look at what was loaded once; absent where nothing tells. */
  readonly moment?: object | undefined;
  /** By which names the database's own log knows what was asked through this so far; absent where it keeps none. */
  readonly queries?: readonly string[] | undefined;
  /** Name and stored type of the columns of `fugu_data`, or of a table beside it. */
  columns(table?: string): Promise<readonly SourceColumn[]>;
  /**
   * What stands for `fugu_data` in a statement that brings a view of that name itself, and the values of the statement's `bound` others and of this: a view
   * over the tables is one more `fugu_data`.
   */
  beneath(values: Statement['values']): Promise<{ readonly from: string; readonly values: Statement['values'] }>;
  /**
   * Holds the rows of a statement with so many columns, once for all who ask the same of this state of the data: a table that other statements may read, and how many rows it has. Undefined where they
   * are too many to be held; absent where nothing is.
   */
  readonly hold?: (statement: Statement, columns: number) => Promise<HeldRows | undefined>;
  /** How many rows there are: used to choose a plan by shape; exact, so never to be released. */
  size(): Promise<Exact<number>>;
  /** A result small enough to hold. */
  rows(statement: Statement): Promise<Exact<readonly (readonly Cell[])[]>>;
  /** How many rows a statement has. */
  count(statement: Statement): Promise<Exact<number>>;
  /** A large result, block by block. */
  stream(statement: Statement): AsyncIterable<Exact<Chunk>>;
  close(): Promise<void>;
}

export interface HeldRows {
  readonly table: string;
  /** Exact, so never to be released. */
  readonly rows: number;
}

/** Does the work on the data as it is now. */
export async function pinned<T>(engine: Engine, work: (data: Pinned) => Promise<T>): Promise<T> {
  const data = await engine.pin();
  try {
    return await work(data);
  } finally {
    await data.close();
  }
}

export interface EngineLimits {
  /** Bytes the engine may hold in memory, and spill to its private temp folder. */
  readonly memory: number;
  /** Bytes that ties read from it may hold; as many as the engine itself when not said. */
  readonly room?: number;
  readonly spill: number;
  /** Milliseconds one statement may take. */
  readonly deadline: number;
  /** Milliseconds that whoever pins the data may ask it, from then on: all statements of a release end by it. */
  readonly release: number;
  readonly threads: number;
}
