/** Statistical tests at alpha = 1e-6, shared by the tests of samplers and of whole releases. */

export const alpha = 1e-6;
/** The two-sided normal quantile of alpha. */
const normalLimit = 4.8917;

/** A symmetric distribution on the integers up to `reach` (the mass beyond is negligible for these sample sizes). */
export interface IntegerDistribution {
  readonly reach: number;
  readonly pmf: (k: number) => number;
}

export const laplaceDistribution = (scale: number): IntegerDistribution => ({
  reach: Math.ceil(45 * scale) + 2,
  pmf: (k) => Math.tanh(1 / (2 * scale)) * Math.exp(-Math.abs(k) / scale),
});

export function gaussianDistribution(variance: number): IntegerDistribution {
  const reach = Math.ceil(10 * Math.sqrt(variance)) + 2;
  let total = 1;
  for (let k = 1; k <= reach; k++) total += 2 * Math.exp((-k * k) / (2 * variance));
  return { reach, pmf: (k) => Math.exp((-k * k) / (2 * variance)) / total };
}

export function momentOf(distribution: IntegerDistribution, power: number): number {
  let sum = 0;
  for (let k = -distribution.reach; k <= distribution.reach; k++) sum += k ** power * distribution.pmf(k);
  return sum;
}

/** log Gamma by Lanczos. */
function logGamma(x: number): number {
  const c = [
    0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059, 12.507343278686905,
    -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
  ];
  let a = c[0]!;
  for (let i = 1; i < 9; i++) a += c[i]! / (x - 1 + i);
  const t = x + 6.5;
  return 0.5 * Math.log(2 * Math.PI) + (x - 0.5) * Math.log(t) - t + Math.log(a);
}

/** P(chi-square with `freedom` degrees > statistic): the regularised upper incomplete gamma function. */
function chiSquareTail(statistic: number, freedom: number): number {
  const a = freedom / 2;
  const x = statistic / 2;
  if (x <= 0) return 1;
  const front = Math.exp(a * Math.log(x) - x - logGamma(a));
  if (x < a + 1) {
    let term = 1 / a;
    let sum = term;
    for (let n = 1; n < 10_000 && term > sum * 1e-16; n++) {
      term *= x / (a + n);
      sum += term;
    }
    return 1 - front * sum;
  }
  let b = x + 1 - a;
  let c = 1e300;
  let d = 1 / b;
  let h = d;
  for (let i = 1; i < 10_000; i++) {
    const an = -i * (i - a);
    b += 2;
    d = 1 / (an * d + b || 1e-300);
    c = b + an / c || 1e-300;
    h *= d * c;
    if (Math.abs(d * c - 1) < 1e-15) break;
  }
  return front * h;
}

/** Cuts the integers into about `cells` stretches of similar probability; the ends take the tails. */
function cutInto(cells: number, distribution: IntegerDistribution): { upper: number[]; probability: number[] } {
  const upper: number[] = [];
  const probability: number[] = [];
  let mass = 0;
  for (let k = -distribution.reach; k <= distribution.reach; k++) {
    mass += distribution.pmf(k);
    if (mass >= 1 / cells) {
      upper.push(k);
      probability.push(mass);
      mass = 0;
    }
  }
  upper[upper.length - 1] = Number.POSITIVE_INFINITY;
  probability[probability.length - 1]! += mass;
  return { upper, probability };
}

const cellOf = (upper: readonly number[], x: number): number => {
  let low = 0;
  let high = upper.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (x <= upper[middle]!) high = middle;
    else low = middle + 1;
  }
  return low;
};

const countsIn = (upper: readonly number[], sample: readonly number[]): number[] => {
  const counts = new Array<number>(upper.length).fill(0);
  for (const x of sample) counts[cellOf(upper, x)]!++;
  return counts;
};

/** The p-value of the sample under the probabilities. */
export function chiSquare(counts: readonly number[], probability: readonly number[]): number {
  const n = counts.reduce((a, b) => a + b, 0);
  const statistic = counts.reduce((s, c, i) => s + (c - n * probability[i]!) ** 2 / (n * probability[i]!), 0);
  return chiSquareTail(statistic, counts.length - 1);
}

/** P-value of two samples having the same distribution (cells taken from the pooled one). */
export function twoSamples(a: readonly number[], b: readonly number[], distribution: IntegerDistribution, cells = 60): boolean {
  const { upper } = cutInto(cells, distribution);
  const ca = countsIn(upper, a);
  const cb = countsIn(upper, b);
  const statistic = ca.reduce((s, x, i) => {
    const y = cb[i]!;
    const expected = ((x + y) * a.length) / (a.length + b.length);
    const other = x + y - expected;
    return x + y === 0 ? s : s + (x - expected) ** 2 / expected + (y - other) ** 2 / other;
  }, 0);
  return chiSquareTail(statistic, upper.length - 1) > alpha;
}

export type Check = 'chi-square' | 'mean' | 'variance' | 'symmetry' | 'log-ratio' | 'tail';

/** The checks a sample fails at alpha. An exact sampler fails none, up to six in a million runs. */
export function failuresOf(sample: readonly number[], distribution: IntegerDistribution): Check[] {
  const n = sample.length;
  const failures: Check[] = [];
  const { upper, probability } = cutInto(80, distribution);
  if (chiSquare(countsIn(upper, sample), probability) < alpha) failures.push('chi-square');

  const variance = momentOf(distribution, 2);
  const fourth = momentOf(distribution, 4);
  const mean = sample.reduce((a, b) => a + b, 0) / n;
  if (Math.abs(mean) > normalLimit * Math.sqrt(variance / n)) failures.push('mean');
  const second = sample.reduce((a, b) => a + b * b, 0) / n;
  if (Math.abs(second - variance) > normalLimit * Math.sqrt((fourth - variance ** 2) / n)) failures.push('variance');

  const positive = sample.filter((x) => x > 0).length;
  const negative = sample.filter((x) => x < 0).length;
  if (Math.abs(positive - negative) > normalLimit * Math.sqrt(positive + negative)) failures.push('symmetry');

  // Privacy itself: the log-ratio between neighbouring outputs, where both are frequent enough for a normal error.
  const counts = new Map<number, number>();
  for (const x of sample) counts.set(x, (counts.get(x) ?? 0) + 1);
  const pairs = [...counts.keys()].filter((k) => counts.get(k)! >= 1000 && (counts.get(k + 1) ?? 0) >= 1000);
  // One alpha for all pairs together (Bonferroni, at most 200 pairs of 1,000 in the samples used here).
  const limit = 5.9;
  const wrong = pairs.some((k) => {
    const a = counts.get(k)!;
    const b = counts.get(k + 1)!;
    return Math.abs(Math.log(a / b) - Math.log(distribution.pmf(k) / distribution.pmf(k + 1))) > limit * Math.sqrt(1 / a + 1 / b);
  });
  if (wrong) failures.push('log-ratio');

  let edge = 0;
  for (let mass = 1; edge < distribution.reach && mass > 2e-3; edge++) mass -= (edge === 0 ? 1 : 2) * distribution.pmf(edge);
  let tail = 0;
  for (let k = edge; k <= distribution.reach; k++) tail += 2 * distribution.pmf(k);
  const far = sample.filter((x) => Math.abs(x) >= edge).length;
  if (Math.abs(far - n * tail) > normalLimit * Math.sqrt(n * tail) + 1) failures.push('tail');
  return failures;
}
