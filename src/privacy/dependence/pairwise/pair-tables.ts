import { Fault } from '../../../base/errors.js';

/**
 * All two-column tables of a survey as a square matrix over cells (column, level): row `cell(i,a)`, block j holds N(x_i = a, x_j
 * = .). Counts may be exact (then they are private) or public.
 */
export interface PairTables {
  readonly names: readonly string[];
  readonly levels: readonly number[];
  /** First cell of each column; one more entry at the end with the number of cells. */
  readonly start: Int32Array;
  readonly counts: Float64Array | Uint32Array;
}

/** 8,192 cells make a 256 MB matrix. */
const largestPairMatrix = 8192;

export function cellStarts(levels: readonly number[]): Int32Array {
  const start = new Int32Array(levels.length + 1);
  levels.forEach((v, c) => {
    start[c + 1] = start[c]! + v;
  });
  if (start[levels.length]! > largestPairMatrix)
    throw new Fault(
      'MODEL_TOO_LARGE',
      `Pairwise tables over ${start[levels.length]} answers are too many.`,
      'Pool rare answers or leave columns out.',
      { details: { size: start[levels.length]!, limit: largestPairMatrix } },
    );
  return start;
}

export const pairTableCells = (pairs: PairTables): number => pairs.start[pairs.levels.length]!;

/** Cell of level a of column i. */
export const levelCell = ({ start }: PairTables, i: number, a: number): number => start[i]! + a;

/** Number of rows in both cells. */
export const pairCount = (pairs: PairTables, one: number, other: number): number =>
  pairs.counts[one * pairTableCells(pairs) + other]!;

/** Number of rows that answered level a of column i. */
export function levelCount(pairs: PairTables, i: number, a: number): number {
  const cell = levelCell(pairs, i, a);
  return pairCount(pairs, cell, cell);
}
