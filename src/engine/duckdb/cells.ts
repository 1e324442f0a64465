import { endianness } from 'node:os';
import { type DuckDBDataChunk, type DuckDBEnumType, DuckDBTypeId, type DuckDBVector } from '@duckdb/node-api';
import type { Cell, Chunk, StoredColumn, StoredItems } from '../engine.js';
import type { TextNumbers } from './text-numbers.js';

/** The parts of a driver vector that make reading it fast; all of them are checked before use. */
interface Inside {
  readonly items?: ArrayLike<unknown> & { slice(): ArrayLike<unknown> };
  readonly validity?: { readonly data: BigUint64Array | null; readonly offset: number };
  readonly dataView?: DataView;
}

const littleEndian = endianness() === 'LE';

/** Types whose `items` are the cells; those of dates or decimals are not. */
const plainNumbers: ReadonlySet<DuckDBTypeId> = new Set([
  DuckDBTypeId.TINYINT,
  DuckDBTypeId.UTINYINT,
  DuckDBTypeId.SMALLINT,
  DuckDBTypeId.USMALLINT,
  DuckDBTypeId.INTEGER,
  DuckDBTypeId.UINTEGER,
]);
const plainCells: ReadonlySet<DuckDBTypeId> = new Set([
  ...plainNumbers,
  DuckDBTypeId.BIGINT,
  DuckDBTypeId.UBIGINT,
  DuckDBTypeId.FLOAT,
  DuckDBTypeId.DOUBLE,
]);

/** Copies a block out of the driver: its memory is freed with the block, ours is not. Texts are numbered where `numbers` are given. */
export function readChunk(chunk: DuckDBDataChunk, numbers?: TextNumbers): Chunk {
  const rows = chunk.rowCount;
  const count = chunk.columnCount;
  // No stored item is longer than four bytes, and validity is a bit.
  const copies = new Copies(count * (rows * 4 + rows / 8 + 16));
  const read = Array.from({ length: count }, (_, c) => readColumn(chunk.getColumnVector(c), rows, copies, numbers));
  return new Block(
    rows,
    read.map((column) => ('items' in column ? column : undefined)),
    read,
  );
}

/** Copies of typed arrays, many to a buffer: a thousand buffers for a thousand columns would keep the garbage collector busy. */
class Copies {
  readonly #size: number;
  #buffer = new ArrayBuffer(0);
  #used = 0;

  /** `most`: what all copies together take at most. */
  constructor(most: number) {
    this.#size = Math.min(Math.ceil(most), 1 << 18);
  }

  of<T extends StoredItems>(items: T): T {
    const bytes = items.byteLength;
    if (this.#used + bytes > this.#buffer.byteLength) {
      this.#buffer = new ArrayBuffer(Math.max(bytes, this.#size));
      this.#used = 0;
    }
    const copy = new (items.constructor as new (buffer: ArrayBuffer, at: number, length: number) => T)(
      this.#buffer,
      this.#used,
      items.length,
    );
    copy.set(items);
    this.#used += (bytes + 7) & ~7;
    return copy;
  }
}

type Read = StoredColumn | { readonly cells: ArrayLike<Cell> };

/** Stored columns are spelt out cell by cell only for those who ask for cells. */
class Block implements Chunk {
  readonly rows: number;
  readonly stored: readonly (StoredColumn | undefined)[];
  readonly #read: readonly Read[];
  #columns: readonly ArrayLike<Cell>[] | undefined;

  constructor(rows: number, stored: readonly (StoredColumn | undefined)[], read: readonly Read[]) {
    this.rows = rows;
    this.stored = stored;
    this.#read = read;
  }

  get columns(): readonly ArrayLike<Cell>[] {
    this.#columns ??= this.#read.map((column) => ('items' in column ? spellOut(column, this.rows) : column.cells));
    return this.#columns;
  }
}

function spellOut({ items, valid, words }: StoredColumn, rows: number): ArrayLike<Cell> {
  if (!words) return valid ? withNulls(items, valid, rows) : items;
  const cells: Cell[] = new Array(rows);
  for (let i = 0; i < rows; i++) cells[i] = !valid || isValid(valid, i) ? words[items[i]!]! : null;
  return cells;
}

const isValid = (valid: Uint32Array, i: number): boolean => ((valid[i >>> 5]! >>> (i & 31)) & 1) === 1;

function readColumn(vector: DuckDBVector, rows: number, copies: Copies, numbers?: TextNumbers): Read {
  const { items, validity, dataView } = vector as unknown as Inside;
  const { type } = vector;
  const valid = validity?.data ? new Uint32Array(validity.data.buffer, validity.data.byteOffset, validity.data.length * 2) : null;
  if (validity?.offset === 0 && littleEndian) {
    if (ArrayBuffer.isView(items)) {
      const stored = (words?: readonly string[]): StoredColumn => ({
        items: copies.of(items as unknown as StoredItems),
        ...(valid && { valid: copies.of(valid) }),
        ...(words && { words }),
      });
      if (type.typeId === DuckDBTypeId.ENUM) return stored((type as DuckDBEnumType).values);
      if (plainNumbers.has(type.typeId)) return stored();
      if (plainCells.has(type.typeId))
        return { cells: valid ? withNulls(items as ArrayLike<Cell>, valid, rows) : (items.slice() as ArrayLike<Cell>) };
    }
    if (dataView && type.typeId === DuckDBTypeId.VARCHAR) {
      // A string is four words: its length, then up to 12 bytes of it, or 4 and a pointer.
      const { buffer, byteOffset: at } = dataView;
      const words = at % 4 === 0 ? new Uint32Array(buffer, at, rows * 4) : new Uint32Array(buffer.slice(at, at + rows * 16));
      return numbers ? numbered(vector, words, valid, rows, numbers) : { cells: readText(vector, words, valid, rows) };
    }
  }
  const cells: Cell[] = new Array(rows);
  for (let i = 0; i < rows; i++) cells[i] = plain(vector.getItem(i));
  return { cells: numbers ? cells.map((cell) => (typeof cell === 'string' ? numbers.ofText(cell) : cell)) : cells };
}

function numbered(vector: DuckDBVector, words: Uint32Array, valid: Uint32Array | null, rows: number, numbers: TextNumbers): Read {
  const items = new Uint32Array(rows);
  for (let i = 0; i < rows; i++)
    if (!valid || isValid(valid, i)) items[i] = numbers.of(words, i * 4, () => wholeText(vector, i, words[i * 4 + 1]!));
  return { items, ...(valid && { valid: valid.slice() }) };
}

function withNulls(items: ArrayLike<Cell>, valid: Uint32Array, rows: number): Cell[] {
  const cells: Cell[] = new Array(rows);
  for (let i = 0; i < rows; i++) cells[i] = isValid(valid, i) ? items[i]! : null;
  return cells;
}

const letters = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code));

/** Texts of up to four bytes are decoded once. Bounded: there are few such codes, and we stop at many. */
const shortTexts = new Map<number, string>();
const mostShortTexts = 1 << 16;

function readText(vector: DuckDBVector, words: Uint32Array, valid: Uint32Array | null, rows: number): Cell[] {
  const cells: Cell[] = new Array(rows);
  for (let i = 0; i < rows; i++) {
    if (valid && !isValid(valid, i)) {
      cells[i] = null;
      continue;
    }
    const length = words[i * 4]!;
    const start = words[i * 4 + 1]!;
    if (length === 1) cells[i] = letters[start & 127]!;
    else if (length > 4) cells[i] = wholeText(vector, i, start);
    else {
      const key = length * 0x1_0000_0000 + start;
      let text = shortTexts.get(key);
      if (text === undefined) {
        text = wholeText(vector, i, start);
        if (shortTexts.size < mostShortTexts) shortTexts.set(key, text);
      }
      cells[i] = text;
    }
  }
  return cells;
}

/** The driver leaves out a byte order mark at the start of a cell; the database does not. */
const byteOrderMark = 0xbfbbef;
const wholeText = (vector: DuckDBVector, i: number, start: number): string =>
  (start & 0xffffff) === byteOrderMark ? `\uFEFF${vector.getItem(i)}` : (vector.getItem(i) as string);

/** Dates, decimals, lists and the like as text. */
function plain(value: unknown): Cell {
  if (value === null || value === undefined) return null;
  return typeof value === 'object' ? String(value) : (value as Cell);
}
