import { type Centroids, nearestCentroids, packedCentroids, squaredDistance, vanDerCorput } from './centroids.js';
import { leastBy } from './variant.js';

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
  const few = heaviest(cloud, compared);
  const found = Array.from({ length: starts }, (_, turn) =>
    weightedLloyd(few, turn === 0 ? packedCentroids(clusters, cloud.dimensions) : seededCentroids(few, clusters, turn), 15),
  ).sort((a, b) => a.cost - b.cost);
  const converged = found.slice(0, finalists).map(({ centres }) => weightedLloyd(cloud, centres, 40));
  return leastBy(converged, ({ cost }) => cost).centres;
}

function heaviest(cloud: WeightedPoints, most: number): WeightedPoints {
  const { dimensions: d, points, weights } = cloud;
  if (weights.length <= most) return cloud;
  const kept = [...weights.keys()].sort((a, b) => weights[b]! - weights[a]! || a - b).slice(0, most);
  const some = new Float64Array(most * d);
  for (const [k, i] of kept.entries()) some.set(points.subarray(i * d, (i + 1) * d), k * d);
  return { dimensions: d, points: some, weights: Float64Array.from(kept, (i) => weights[i]!) };
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
  const gap = new Float64Array(weights.length).fill(1);
  const chosen: number[][] = [];
  for (let k = 0; k < clusters; k++) {
    const seed = pick(weights, gap, vanDerCorput(k + 1 + 31 * turn, 2 + (turn % 5)));
    const centre = [...points.subarray(seed * d, (seed + 1) * d)];
    chosen.push(centre);
    for (let i = 0; i < weights.length; i++) {
      const distance = squaredDistance(points, centre, d, i * d);
      gap[i] = k === 0 ? distance : Math.min(gap[i]!, distance);
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
