import type { CodedTable, Codes } from './coded.js';

export interface CellCounter {
  /** Sum of N log N over the joint cells of these columns (ascending). Sets that share their first columns share the work. */
  likelihood(columns: readonly number[]): number;
  /** Maximised log-likelihood of x given all the other columns. */
  likelihoodGivenAll(x: number): number;
}

/** Numbers each row's joint cell column by column (a refinement), keeping the numbering of every prefix of the last set asked for. */
export function cellCounter(table: CodedTable): CellCounter {
  const n = table.rows;
  const nLogN = new Float64Array(n + 1);
  for (let i = 2; i <= n; i++) nLogN[i] = i * Math.log(i);
  const numbering: Int32Array[] = [new Int32Array(n)];
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
      numbering[depth + 1] ??= new Int32Array(n);
      refine(numbering[depth]!, table.columns[c]!, table.levels[c]!, n, numbering[depth + 1]!);
      cells[depth + 1] = cells[depth]! * table.levels[c]!;
    }
    prefix = columns.slice(0, last);
    const c = columns[last]!;
    const joint = cells[last]! * table.levels[c]!;
    if (counts.length < joint) counts = new Int32Array(joint * 2);
    count(numbering[last]!, table.columns[c]!, table.levels[c]!, n, counts);
    return drain(counts, joint, nLogN);
  };
  return { likelihood, likelihoodGivenAll: (x) => likelihoodGivenAll(table, x) };
}

function refine(from: Int32Array, column: Codes, radix: number, n: number, to: Int32Array): void {
  for (let i = 0; i < n; i++) to[i] = from[i]! * radix + column[i]!;
}

function count(base: Int32Array, column: Codes, radix: number, n: number, counts: Int32Array): void {
  for (let i = 0; i < n; i++) counts[base[i]! * radix + column[i]!]!++;
}

/** Sum of N log N over the counts, which are left at zero for the next set. */
function drain(counts: Int32Array, cells: number, nLogN: Float64Array): number {
  let total = 0;
  for (let c = 0; c < cells; c++) {
    total += nLogN[counts[c]!]!;
    counts[c] = 0;
  }
  return total;
}

/** All columns together have more cells than rows, so cells are renumbered as they appear. */
function likelihoodGivenAll(table: CodedTable, x: number): number {
  const n = table.rows;
  let cells = new Int32Array(n);
  let distinct = 1;
  const split = (c: number): void => {
    const radix = table.levels[c]!;
    const seen = new Int32Array(distinct * radix).fill(-1);
    const next = new Int32Array(n);
    let used = 0;
    for (let i = 0; i < n; i++) {
      const cell = cells[i]! * radix + table.columns[c]![i]!;
      if (seen[cell] === -1) seen[cell] = used++;
      next[i] = seen[cell]!;
    }
    cells = next;
    distinct = used;
  };
  const likelihood = (): number => {
    const counts = new Int32Array(distinct);
    for (let i = 0; i < n; i++) counts[cells[i]!]!++;
    return counts.reduce((sum, c) => sum + (c > 1 ? c * Math.log(c) : 0), 0);
  };
  for (let c = 0; c < table.columns.length && distinct < n; c++) if (c !== x) split(c);
  if (distinct === n) return 0;
  const before = likelihood();
  split(x);
  return likelihood() - before;
}
