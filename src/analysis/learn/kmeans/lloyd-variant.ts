import { multiply, rational, toNumber } from '../../../base/exact/rational.js';
import { type Additive, additive, spreadOf } from '../../../privacy/mechanism/additive.js';
import { type Allotment, partOf } from '../../../privacy/mechanism/allotment.js';
import type { Paid } from '../../../privacy/mechanism/paid.js';
import { rowsMoved, rowsReplaced } from '../effects.js';
import { noisyLloyd, type RoundNoise } from './lloyd.js';
import { gaussianSplit, iterationsFor, lloydSplit } from './split.js';
import type { Setting, Variant } from './variant.js';

/** Lloyd's algorithm with noisy counts and sums of every cluster in every iteration (kmeans.proof.md). */
export function lloydVariant(setting: Setting, within: readonly Allotment[], iterations?: number): Variant {
  const last = setting.box.grids.map((g) => g.last);
  const { count, sums, rounds } = within
    .map((allotment) => noiseOfRounds(setting, allotment, iterations ?? roundsFor(setting, allotment)))
    .reduce((a, b) => (b.sums[0]!.variance < a.sums[0]!.variance ? b : a));
  return {
    name: 'lloyd',
    why: `${rounds} rounds of Lloyd's algorithm, each with noisy counts and noisy sums of every cluster.`,
    mechanisms: [count, ...sums],
    ready: (paid) => (points) =>
      noisyLloyd(points, last, setting.clusters, roundsOf({ count, sums, rounds }, paid), 4 * spreadOf(count.law)),
  };
}

/** One iteration at a time, so that the noise of many iterations is not held at once. */
function* roundsOf({ count, sums, rounds }: NoiseOfRounds, paid: Paid): Iterable<RoundNoise> {
  for (let round = 0; round < rounds; round++) yield { counts: count.ready(paid), sums: sums.map((sum) => sum.ready(paid)) };
}

function roundsFor({ box, clusters, rows }: Setting, { noise, amount }: Allotment): number {
  const d = box.names.length;
  if (noise === 'pure') return iterationsFor(clusters, d, rows, toNumber(amount));
  return Math.min(7, iterationsFor(clusters, d, rows, Math.sqrt(2 * toNumber(amount)) * 2));
}

interface NoiseOfRounds {
  readonly rounds: number;
  readonly count: Additive;
  /** One mechanism per dimension. */
  readonly sums: readonly Additive[];
}

/** A row is in one cluster, and contributes at most `last` to the sum of a coordinate. */
function noiseOfRounds({ box, clusters, each }: Setting, allotment: Allotment, rounds: number): NoiseOfRounds {
  const split = (allotment.noise === 'pure' ? lloydSplit : gaussianSplit)(box.names.length, rounds);
  const [forCounts, forSums] = [split.count, split.dimension].map((share) =>
    partOf(allotment, multiply(share, rational(rounds))),
  ) as [Allotment, Allotment];
  const often = { cells: clusters, times: rounds };
  return {
    rounds,
    count: additive({ name: 'rows per cluster and round', effects: rowsMoved(each), ...often }, forCounts),
    sums: box.grids.map(({ last, step }, c) =>
      additive(
        {
          name: `sum of ${box.names[c]!} per cluster and round`,
          effects: rowsReplaced(each, 1, last),
          // A coordinate is twice the position on the grid.
          unit: toNumber(step) / 2,
          ...often,
        },
        forSums,
      ),
    ),
  };
}
