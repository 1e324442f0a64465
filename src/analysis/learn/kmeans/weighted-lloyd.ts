import { type Centroids, packedCentroids, vanDerCorput } from './centroids.js';

/** Public points with weights, such as noisy boxes: k-means on them is postprocessing, so restarts are free. */
export interface WeightedPoints {
  readonly dimensions: number;
  /** Point by point. */
  readonly points: Float64Array;
  readonly weights: Float64Array;
}

const starts = 24;
/** Starts are compared on this many of the heaviest points; the best few are run to convergence on all points. */
const compared = 3000;
const finalists = 3;

/** The best centroids of many starts, as a function of the points alone. */
export function clusterWeighted(cloud: WeightedPoints, clusters: number): Centroids {
  const d = cloud.dimensions;
  const few = heaviest(cloud, compared);
  const found = Array.from({ length: starts }, (_, turn) =>
    weightedLloyd(few, turn === 0 ? packedCentroids(clusters, d) : seededCentroids(few, clusters, turn), 15),
  ).sort((a, b) => a.cost - b.cost);
  return found
    .slice(0, finalists)
    .map(({ centres }) => weightedLloyd(cloud, centres, 40))
    .reduce((a, b) => (b.cost < a.cost ? b : a)).centres;
}

function heaviest(cloud: WeightedPoints, most: number): WeightedPoints {
  const { dimensions: d, points, weights } = cloud;
  if (weights.length <= most) return cloud;
  const kept = Array.from(weights, (_, i) => i)
    .sort((a, b) => weights[b]! - weights[a]! || a - b)
    .slice(0, most);
  const some = new Float64Array(most * d);
  kept.forEach((i, k) => {
    some.set(points.subarray(i * d, (i + 1) * d), k * d);
  });
  return { dimensions: d, points: some, weights: Float64Array.from(kept, (i) => weights[i]!) };
}

/** For each point its nearest centroid, and the squared distance. */
export function nearestCentroids(centres: Centroids, d: number, points: Float64Array): { best: Int32Array; gap: Float64Array } {
  const flat = Float64Array.from(centres.flat());
  const count = points.length / d;
  const [best, gap] = [new Int32Array(count), new Float64Array(count)];
  for (let i = 0; i < count; i++) {
    let least = Number.POSITIVE_INFINITY;
    for (let k = 0, from = 0; from < flat.length; k++, from += d) {
      let squaredDistance = 0;
      for (let c = 0; c < d && squaredDistance < least; c++) squaredDistance += (points[i * d + c]! - flat[from + c]!) ** 2;
      if (squaredDistance < least) {
        least = squaredDistance;
        best[i] = k;
      }
    }
    gap[i] = least;
  }
  return { best, gap };
}

/** Lloyd's algorithm; a centroid with no nearest points stays. */
export function weightedLloyd(cloud: WeightedPoints, start: Centroids, rounds: number): { centres: Centroids; cost: number } {
  const { dimensions: d, points, weights } = cloud;
  let centres = start;
  let cost = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round++) {
    const { best, gap } = nearestCentroids(centres, d, points);
    const sums = centres.map(() => new Float64Array(d));
    const mass = new Float64Array(centres.length);
    let total = 0;
    for (let i = 0; i < weights.length; i++) {
      const w = weights[i]!;
      const k = best[i]!;
      if (w <= 0) continue;
      total += w * gap[i]!;
      mass[k]! += w;
      const sum = sums[k]!;
      for (let c = 0; c < d; c++) sum[c]! += w * points[i * d + c]!;
    }
    if (total >= cost * (1 - 1e-6)) break;
    cost = total;
    centres = centres.map((centre, k) => (mass[k]! > 0 ? Array.from(sums[k]!, (s) => s / mass[k]!) : centre));
  }
  return { centres, cost };
}

/** Seeds far from each other, heavy ones first, by a fixed sequence: a function of the points alone. */
function seededCentroids({ dimensions: d, points, weights }: WeightedPoints, clusters: number, turn: number): number[][] {
  const draw = (k: number) => vanDerCorput(k + 1 + 31 * turn, 2 + (turn % 5));
  const gap = new Float64Array(weights.length).fill(1);
  const chosen: number[][] = [];
  for (let k = 0; k < clusters; k++) {
    const seed = pick(weights, gap, draw(k));
    const centre = [...points.subarray(seed * d, (seed + 1) * d)];
    chosen.push(centre);
    for (let i = 0; i < weights.length; i++) {
      let squaredDistance = 0;
      for (let c = 0; c < d; c++) squaredDistance += (points[i * d + c]! - centre[c]!) ** 2;
      gap[i] = k === 0 ? squaredDistance : Math.min(gap[i]!, squaredDistance);
    }
  }
  return chosen;
}

function pick(weights: Float64Array, gap: Float64Array, u: number): number {
  let total = 0;
  for (let i = 0; i < weights.length; i++) total += Math.max(0, weights[i]!) * gap[i]!;
  let left = u * total;
  for (let i = 0; i < weights.length; i++) {
    left -= Math.max(0, weights[i]!) * gap[i]!;
    if (left < 0) return i;
  }
  return weights.length - 1;
}
