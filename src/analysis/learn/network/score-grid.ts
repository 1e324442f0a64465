/**
 * The score of two columns is sum |n N_ab - N_a N_b| over their cells: n times the L1 distance from independence in counts. Replacing one of n rows moves it by at
 * most 6n (private-tree.proof.md). Scores are counted in units of about a 64th of that: coarse enough for the exact sampler to be quick, at the price of one
 * unit more reach.
 */
export interface ScoreGrid {
  readonly unit: bigint;
  /** In units: most that a score moves. */
  readonly reach: bigint;
  /** In units: no score is larger, whatever the rows. */
  readonly most: bigint;
}

export function scoreGrid(rows: number): ScoreGrid {
  const n = BigInt(Math.max(rows, 1));
  const unit = (6n * n) / 64n > 1n ? (6n * n) / 64n : 1n;
  return { unit, reach: (6n * n) / unit + 1n, most: (2n * n * n) / unit };
}
