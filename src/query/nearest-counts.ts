/**
 * Nearest vector with non-negative entries and the given total; distances are scaled by `spread` (variances; equal when absent).
 * Each value is shifted in proportion to its spread, and set to 0 where it would be negative.
 */
export function nearestCounts(values: readonly number[], total: number, spreads?: readonly number[]): number[] {
  const spread = (k: number): number => spreads?.[k] ?? 1;
  const order = values.map((_, k) => k).sort((a, b) => values[b]! / spread(b) - values[a]! / spread(a));
  let [sum, width, shift] = [0, 0, 0];
  for (const [rank, k] of order.entries()) {
    sum += values[k]!;
    width += spread(k);
    shift = (sum - total) / width;
    const next = order[rank + 1];
    if (next === undefined || values[next]! / spread(next) <= shift) break;
  }
  return values.map((value, k) => Math.max(0, value - shift * spread(k)));
}
