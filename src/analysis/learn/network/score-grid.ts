/**
 * Grid for scores sum |n N_ab - N_a N_b| (n times the L1 distance from independence), which replacing a row moves by at most 6n
 * (private-tree.proof.md). Its unit, a 64th of that, keeps the exact sampler fast and costs one unit of sensitivity.
 */
export interface ScoreGrid {
  readonly unit: bigint;
  /** In units: sensitivity of a score. */
  readonly reach: bigint;
  /** In units: upper bound of any score, whatever the rows. */
  readonly most: bigint;
}

export function scoreGrid(rows: number): ScoreGrid {
  const n = BigInt(Math.max(rows, 1));
  const unit = (6n * n) / 64n > 1n ? (6n * n) / 64n : 1n;
  return { unit, reach: (6n * n) / unit + 1n, most: (2n * n * n) / unit };
}
