import type { Centroids } from './centroids.js';
import { normLength, type OffsetNorm } from './offsets.js';
import { clusterWeighted, nearestCentroids, type WeightedPoints } from './weighted-lloyd.js';

/** Published centroids with their estimated numbers of rows, and the radius to which offsets are clipped. Postprocessing only. */
export interface RefinedCentroids {
  readonly centres: Centroids;
  readonly masses: readonly number[];
  readonly radii: readonly number[];
}

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
  const d = cloud.dimensions;
  const centres = clusterWeighted(cloud, clusters);
  const { best } = nearestCentroids(centres, d, cloud.points);
  const masses = centres.map(() => 0);
  const far = centres.map(() => 0);
  const offset = new Float64Array(d);
  cloud.weights.forEach((w, b) => {
    const k = best[b]!;
    const centre = centres[k]!;
    // The mean of |x| over -h .. h around o is (o^2 + h^2) / 2h, or |o| where that is larger than h; its mean square is o^2 + h^2 / 3.
    for (let c = 0; c < d; c++) {
      const [o, h] = [Math.abs(cloud.points[b * d + c]! - centre[c]!), cloud.halves[b * d + c]!];
      offset[c] = norm === 'l2' ? Math.hypot(o, h / Math.sqrt(3)) : o >= h ? o : (o * o + h * h) / (2 * h);
    }
    masses[k]! += w;
    far[k]! += w * normLength[norm](offset);
  });
  const overall =
    far.reduce((a, b) => a + b, 0) /
    Math.max(
      1,
      masses.reduce((a, b) => a + b, 0),
    );
  return {
    centres,
    masses,
    radii: far.map((x, k) => Math.max(leastRadius, reach * (masses[k]! > 0 ? x / masses[k]! : overall))),
  };
}

const leastRadius = 1e-6;

/** Rows of each centroid, estimated from the boxes. */
function clusterMasses({ dimensions: d, points, weights }: WeightedPoints, centres: Centroids): number[] {
  const { best } = nearestCentroids(centres, d, points);
  const masses = centres.map(() => 0);
  weights.forEach((w, b) => {
    masses[best[b]!]! += w;
  });
  return masses;
}

/** Moves every centroid by its rows' mean offset, shrunk by its noise (variance of one summed offset, in radii). */
export function moveCentroids(
  { centres, masses, radii }: RefinedCentroids,
  cloud: WeightedPoints,
  moved: readonly number[],
  variance: number,
  next: readonly number[] = radii,
): RefinedCentroids {
  const d = cloud.dimensions;
  const after = centres.map((centre, k) => {
    const per = radii[k]! / Math.max(1, masses[k]!);
    const offset = centre.map((_, c) => moved[k * d + c]! * per);
    const found = offset.reduce((s, x) => s + x * x, 0);
    const trust = found > 0 ? Math.max(0, 1 - (d * variance * per * per) / found) : 0;
    return centre.map((x, c) => Math.min(1, Math.max(-1, x + trust * offset[c]!)));
  });
  return { centres: after, masses: clusterMasses(cloud, after), radii: next };
}

/** Radii from the rows' own distances (in radii, summed, with noise of this variance); never wider than before. */
export function clusterRadii(
  { masses, radii }: RefinedCentroids,
  far: readonly number[],
  reach: number,
  variance: number,
): number[] {
  return radii.map((radius, k) => {
    const mean = (far[k]! + Math.sqrt(variance)) / Math.max(1, masses[k]!);
    return Math.max(leastRadius, radius / 8, Math.min(radius, reach * mean * radius));
  });
}
