/**
 * Every two-column table of a survey at once: a square matrix of counts over all cells (column, level). Row `cell(i,a)`, block j holds
 * N(x_i = a, x_j = .). The diagonal block of a column holds its own counts. Counts may be exact (then they are private), noisy, or public.
 */
export interface PairTables {
  readonly names: readonly string[];
  readonly levels: readonly number[];
  /** First cell of each column; one more entry at the end with the number of cells. */
  readonly start: Int32Array;
  readonly counts: Float64Array | Uint32Array;
}

export function cellStarts(levels: readonly number[]): Int32Array {
  const start = new Int32Array(levels.length + 1);
  levels.forEach((v, c) => {
    start[c + 1] = start[c]! + v;
  });
  return start;
}

/** How many rows answered level a of column i. */
export function levelCount(pairs: PairTables, i: number, a: number): number {
  const cells = pairs.start[pairs.levels.length]!;
  const cell = pairs.start[i]! + a;
  return pairs.counts[cell * cells + cell]!;
}
