import type { CodedTable, Codes } from './coded.js';

export interface CellCounter {
  /** Sum of N log N over the joint cells of these columns (ascending). Sets that share their first columns share the work. */
  likelihood(columns: readonly number[]): number;
}

type Numbering = Uint16Array | Uint32Array;

/** Numbers each row's joint cell column by column (a refinement), keeping the numbering of every prefix of the last set requested. */
export function cellCounter(table: CodedTable, mostCells: number): CellCounter {
  const n = table.rows;
  const nLogN = new Float64Array(n + 1);
  for (let i = 2; i <= n; i++) nLogN[i] = i * Math.log(i);
  // small numbers keep all columns of a chunk in the first-level cache
  const codes = table.columns.map((column, c) => (table.levels[c]! <= 256 ? Uint8Array.from(column) : column));
  const fresh = (): Numbering => (mostCells < 2 ** 16 ? new Uint16Array(n) : new Uint32Array(n));
  const numbering: Numbering[] = [fresh()];
  const cells: number[] = [1];
  let prefix: readonly number[] = [];
  let counts = new Int32Array(1024);

  const likelihood = (columns: readonly number[]): number => {
    if (columns.length === 0) return nLogN[n]!;
    const last = columns.length - 1;
    let depth = 0;
    while (depth < last && prefix[depth] === columns[depth]) depth++;
    for (; depth < last; depth++) {
      const c = columns[depth]!;
      numbering[depth + 1] ??= fresh();
      cells[depth + 1] = cells[depth]! * table.levels[c]!;
      if (cells[depth + 1]! > mostCells) throw new RangeError('more cells than announced');
      const [from, to, column, radix] = [numbering[depth]!, numbering[depth + 1]!, codes[c]!, table.levels[c]!];
      for (let i = 0; i < n; i++) to[i] = from[i]! * radix + column[i]!;
    }
    prefix = columns.slice(0, last);
    const c = columns[last]!;
    const joint = cells[last]! * table.levels[c]!;
    if (counts.length < 2 * joint) counts = new Int32Array(joint * 4);
    count({ base: numbering[last]!, column: codes[c]!, radix: table.levels[c]! }, n, joint, counts);
    return drainCounts(counts, joint, nLogN);
  };
  return { likelihood };
}

/**
 * Even and odd rows are counted separately (odd ones `cells` further on): adjacent rows often share a cell and would wait for one
 * another.
 */
function count(
  { base, column, radix }: { readonly base: Numbering; readonly column: Codes; readonly radix: number },
  n: number,
  cells: number,
  counts: Int32Array,
): void {
  const even = n & ~1;
  for (let i = 0; i < even; i += 2) {
    counts[base[i]! * radix + column[i]!]!++;
    counts[base[i + 1]! * radix + column[i + 1]! + cells]!++;
  }
  if (even < n) counts[base[even]! * radix + column[even]!]!++;
}

/** Sum of N log N over the counts, which are left at zero for the next set. */
function drainCounts(counts: Int32Array, cells: number, nLogN: Float64Array): number {
  let total = 0;
  for (let c = 0; c < cells; c++) {
    total += nLogN[counts[c]! + counts[c + cells]!]!;
    counts[c] = 0;
    counts[c + cells] = 0;
  }
  return total;
}
