import { codeIndex, codeTables, numberOf, optionText, writtenIndex } from '../../data/engine/codes.js';
import type { Cell, Chunk, StoredColumn } from '../../data/engine/engine.js';
import { codesOf, trimCode } from '../../policy/code.js';
import { isCoded } from '../../policy/domain.js';
import { gridOf, positionOf } from '../../policy/grid.js';
import type { Column, MultiColumn } from '../../policy/policy.js';
import { longestOptions } from './read-column.js';
import { countStored, fillStored, storedCell } from './stored-column.js';

export type ColumnCells = ArrayLike<Cell>;

/** A column of the current chunk, read through the policy. Readings are made on first use and shared by all measures. */
export interface ColumnView {
  load(cells: ColumnCells, rows: number): void;
  /** The same for cells in the form in which the engine stores them. */
  loadStored(stored: StoredColumn, rows: number): void;
  /** Codes: index in the declared domain (multi-select: 0 when any option is named). Numbers: grid position. -1 is missing. */
  indices(): Float64Array;
  /** sums[place[index + 1]] += 1 for every row, without storing indices. */
  count(place: Int32Array, sums: Float64Array): void;
  /** Multi-select: the options named by row i. */
  options(i: number): readonly number[];
}

/** Most distinct cells cached per column; further cells are read again (garbage must not fill the memory). */
const maxRemembered = 50_000;
/** Longest text that is cached: codes are short, and longer text is garbage. */
const maxRememberedLength = 256;
const isRemembered = (cell: Cell, known: ReadonlyMap<Cell, unknown>): boolean =>
  known.size < maxRemembered && !(typeof cell === 'string' && cell.length > maxRememberedLength);
/** Small whole numbers, which most stored codes are, are remembered in an array. */
const small = 256;
const unread = -2;
const nothingRead = new Int32Array(small).fill(unread);

/** Reads cells through `read`, each distinct one once. */
interface CellReader {
  read(cell: Cell): number;
  /** The same, remembered: for one cell after the other. */
  seek(cell: Cell): number;
  fill(cells: ColumnCells, rows: number, out: Float64Array): void;
  /** sums[place[index + 1]] += 1 for every cell. */
  count(cells: ColumnCells, rows: number, place: Int32Array, sums: Float64Array): void;
}
function cellReader(read: (cell: Cell) => number): CellReader {
  const known = new Map<Cell, number>();
  let direct = nothingRead;
  const look = (cell: Cell): number => {
    const found = known.get(cell);
    if (found !== undefined) return found;
    const index = read(cell);
    if (typeof cell === 'number' && cell >= 0 && cell < small && Number.isInteger(cell)) {
      if (direct === nothingRead) direct = nothingRead.slice();
      direct[cell] = index;
    } else if (isRemembered(cell, known)) known.set(cell, index);
    return index;
  };
  /** A fraction finds nothing at direct[cell] and is looked up. */
  const seekNumber = (cell: number): number => {
    const index: number | undefined = cell >= 0 && cell < small ? direct[cell] : undefined;
    return index === undefined || index === unread ? look(cell) : index;
  };
  const seek = (cell: Cell): number => (typeof cell === 'number' ? seekNumber(cell) : look(cell));
  const countNumbers = (cells: ArrayLike<number>, rows: number, place: Int32Array, sums: Float64Array): void => {
    for (let i = 0; i < rows; i++) sums[place[seekNumber(cells[i]!) + 1]!]! += 1;
  };
  return {
    read,
    seek,
    fill(cells, rows, out) {
      for (let i = 0; i < rows; i++) out[i] = seek(cells[i] ?? null);
    },
    count(cells, rows, place, sums) {
      if (ArrayBuffer.isView(cells) && typeof cells[0] === 'number')
        countNumbers(cells as unknown as ArrayLike<number>, rows, place, sums);
      else for (let i = 0; i < rows; i++) sums[place[seek(cells[i] ?? null) + 1]!]! += 1;
    },
  };
}

function optionReader(column: MultiColumn): (cell: Cell) => readonly number[] {
  const { text } = codeTables(codesOf(column));
  const longest = longestOptions(column);
  const known = new Map<Cell, readonly number[]>();
  return (cell) => {
    const found = known.get(cell);
    if (found) return found;
    const parts = optionText(cell, longest)?.split(column.separator) ?? [];
    const named = new Set(parts.map((part) => text.get(trimCode(part)) ?? -1));
    named.delete(-1);
    const list = [...named].sort((a, b) => a - b);
    if (isRemembered(cell, known)) known.set(cell, list);
    return list;
  };
}

function readerOf(column: Column, options: (cell: Cell) => readonly number[], longest: number | undefined): CellReader {
  if (column.type === 'multi') return cellReader((cell) => (options(cell).length > 0 ? 0 : -1));
  if (isCoded(column)) {
    const tables = codeTables(codesOf(column));
    return cellReader((cell) => (longest === undefined ? codeIndex(tables, cell) : writtenIndex(tables, cell, longest)));
  }
  const grid = gridOf(column);
  const read = (cell: Cell) => positionOf(grid, numberOf(cell));
  const texts = cellReader(read);
  return {
    ...texts,
    seek: read,
    fill(cells, rows, out) {
      if (rows > 0 && typeof cells[0] === 'string') texts.fill(cells, rows, out);
      else for (let i = 0; i < rows; i++) out[i] = read(cells[i] ?? null);
    },
  };
}

/** `longest`: text is raw, and this many bytes of it count. */
export function columnView(column: Column, longest?: number): ColumnView {
  const options = column.type === 'multi' ? optionReader(column) : () => [];
  const reader = readerOf(column, options, longest);
  let cells: ColumnCells = [];
  let stored: StoredColumn | undefined;
  let rows = 0;
  let fresh = false;
  let buffer = new Float64Array(0);
  const turn = (next: ColumnCells, nextStored: StoredColumn | undefined, count: number) => {
    cells = next;
    stored = nextStored;
    rows = count;
    fresh = false;
  };
  return {
    load: (next, count) => turn(next, undefined, count),
    loadStored: (next, count) => turn([], next, count),
    indices() {
      if (fresh) return buffer;
      if (buffer.length < rows) buffer = new Float64Array(rows);
      if (stored) fillStored(stored, rows, reader.seek, buffer);
      else reader.fill(cells, rows, buffer);
      fresh = true;
      return buffer;
    },
    count(place, sums) {
      if (stored)
        countStored(stored, rows, (cell, count) => {
          sums[place[reader.read(cell) + 1]!]! += count;
        });
      else reader.count(cells, rows, place, sums);
    },
    options: (i) => options(stored ? storedCell(stored, i) : (cells[i] ?? null)),
  };
}

/** Shows the views the next chunk; `names` are its columns. */
export function loadChunk(views: ReadonlyMap<string, ColumnView>, names: readonly string[], chunk: Chunk): void {
  names.forEach((name, c) => {
    const stored = chunk.stored?.[c];
    if (stored) views.get(name)?.loadStored(stored, chunk.rows);
    else views.get(name)?.load(chunk.columns[c]!, chunk.rows);
  });
}
