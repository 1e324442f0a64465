import type { Cell, StoredColumn, StoredItems } from '../../data/engine/engine.js';

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
  for (let i = 0; i < rows; i++) {
    if (valid && !isValid(valid, i)) out[i] = missing;
    else out[i] = table ? table[items[i]!]! : read(items[i]!);
  }
}

/** Calls `add` with each distinct small cell and its number of rows, and with every other cell separately. */
export function countStored({ items, valid, words }: StoredColumn, rows: number, add: (cell: Cell, count: number) => void): void {
  const other = (i: number) => {
    if (!valid || isValid(valid, i)) add(words ? words[items[i]!]! : items[i]!, 1);
  };
  const most = tallySmall(items, rows, other);
  const missing = valid ? takeBack(items, valid, rows) : 0;
  if (missing > 0) add(null, missing);
  for (let x = 0; x <= most; x++) {
    const count = tally[x]! + tally[x + small]! + tally[x + 2 * small]! + tally[x + 3 * small]!;
    for (let lane = x; lane < tally.length; lane += small) tally[lane] = 0;
    if (count !== 0) add(words ? words[x]! : x, count);
  }
}

/** Shared by all columns: it is all zero between two calls. Four lanes, since adding to one place twice in a row has to wait for the first. */
const tally = new Int32Array(4 * small);

/** Counts the rows with a small number, NULL or not, and calls `other` with the index of each other one; no small number was above the result. */
function tallySmall(items: StoredItems, rows: number, other: (i: number) => void): number {
  let most = 0;
  const one = (i: number) => {
    const x = items[i]!;
    if (x >>> 0 < small) {
      most |= x;
      tally[x]!++;
    } else other(i);
  };
  const fours = rows & ~3;
  for (let i = 0; i < fours; i += 4) {
    const a = items[i]!;
    const b = items[i + 1]!;
    const c = items[i + 2]!;
    const d = items[i + 3]!;
    const any = a | b | c | d;
    if (any >>> 0 < small) {
      most |= any;
      tally[a]!++;
      tally[b + small]!++;
      tally[c + 2 * small]!++;
      tally[d + 3 * small]!++;
    } else for (let k = i; k < i + 4; k++) one(k);
  }
  for (let i = fours; i < rows; i++) one(i);
  return most;
}

/** Subtracts the small numbers of NULL rows, usually few, and returns the number of NULL rows. */
function takeBack(items: StoredItems, valid: Uint32Array, rows: number): number {
  let missing = 0;
  for (let from = 0; from < rows; from += 32) {
    let nulls = ~valid[from >>> 5]!;
    if (from + 32 > rows) nulls &= (1 << (rows - from)) - 1;
    for (; nulls !== 0; nulls &= nulls - 1) {
      const x = items[from + 31 - Math.clz32(nulls & -nulls)]!;
      if (x >>> 0 < small) tally[x]!--;
      missing++;
    }
  }
  return missing;
}
