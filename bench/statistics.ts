export type Interval = readonly [low: number, high: number];

const sorted = (values: readonly number[]): number[] => [...values].sort((a, b) => a - b);

export function median(values: readonly number[]): number {
  const all = sorted(values);
  const half = all.length >> 1;
  return all.length % 2 ? all[half]! : (all[half - 1]! + all[half]!) / 2;
}

/** Probability that fewer than `count` of n fair coins show heads. */
function fewerHeads(n: number, count: number): number {
  let [logPmf, sum] = [-n * Math.LN2, 0];
  for (let k = 0; k < count; k++) {
    sum += Math.exp(logPmf);
    logPmf += Math.log((n - k) / (k + 1));
  }
  return sum;
}

/**
 * Interval that covers the median of any distribution in at least 95 of 100 cases, from independent values:
 * the k-th least and the k-th greatest. Undefined for fewer than six values.
 */
export function medianInterval(values: readonly number[]): Interval | undefined {
  const all = sorted(values);
  let k = 0;
  while (2 * fewerHeads(all.length, k + 1) <= 0.05) k++;
  return k === 0 ? undefined : [all[k - 1]!, all[all.length - k]!];
}
