/**
 * The nearest vector with non-negative entries and the given total, each entry's distance counted in its own `spread` (its variance; alike when absent):
 * values less what their spreads share out, and nought where that would be below it.
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
