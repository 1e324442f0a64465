import { type Centroids, nearestCentroid } from './centroids.js';
import type { Points } from './points.js';

/** Norm in which an offset is clipped: L1 for Laplace noise, L2 for Gaussian noise. */
export type OffsetNorm = 'l1' | 'l2';
/** Units of one radius. */
export const offsetUnit = 2 ** 16;

export const normLength: Readonly<Record<OffsetNorm, (v: ArrayLike<number>) => number>> = {
  l1: (v) => {
    let s = 0;
    for (let c = 0; c < v.length; c++) s += Math.abs(v[c]!);
    return s;
  },
  l2: (v) => {
    let s = 0;
    for (let c = 0; c < v.length; c++) s += v[c]! * v[c]!;
    return Math.sqrt(s);
  },
};

/** Published centroids, with the radii to which offsets from them are clipped. */
export interface ClippingBalls {
  readonly centres: Centroids;
  readonly radii: readonly number[];
  readonly norm: OffsetNorm;
}

/**
 * Sum of offsets of the rows nearest to each centroid, in units of 1 / `offsetUnit` of its radius, clipped to the radius. No row adds
 * a vector longer than `offsetUnit`, whatever rounding did: a longer one is dropped.
 */
export function tallyOffsets(
  { dimensions: d, count, coordinates }: Points,
  last: readonly number[],
  { centres, radii, norm }: ClippingBalls,
): { offsets: bigint[]; distances: bigint[] } {
  const flat = Float64Array.from(centres.flat());
  const scale = Float64Array.from(last, (l) => 1 / l);
  const offsets = new Float64Array(centres.length * d);
  const distances = new Float64Array(centres.length);
  const x = new Float64Array(d);
  const whole = new Float64Array(d);
  const length = normLength[norm];
  for (let i = 0; i < count; i++) {
    for (let c = 0; c < d; c++) x[c] = coordinates[i * d + c]! * scale[c]!;
    const best = nearestCentroid(flat, d, x);
    for (let c = 0; c < d; c++) x[c]! -= flat[best * d + c]!;
    const far = length(x);
    const shrink = offsetUnit / Math.max(radii[best]!, far);
    for (let c = 0; c < d; c++) whole[c] = Math.trunc(x[c]! * shrink);
    // Sums of whole numbers of at most 2^16 each: exact in doubles up to 2^37 rows.
    if (length(whole) <= offsetUnit) for (let c = 0; c < d; c++) offsets[best * d + c]! += whole[c]!;
    const distance = Math.trunc(offsetUnit * Math.min(1, far / radii[best]!));
    if (distance >= 0 && distance <= offsetUnit) distances[best]! += distance;
  }
  return { offsets: Array.from(offsets, BigInt), distances: Array.from(distances, BigInt) };
}
