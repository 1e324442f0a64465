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

/** sum over cells of |n N_ab - N_a N_b| for a table of two columns, row-major; the second has `width` levels. */
export function independenceDistance(table: readonly bigint[], width: number, rows: number): bigint {
  const across = new Array<bigint>(table.length / width).fill(0n);
  const down = new Array<bigint>(width).fill(0n);
  for (const [k, count] of table.entries()) {
    across[Math.floor(k / width)]! += count;
    down[k % width]! += count;
  }
  return table.reduce((sum, count, k) => {
    const deviation = BigInt(rows) * count - across[Math.floor(k / width)]! * down[k % width]!;
    return sum + (deviation < 0n ? -deviation : deviation);
  }, 0n);
}
