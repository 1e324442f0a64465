import { multiply, rational, toNumber } from '../../../base/exact/rational.js';
import { type AdditiveMechanism, additiveMechanism, noiseWidth } from '../../../privacy/mechanism/additive.js';
import { type BudgetShare, splitShare } from '../../../privacy/mechanism/budget-share.js';
import { sparseRowsSensitivity, tableSensitivity } from '../record-sensitivity.js';
import { type Centroids, nearestCentroid, packedCentroids } from './centroids.js';
import { lastPositions, type Points } from './points.js';
import { gaussianSplit, iterationsFor, lloydSplit } from './split.js';
import { type KmeansSetting, type KmeansVariant, leastBy } from './variant.js';

/** Lloyd's algorithm with noisy counts and sums of every cluster in every iteration (kmeans.proof.md). */
export function lloydVariant(setting: KmeansSetting, within: readonly BudgetShare[], iterations?: number): KmeansVariant {
  const last = lastPositions(setting.box);
  const made = within.map((budgetShare) => lloydNoise(setting, budgetShare, iterations ?? iterationCount(setting, budgetShare)));
  const { count, sums } = leastBy(made, (own) => own.sums[0]!.variance);
  const rounds = count.draws;
  return {
    name: 'lloyd',
    why: `${rounds} rounds of Lloyd's algorithm, each with noisy counts and noisy sums of every cluster.`,
    mechanisms: [count, ...sums],
    prepare: (payment) => (points) =>
      noisyLloyd(points, last, setting.clusters, {
        rounds,
        // One iteration at a time, so that the noise of many iterations is not held at once.
        noise: () => ({ counts: count.prepare(payment), sums: sums.map((sum) => sum.prepare(payment)) }),
        least: 4 * noiseWidth(count.distribution),
      }),
  };
}

function iterationCount({ box, clusters, records }: KmeansSetting, { noise, amount }: BudgetShare): number {
  const d = box.names.length;
  if (noise === 'pure') return iterationsFor(clusters, d, records, toNumber(amount));
  return Math.min(7, iterationsFor(clusters, d, records, Math.sqrt(2 * toNumber(amount)) * 2));
}

/** A row is in one cluster, and contributes at most `last` to the sum of a coordinate. One mechanism per coordinate. */
function lloydNoise(
  { box, clusters, rowsPerRecord }: KmeansSetting,
  budgetShare: BudgetShare,
  times: number,
): { readonly count: AdditiveMechanism; readonly sums: readonly AdditiveMechanism[] } {
  const split = (budgetShare.noise === 'pure' ? lloydSplit : gaussianSplit)(box.names.length, times);
  const forCounts = splitShare(budgetShare, multiply(split.count, rational(times)));
  const forSums = splitShare(budgetShare, multiply(split.dimension, rational(times)));
  const often = { cells: clusters, times };
  return {
    count: additiveMechanism(
      { name: 'rows per cluster and round', sensitivity: tableSensitivity(rowsPerRecord), ...often },
      forCounts,
    ),
    sums: box.grids.map(({ last, step }, c) =>
      additiveMechanism(
        {
          name: `sum of ${box.names[c]!} per cluster and round`,
          sensitivity: sparseRowsSensitivity(rowsPerRecord, 1, last),
          // A coordinate is twice the position on the grid.
          unit: toNumber(step) / 2,
          ...often,
        },
        forSums,
      ),
    ),
  };
}

type AddNoise = (exact: readonly bigint[]) => bigint[];
interface LloydRounds {
  readonly rounds: number;
  /** Noise of one iteration: of the clusters' counts, and of their sums for each dimension. */
  readonly noise: () => { readonly counts: AddNoise; readonly sums: readonly AddNoise[] };
  /** Public noisy count below which a cluster stays; true emptiness does not show. */
  readonly least: number;
}

/** DPLloyd: public start, fixed iterations; every cluster, even an empty one, publishes a noisy count and noisy sums. */
export function noisyLloyd(
  points: Points,
  last: readonly number[],
  clusters: number,
  { rounds, noise, least }: LloydRounds,
): { centres: Centroids; counts: readonly number[] } {
  let centres: Centroids = packedCentroids(clusters, points.dimensions);
  let counts: readonly number[] = [];
  for (let round = 0; round < rounds; round++) {
    const add = noise();
    const tally = tallyClusters(points, last, centres);
    counts = add.counts(tally.counts.map(BigInt)).map(Number);
    const sums = add.sums.map((own, c) => own(tally.sums.map((of) => of[c]!)).map(Number));
    centres = centres.map((centre, k) => {
      if (counts[k]! < least) return centre;
      const mass = Math.max(1, counts[k]!);
      return sums.map((sum, c) => Math.min(1, Math.max(-1, sum[k]! / (mass * last[c]!))));
    });
  }
  return { centres, counts };
}

/** Exact counts and integer coordinate sums of the points nearest to each centre. */
export function tallyClusters(
  { dimensions: d, count, coordinates }: Points,
  last: readonly number[],
  centres: Centroids,
): { counts: number[]; sums: bigint[][] } {
  const counts = new Array<number>(centres.length).fill(0);
  // |sum| <= 2^30 x rows < 2^53 up to 2^23 rows; beyond that sums are carried to BigInt.
  const carry = 2 ** 22;
  const sums = centres.map(() => new Array<bigint>(d).fill(0n));
  const partial = new Float64Array(centres.length * d);
  const flush = () => {
    for (const [at, sum] of partial.entries()) sums[Math.floor(at / d)]![at % d]! += BigInt(sum);
    partial.fill(0);
  };
  const flat = Float64Array.from(centres.flat());
  const scale = Float64Array.from(last, (l) => 1 / l);
  const x = new Float64Array(d);
  for (let i = 0; i < count; i++) {
    for (let c = 0; c < d; c++) x[c] = coordinates[i * d + c]! * scale[c]!;
    const nearest = nearestCentroid(flat, d, x);
    counts[nearest]!++;
    for (let c = 0; c < d; c++) partial[nearest * d + c]! += coordinates[i * d + c]!;
    if (i % carry === carry - 1) flush();
  }
  flush();
  return { counts, sums };
}
