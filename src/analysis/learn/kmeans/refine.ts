import type { Centroids } from './centroids.js';
import { nearestCentroids } from './centroids.js';
import { type ClippingBalls, normLength, type OffsetNorm } from './offsets.js';
import { clusterWeighted, type WeightedPoints } from './weighted-lloyd.js';

/** Published centroids with their estimated numbers of rows. Postprocessing only. */
export interface RefinedCentroids extends ClippingBalls {
  readonly masses: readonly number[];
}

const leastRadius = 1e-6;

/**
 * Clusters computed from the boxes alone. A radius is `reach` times the mean distance to the centroid, boxes taken as uniformly
 * filled.
 */
export function initialCentroids(
  cloud: WeightedPoints & { readonly halves: Float64Array },
  clusters: number,
  norm: OffsetNorm,
  reach: number,
): RefinedCentroids {
  const { dimensions: d, points, halves, weights } = cloud;
  const centres = clusterWeighted(cloud, clusters);
  const { best } = nearestCentroids(centres, d, points);
  const masses = centres.map(() => 0);
  const far = centres.map(() => 0);
  const offset = new Float64Array(d);
  for (const [b, w] of weights.entries()) {
    const k = best[b]!;
    for (let c = 0; c < d; c++) offset[c] = meanOffset[norm](Math.abs(points[b * d + c]! - centres[k]![c]!), halves[b * d + c]!);
    masses[k]! += w;
    far[k]! += w * normLength[norm](offset);
  }
  const sum = (list: readonly number[]) => list.reduce((a, b) => a + b, 0);
  const overall = sum(far) / Math.max(1, sum(masses));
  const radii = far.map((x, k) => Math.max(leastRadius, reach * (masses[k]! > 0 ? x / masses[k]! : overall)));
  return { centres, masses, radii, norm };
}

/** Mean of |x| over -h .. h around o is (o^2 + h^2) / 2h, or |o| where that is larger than h; the mean square is o^2 + h^2 / 3. */
const meanOffset: Readonly<Record<OffsetNorm, (o: number, h: number) => number>> = {
  l1: (o, h) => (o >= h ? o : (o * o + h * h) / (2 * h)),
  l2: (o, h) => Math.hypot(o, h / Math.sqrt(3)),
};

/** Rows of each centroid, estimated from the boxes. */
function clusterMasses({ dimensions: d, points, weights }: WeightedPoints, centres: Centroids): number[] {
  const { best } = nearestCentroids(centres, d, points);
  const masses = centres.map(() => 0);
  for (const [b, w] of weights.entries()) masses[best[b]!]! += w;
  return masses;
}

/** Noisy sums, in radii, with the variance of one. */
export interface NoisySums {
  readonly sums: readonly number[];
  readonly variance: number;
}

/** Moves every centroid by its rows' mean offset, shrunk by its noise. */
export function moveCentroids(at: RefinedCentroids, cloud: WeightedPoints, { sums, variance }: NoisySums): RefinedCentroids {
  const d = cloud.dimensions;
  const centres = at.centres.map((centre, k) => {
    const per = at.radii[k]! / Math.max(1, at.masses[k]!);
    const offset = centre.map((_, c) => sums[k * d + c]! * per);
    const found = offset.reduce((s, x) => s + x * x, 0);
    const trust = found > 0 ? Math.max(0, 1 - (d * variance * per * per) / found) : 0;
    return centre.map((x, c) => Math.min(1, Math.max(-1, x + trust * offset[c]!)));
  });
  return { ...at, centres, masses: clusterMasses(cloud, centres) };
}

/** Radii from the rows' own distances; never wider than before. */
export const clusterRadii = ({ masses, radii }: RefinedCentroids, { sums, variance }: NoisySums, reach: number): number[] =>
  radii.map((radius, k) => {
    const mean = (sums[k]! + Math.sqrt(variance)) / Math.max(1, masses[k]!);
    return Math.max(leastRadius, radius / 8, Math.min(radius, reach * mean * radius));
  });
