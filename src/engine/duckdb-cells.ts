import { endianness } from 'node:os';
import type { DuckDBDataChunk, DuckDBVector } from '@duckdb/node-api';
import type { Cell, Chunk } from './engine.js';

/** The parts of a driver vector that make reading it fast; all of them are checked before use. */
interface Inside {
  readonly items?: ArrayLike<unknown> & { slice(): ArrayLike<Cell> };
  readonly validity?: { readonly data: BigUint64Array | null; readonly offset: number };
  readonly dataView?: DataView;
}

const littleEndian = endianness() === 'LE';

/** Copies a block out of the driver: its memory is freed with the block, ours is not. */
export function readChunk(chunk: DuckDBDataChunk): Chunk {
  const rows = chunk.rowCount;
  return { rows, columns: Array.from({ length: chunk.columnCount }, (_, c) => readColumn(chunk.getColumnVector(c), rows)) };
}

function readColumn(vector: DuckDBVector, rows: number): ArrayLike<Cell> {
  const { items, validity, dataView } = vector as unknown as Inside;
  if (ArrayBuffer.isView(items) && validity && validity.offset === 0) {
    if (validity.data === null) return items.slice();
    return withNulls(items as ArrayLike<Cell>, validity.data, rows);
  }
  if (dataView && dataView.byteOffset % 4 === 0 && littleEndian && validity?.offset === 0 && vector.type.toString() === 'VARCHAR')
    return readText(vector, dataView, validity.data, rows);
  const cells: Cell[] = new Array(rows);
  for (let i = 0; i < rows; i++) cells[i] = plain(vector.getItem(i));
  return cells;
}

function withNulls(items: ArrayLike<Cell>, valid: BigUint64Array, rows: number): Cell[] {
  const bits = new Uint32Array(valid.buffer, valid.byteOffset, valid.length * 2);
  const cells: Cell[] = new Array(rows);
  for (let i = 0; i < rows; i++) cells[i] = (bits[i >>> 5]! >>> (i & 31)) & 1 ? items[i]! : null;
  return cells;
}

/** Survey codes are one to four bytes long; each is decoded once. Bounded: there are few such codes, and we stop at many. */
const letters = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code));
const shortTexts = new Map<number, string>();
const mostShortTexts = 1 << 16;

/** A string is four words: its length, then up to 12 bytes of it, or 4 and a pointer. */
function readText(vector: DuckDBVector, view: DataView, valid: BigUint64Array | null, rows: number): Cell[] {
  const bits = valid && new Uint32Array(valid.buffer, valid.byteOffset, valid.length * 2);
  const words = new Uint32Array(view.buffer, view.byteOffset, rows * 4);
  const cells: Cell[] = new Array(rows);
  for (let i = 0; i < rows; i++) {
    if (bits && !((bits[i >>> 5]! >>> (i & 31)) & 1)) {
      cells[i] = null;
      continue;
    }
    const length = words[i * 4]!;
    const start = words[i * 4 + 1]!;
    if (length === 1) cells[i] = letters[start & 127]!;
    else if (length > 4) cells[i] = vector.getItem(i) as string;
    else {
      const key = length * 0x1_0000_0000 + start;
      let text = shortTexts.get(key);
      if (text === undefined) {
        text = vector.getItem(i) as string;
        if (shortTexts.size < mostShortTexts) shortTexts.set(key, text);
      }
      cells[i] = text;
    }
  }
  return cells;
}

/** Dates, decimals, lists and the like as text. */
function plain(value: unknown): Cell {
  if (value === null || value === undefined) return null;
  return typeof value === 'object' ? String(value) : (value as Cell);
}
