import { type Centroids, packedCentroids } from './centroids.js';
import type { Points } from './points.js';

type AddNoise = (exact: readonly bigint[]) => bigint[];
/** Noise of one iteration: of the clusters' counts, and of their sums for each dimension. */
export interface IterationNoise {
  readonly counts: AddNoise;
  readonly sums: readonly AddNoise[];
}

/**
 * DPLloyd: public start, fixed iterations; every cluster, even an empty one, publishes a noisy count and noisy sums. Below a public
 * noisy count `least` the cluster stays; the true emptiness does not show.
 */
export function noisyLloyd(
  points: Points,
  last: readonly number[],
  clusters: number,
  rounds: Iterable<IterationNoise>,
  least: number,
): { centres: number[][]; counts: number[] } {
  let centres: Centroids = packedCentroids(clusters, points.dimensions);
  let counts: number[] = [];
  for (const noise of rounds) {
    const tally = tallyClusters(points, last, centres);
    counts = noise.counts(tally.counts.map(BigInt)).map(Number);
    const sums = noise.sums.map((add, c) => add(tally.sums.map((of) => of[c]!)).map(Number));
    centres = centres.map((centre, k) => {
      if (counts[k]! < least) return centre;
      const mass = Math.max(1, counts[k]!);
      return sums.map((sum, c) => Math.min(1, Math.max(-1, sum[k]! / (mass * last[c]!))));
    });
  }
  return { centres: centres.map((c) => [...c]), counts };
}

/** Exact counts and integer coordinate sums of the points nearest to each centre. */
export function tallyClusters(
  points: Points,
  last: readonly number[],
  centres: Centroids,
): { counts: number[]; sums: bigint[][] } {
  const { dimensions: d, count, coordinates } = points;
  const counts = new Array<number>(centres.length).fill(0);
  // |sum| <= 2^30 x rows < 2^53 up to 2^23 rows; beyond that sums are carried to BigInt.
  const carry = 2 ** 22;
  const sums = centres.map(() => new Array<bigint>(d).fill(0n));
  const partial = centres.map(() => new Float64Array(d));
  const flush = () =>
    partial.forEach((row, k) => {
      row.forEach((s, c) => {
        sums[k]![c]! += BigInt(s);
      });
      row.fill(0);
    });
  const flat = Float64Array.from(centres.flat());
  const scale = Float64Array.from(last, (l) => 1 / l);
  for (let i = 0; i < count; i++) {
    let best = 0;
    let least = Number.POSITIVE_INFINITY;
    for (let k = 0; k < centres.length; k++) {
      let gap = 0;
      for (let c = 0; c < d; c++) gap += (coordinates[i * d + c]! * scale[c]! - flat[k * d + c]!) ** 2;
      if (gap < least) {
        least = gap;
        best = k;
      }
    }
    counts[best]!++;
    for (let c = 0; c < d; c++) partial[best]![c]! += coordinates[i * d + c]!;
    if (i % carry === carry - 1) flush();
  }
  flush();
  return { counts, sums };
}
