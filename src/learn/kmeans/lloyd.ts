import { type Centres, packedCentres } from './centres.js';
import type { Points } from './points.js';

/** Draws one noisy integer vector: exact + noise. Separate draws for counts and sums, whose scales differ. */
export interface LloydNoise {
  readonly count: () => bigint;
  readonly sum: readonly (() => bigint)[];
  /** A noisy count below this (public) is mostly noise: the cluster stays where it was. Judged on the noisy count, so emptiness does not show. */
  readonly least: number;
}

/**
 * DPLloyd: public start, a fixed number of rounds; in every round every cluster, also an empty one, publishes a noisy count and noisy coordinate sums.
 * Centres are in units of the half box, so that all coordinates lie in [-1, 1].
 */
export function noisyLloyd(
  points: Points,
  last: readonly number[],
  clusters: number,
  iterations: number,
  noise: LloydNoise,
): { centres: number[][]; counts: number[] } {
  let centres: Centres = packedCentres(clusters, points.dimensions);
  let counts: number[] = [];
  for (let round = 0; round < iterations; round++) {
    const tally = tallyClusters(points, last, centres);
    counts = tally.counts.map((n) => Number(BigInt(n) + noise.count()));
    centres = tally.sums.map((sums, k) => {
      const mass = Math.max(1, counts[k]!);
      const moved = sums.map((s, c) => {
        const noisy = Number(s + noise.sum[c]!());
        return Math.min(1, Math.max(-1, noisy / (mass * last[c]!)));
      });
      return counts[k]! < noise.least ? centres[k]! : moved;
    });
  }
  return { centres: centres.map((c) => [...c]), counts };
}

/** Exact counts and integer coordinate sums of the points nearest to each centre. */
export function tallyClusters(points: Points, last: readonly number[], centres: Centres): { counts: number[]; sums: bigint[][] } {
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
