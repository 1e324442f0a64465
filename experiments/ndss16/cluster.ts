import { packedCentroids } from '../../src/analysis/learn/kmeans/centroids.js';
import type { Population } from '../../src/evaluate/attack/inference/patterns.js';

/** Points row by row, `width` coordinates in [0, 1] each. */
export interface Vectors {
  readonly count: number;
  readonly width: number;
  readonly at: Float64Array;
}

export const allRanks = ({ people, ranks, vector }: Population): Vectors => ({ count: people, width: 2 * ranks, at: vector });
export const topPlace = ({ people, ranks, vector }: Population): Vectors => ({
  count: people,
  width: 2,
  at: Float64Array.from({ length: 2 * people }, (_, k) => vector[(k >> 1) * 2 * ranks + (k & 1)]!),
});

export const take = ({ width, at }: Vectors, rows: readonly number[]): Vectors => {
  const out = new Float64Array(rows.length * width);
  rows.forEach((r, k) => {
    out.set(at.subarray(r * width, (r + 1) * width), k * width);
  });
  return { count: rows.length, width, at: out };
};

export function nearestCentre({ width, at }: Vectors, i: number, centres: Float64Array): number {
  let best = 0;
  let least = Number.POSITIVE_INFINITY;
  for (let k = 0; k * width < centres.length; k++) {
    let gap = 0;
    for (let d = 0; d < width; d++) gap += (at[i * width + d]! - centres[k * width + d]!) ** 2;
    if (gap < least) {
      least = gap;
      best = k;
    }
  }
  return best;
}

/** Lloyd's algorithm from given centres to convergence: the exact, non-private clustering. */
export function lloyd(
  points: Vectors,
  start: Float64Array,
  rounds = 100,
): { centres: Float64Array; part: Uint16Array; cost: number } {
  const { count, width, at } = points;
  const clusters = start.length / width;
  const centres = start.slice();
  const part = new Uint16Array(count);
  let cost = 0;
  for (let round = 0; round < rounds; round++) {
    const sums = new Float64Array(centres.length);
    const size = new Float64Array(clusters);
    let moved = false;
    for (let i = 0; i < count; i++) {
      const k = nearestCentre(points, i, centres);
      if (round === 0 || k !== part[i]) moved = true;
      part[i] = k;
      size[k]!++;
      for (let d = 0; d < width; d++) sums[k * width + d]! += at[i * width + d]!;
    }
    if (!moved) break;
    for (let k = 0; k < clusters; k++)
      if (size[k]! > 0) for (let d = 0; d < width; d++) centres[k * width + d] = sums[k * width + d]! / size[k]!;
  }
  for (let i = 0; i < count; i++)
    for (let d = 0; d < width; d++) cost += (at[i * width + d]! - centres[part[i]! * width + d]!) ** 2;
  return { centres, part, cost };
}

/** Public starts in the unit box. */
export const publicStart = (clusters: number, width: number, turn = 0): Float64Array =>
  Float64Array.from(packedCentroids(clusters, width, turn).flat(), (v) => (v + 1) / 2);

/** The best of several public starts and of starts at data points, as a careful non-private analyst would choose. */
export function bestLloyd(points: Vectors, clusters: number, draw: () => number, tries = 8) {
  let best = lloyd(points, publicStart(clusters, points.width));
  for (let t = 0; t < tries; t++) {
    const rows = Array.from({ length: clusters }, () => Math.floor(draw() * points.count));
    const found = lloyd(points, take(points, rows).at);
    if (found.cost < best.cost) best = found;
  }
  return best;
}

/** Pinned metric: share of points whose nearest noisy centre is, after the best matching of centres, their nearest exact one. */
export function clusteringAccuracy(points: Vectors, exact: Float64Array, noisy: Float64Array): number {
  const clusters = exact.length / points.width;
  const together = Array.from({ length: clusters }, () => new Float64Array(clusters));
  for (let i = 0; i < points.count; i++) together[nearestCentre(points, i, exact)]![nearestCentre(points, i, noisy)]!++;
  return bestMatching(together) / points.count;
}

/** Largest sum of one entry per row and column, by dynamic programming over sets of columns (exact; K is small). */
export function bestMatching(weights: readonly Float64Array[]): number {
  const n = weights.length;
  const best = new Float64Array(2 ** n).fill(Number.NEGATIVE_INFINITY);
  best[0] = 0;
  for (let used = 0; used < best.length; used++) {
    if (best[used] === Number.NEGATIVE_INFINITY) continue;
    let row = 0;
    for (let s = used; s > 0; s &= s - 1) row++;
    if (row === n) continue;
    for (let c = 0; c < n; c++)
      if (!(used & (1 << c))) {
        const next = used | (1 << c);
        best[next] = Math.max(best[next]!, best[used]! + weights[row]![c]!);
      }
  }
  return best[2 ** n - 1]!;
}
