import type { Cell, StoredColumn, StoredItems } from '../engine/engine.js';

/** Numbers below this are counted in an array, position by position; words are always fewer. */
const small = 256;

const isValid = (valid: Uint32Array, i: number): boolean => ((valid[i >>> 5]! >>> (i & 31)) & 1) === 1;

export function storedCell({ items, valid, words }: StoredColumn, i: number): Cell {
  if (valid && !isValid(valid, i)) return null;
  return words ? words[items[i]!]! : items[i]!;
}

/** out[i] = read(cell of row i). */
export function fillStored(
  { items, valid, words }: StoredColumn,
  rows: number,
  read: (cell: Cell) => number,
  out: Float64Array,
): void {
  const table = words && Float64Array.from(words, read);
  const missing = read(null);
  for (let i = 0; i < rows; i++) out[i] = valid && !isValid(valid, i) ? missing : table ? table[items[i]!]! : read(items[i]!);
}

/** Calls `add` with each distinct small cell and its number of rows, and with every other cell by itself. */
export function countStored({ items, valid, words }: StoredColumn, rows: number, add: (cell: Cell, count: number) => void): void {
  const other = (x: number) => add(x, 1);
  const missing = valid ? tallyValid(items, valid, rows, other) : tallyAll(items, rows, other);
  if (missing > 0) add(null, missing);
  for (let x = 0; x < small; x++) {
    if (tally[x] === 0) continue;
    add(words ? words[x]! : x, tally[x]!);
    tally[x] = 0;
  }
}

/** Shared by all columns: it is all zero between two calls. */
const tally = new Uint32Array(small);

function tallyAll(items: StoredItems, rows: number, other: (x: number) => void): number {
  for (let i = 0; i < rows; i++) {
    const x = items[i]!;
    if (x >= 0 && x < small) tally[x]!++;
    else other(x);
  }
  return 0;
}

function tallyValid(items: StoredItems, valid: Uint32Array, rows: number, other: (x: number) => void): number {
  let missing = 0;
  for (let i = 0; i < rows; i++) {
    if (!isValid(valid, i)) {
      missing++;
      continue;
    }
    const x = items[i]!;
    if (x >= 0 && x < small) tally[x]!++;
    else other(x);
  }
  return missing;
}
