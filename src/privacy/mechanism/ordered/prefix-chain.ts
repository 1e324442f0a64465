/** Least-squares combination of estimates of consecutive block totals and of their prefix totals (ordered.proof.md, 3). */
export interface PrefixChain {
  /** Prefix totals after each block, from what blocks say about their own totals and from the noised prefixes. */
  solve(own: readonly number[], prefixes: readonly number[]): Float64Array;
  /** Covariance of the prefix totals after blocks i and j; -1 is before the first, where it is 0. */
  covariance(i: number, j: number): number;
}

/**
 * With S the prefix totals, precision p of each, and precision 1/v of each S_i - S_(i-1): a tridiagonal system. Its inverse is read off the pivots of elimination from both ends.
 */
export function prefixChain(variances: readonly number[], precision: number): PrefixChain {
  const n = variances.length;
  const link = Float64Array.from(variances, (v) => 1 / v);
  const diagonal = Float64Array.from({ length: n }, (_, i) => precision + link[i]! + (link[i + 1] ?? 0));
  const left = Float64Array.from(diagonal);
  for (let i = 1; i < n; i++) left[i]! -= link[i]! ** 2 / left[i - 1]!;
  const right = Float64Array.from(diagonal);
  for (let i = n - 2; i >= 0; i--) right[i]! -= link[i + 1]! ** 2 / right[i + 1]!;
  /** Logarithms of what is left of a variance further down the chain; none at all where blocks say nothing. */
  const faded = new Float64Array(n);
  for (let i = 1; i < n; i++) faded[i] = faded[i - 1]! + Math.log(link[i]! / right[i]!);
  return {
    solve: (own, prefixes) => {
      const known = Float64Array.from(
        { length: n },
        (_, i) =>
          precision * prefixes[i]! +
          (link[i]! > 0 ? link[i]! * own[i]! : 0) -
          (i + 1 < n && link[i + 1]! > 0 ? link[i + 1]! * own[i + 1]! : 0),
      );
      for (let i = 1; i < n; i++) known[i]! += (link[i]! / left[i - 1]!) * known[i - 1]!;
      for (let i = n - 1; i >= 0; i--) known[i] = (known[i]! + (i + 1 < n ? link[i + 1]! * known[i + 1]! : 0)) / left[i]!;
      return known;
    },
    covariance: (i, j) => {
      if (i < 0 || j < 0) return 0;
      const [a, b] = i < j ? [i, j] : [j, i];
      const variance = 1 / (left[a]! + right[a]! - diagonal[a]!);
      if (a === b) return variance;
      return link[b]! === 0 ? 0 : variance * Math.exp(faded[b]! - faded[a]!);
    },
  };
}
