import { normalQuantile } from '../answer.js';
import { confidenceInterval, type PerturbedValue } from './confidence-interval.js';
import { eigenDecomposition } from './matrix.js';
import type { Moments } from './moments.js';

interface CorrelationEstimate {
  /** Null where the noise left no rows, or no variation. */
  readonly value: number | null;
  readonly standardError: number | null;
  readonly low: number;
  readonly high: number;
  readonly withSampling?: { readonly low: number; readonly high: number; readonly standardError: number };
}

const noCorrelation: CorrelationEstimate = { value: null, standardError: null, low: -1, high: 1 };
const clip = (r: number): number => Math.min(1, Math.max(-1, r));

/**
 * Correlation of entries i and j with the interval of all values the noise leaves possible; `factor` adds sampling error on Fisher's
 * scale, with variance 1 / (n - 3) for bivariate normal numbers (confidence-interval.proof.md, 4).
 */
export function correlationEstimate(
  { matrix, noises }: ReturnType<Moments['at']>,
  i: number,
  j: number,
  factor?: number,
): CorrelationEstimate {
  const order = [0, i, j];
  const used = noises.filter(({ enters }) => enters.some(({ i: a, j: b }) => order.includes(a) && order.includes(b)));
  const of: PerturbedValue = (errors) => {
    const m = order.map((a) => order.map((b) => matrix[a]![b]!));
    used.forEach(({ deviation, enters }, k) => {
      for (const { i: a, j: b, by } of enters) {
        const [p, q] = [order.indexOf(a), order.indexOf(b)];
        if (p < 0 || q < 0) continue;
        m[p]![q]! += by * deviation * errors[k]!;
        if (p !== q) m[q]![p]! += by * deviation * errors[k]!;
      }
    });
    const n = m[0]![0]!;
    if (!(n > 0)) return undefined;
    const [x, y] = [m[0]![1]! / n, m[0]![2]! / n];
    const [vx, vy, c] = [m[1]![1]! / n - x * x, m[2]![2]! / n - y * y, m[1]![2]! / n - x * y];
    if (!(vx > 0 && vy > 0)) return undefined;
    const [root, r] = [Math.sqrt(vx * vy), c / Math.sqrt(vx * vy)];
    // Derivatives by entries of the matrix: the covariance, then the two variances.
    const byC = 1 / (n * root);
    const [byX, byY] = [-r / (2 * vx * n), -r / (2 * vy * n)];
    const slope = (p: number, q: number): number => {
      if (p > q) return slope(q, p);
      if (p === 1) return q === 1 ? byX : byC;
      if (p === 2) return byY;
      if (q === 1) return -y * byC - 2 * x * byX;
      if (q === 2) return -x * byC - 2 * y * byY;
      return byC * (2 * x * y - m[1]![2]! / n) + byX * (2 * x * x - m[1]![1]! / n) + byY * (2 * y * y - m[2]![2]! / n);
    };
    const slopes = Float64Array.from(used, ({ deviation, enters }) =>
      enters.reduce((sum, { i: a, j: b, by }) => {
        const [p, q] = [order.indexOf(a), order.indexOf(b)];
        return p < 0 || q < 0 ? sum : sum + by * deviation * slope(p, q);
      }, 0),
    );
    return { value: r, slopes };
  };
  const reached = confidenceInterval(of, used.length, (k) => used[k]!.laplace);
  if (!reached) return noCorrelation;
  const value = clip(reached.value);
  const [low, high] = [clip(reached.low ?? -1), clip(reached.high ?? 1)];
  const estimated = { value, standardError: reached.deviation, low: Math.min(low, value), high: Math.max(high, value) };
  return factor === undefined ? estimated : { ...estimated, withSampling: sampled(estimated, matrix[0]![0]! / factor) };
}

function sampled({ value, low, high }: { value: number; low: number; high: number }, people: number) {
  const error = people > 4 ? 1 / Math.sqrt(people - 3) : Number.POSITIVE_INFINITY;
  const z = Math.atanh(Math.min(1 - 1e-12, Math.max(1e-12 - 1, value)));
  const end = (at: number): number => {
    const far = Math.hypot(Math.atanh(at) - z, normalQuantile * error);
    return Math.tanh(z + (at < value ? -far : far));
  };
  return {
    standardError: Math.min(1, error * (1 - value * value)),
    low: low === -1 ? -1 : Math.min(low, end(Math.min(low, value - 1e-12))),
    high: high === 1 ? 1 : Math.max(high, end(Math.max(high, value + 1e-12))),
  };
}

/** Nearest correlation matrix: negative eigenvalues are set to 0, and the diagonal is scaled back to 1. */
export function nearestCorrelations(
  size: number,
  pairs: readonly (readonly [number, number])[],
  values: readonly (number | null)[],
): { readonly values: readonly (number | null)[]; readonly moved: boolean } {
  if (values.includes(null)) return { values, moved: false };
  const matrix = Array.from({ length: size }, (_, i) => Float64Array.from({ length: size }, (__, j) => (i === j ? 1 : 0)));
  pairs.forEach(([i, j], k) => {
    matrix[i - 1]![j - 1] = values[k]!;
    matrix[j - 1]![i - 1] = values[k]!;
  });
  const { values: eigenvalues, vectors } = eigenDecomposition(matrix);
  if (eigenvalues.every((x) => x >= -1e-12)) return { values, moved: false };
  const kept = (i: number, j: number): number =>
    eigenvalues.reduce((sum, x, k) => sum + Math.max(0, x) * vectors[i]![k]! * vectors[j]![k]!, 0);
  return {
    values: pairs.map(([i, j]) => clip(kept(i - 1, j - 1) / Math.sqrt(kept(i - 1, i - 1) * kept(j - 1, j - 1)))),
    moved: true,
  };
}
