import { type DuckDBDataChunk, type DuckDBEnumType, DuckDBTypeId, type DuckDBVector } from '@duckdb/node-api';
import { endianness } from '../../../base/platform/host.js';
import { type Cell, type Chunk, isValid, type StoredColumn, type StoredItems, type StoredTexts } from '../engine.js';
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
  // No stored number is longer than four bytes and no text than sixteen, and validity is a bit.
  const copy = copier(count * (rows * 16 + rows / 8 + 16));
  return blockOf(
    rows,
    Array.from({ length: count }, (_, c) => readColumn(chunk.getColumnVector(c), rows, copy, numbers)),
  );
}

/**
 * Copies typed arrays, many to a buffer: a thousand buffers for a thousand columns would keep the garbage collector busy.
 * `most`: what all copies together take at most.
 */
function copier(most: number) {
  const size = Math.min(Math.ceil(most), 1 << 18);
  let buffer = new ArrayBuffer(0);
  let used = 0;
  return <T extends StoredItems>(items: T): T => {
    const bytes = items.byteLength;
    if (used + bytes > buffer.byteLength) {
      buffer = new ArrayBuffer(Math.max(bytes, size));
      used = 0;
    }
    const make = items.constructor as new (buffer: ArrayBuffer, at: number, length: number) => T;
    const copy = new make(buffer, used, items.length);
    copy.set(items);
    used += (bytes + 7) & ~7;
    return copy;
  };
}
type Copy = ReturnType<typeof copier>;

type Read = StoredColumn | StoredTexts | { readonly cells: ArrayLike<Cell> };
const isTexts = (column: Read): column is StoredTexts => 'long' in column;

/** Stored columns are spelt out cell by cell only for those who ask for cells. */
function blockOf(rows: number, read: readonly Read[]): Chunk {
  let columns: readonly ArrayLike<Cell>[] | undefined;
  return {
    rows,
    stored: read.map((column) => ('items' in column ? column : undefined)),
    texts: read.map((column) => (isTexts(column) ? column : undefined)),
    get columns() {
      columns ??= read.map((column) => {
        if (isTexts(column)) return spellTexts(column, rows);
        return 'items' in column ? spellOut(column, rows) : column.cells;
      });
      return columns;
    },
  };
}

function spellOut({ items, valid, words }: StoredColumn, rows: number): ArrayLike<Cell> {
  if (!words) return valid ? withNulls(items, valid, rows) : items;
  const cells: Cell[] = new Array(rows);
  for (let i = 0; i < rows; i++) cells[i] = isValid(valid, i) ? words[items[i]!]! : null;
  return cells;
}

function readColumn(vector: DuckDBVector, rows: number, copy: Copy, numbers?: TextNumbers): Read {
  const { items, validity, dataView } = vector as unknown as Inside;
  const { type } = vector;
  const valid = validity?.data ? new Uint32Array(validity.data.buffer, validity.data.byteOffset, validity.data.length * 2) : null;
  if (validity?.offset === 0 && littleEndian) {
    if (ArrayBuffer.isView(items)) {
      const stored = (words?: readonly string[]): StoredColumn => ({
        items: copy(items as unknown as StoredItems),
        ...(valid && { valid: copy(valid) }),
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
      const texts = { vector, words, valid, rows };
      return numbers ? numbered(texts, numbers) : readTexts(texts, copy);
    }
  }
  const cells: Cell[] = new Array(rows);
  for (let i = 0; i < rows; i++) cells[i] = plain(vector.getItem(i));
  return { cells: numbers ? cells.map((cell) => (typeof cell === 'string' ? numbers.ofText(cell) : cell)) : cells };
}

interface TextVector {
  readonly vector: DuckDBVector;
  readonly words: Uint32Array;
  readonly valid: Uint32Array | null;
  readonly rows: number;
}

function numbered({ vector, words, valid, rows }: TextVector, numbers: TextNumbers): Read {
  const items = new Uint32Array(rows);
  for (let i = 0; i < rows; i++)
    if (isValid(valid, i)) items[i] = numbers.of(words, i * 4, () => wholeText(vector, i, words[i * 4 + 1]!));
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

function readTexts({ vector, words, valid, rows }: TextVector, copy: Copy): StoredTexts {
  const long = new Map<number, string>();
  for (let i = 0; i < rows; i++)
    if (words[i * 4]! > 12 && isValid(valid, i)) long.set(i, wholeText(vector, i, words[i * 4 + 1]!));
  return { words: copy(words), ...(valid && { valid: copy(valid) }), long };
}

function spellTexts({ words, valid, long }: StoredTexts, rows: number): Cell[] {
  const bytes = new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
  const cells: Cell[] = new Array(rows);
  for (let i = 0; i < rows; i++) {
    if (!isValid(valid, i)) {
      cells[i] = null;
      continue;
    }
    const length = words[i * 4]!;
    const start = words[i * 4 + 1]!;
    if (length === 1) cells[i] = letters[start & 127]!;
    else if (length > 12) cells[i] = long.get(i)!;
    else if (length > 4) cells[i] = textIn(bytes, i * 16 + 4, length);
    else {
      const key = length * 0x1_0000_0000 + start;
      let text = shortTexts.get(key);
      if (text === undefined) {
        text = textIn(bytes, i * 16 + 4, length);
        if (shortTexts.size < mostShortTexts) shortTexts.set(key, text);
      }
      cells[i] = text;
    }
  }
  return cells;
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
function textIn(bytes: Uint8Array, at: number, length: number): string {
  let text = '';
  for (let k = at; k < at + length; k++) {
    if (bytes[k]! > 127) return decoder.decode(bytes.subarray(at, at + length));
    text += letters[bytes[k]!]!;
  }
  return text;
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
