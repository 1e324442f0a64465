import { multiply, rational, toNumber } from '../../../base/exact/rational.js';
import { type AdditiveMechanism, additiveMechanism, noiseWidth } from '../../../privacy/mechanism/additive.js';
import { type BudgetShare, splitShare } from '../../../privacy/mechanism/budget-share.js';
import type { Payment } from '../../../privacy/mechanism/payment.js';
import { sparseRowsSensitivity, tableSensitivity } from '../record-sensitivity.js';
import { type IterationNoise, noisyLloyd } from './lloyd.js';
import { gaussianSplit, iterationsFor, lloydSplit } from './split.js';
import type { KmeansSetting, KmeansVariant } from './variant.js';

/** Lloyd's algorithm with noisy counts and sums of every cluster in every iteration (kmeans.proof.md). */
export function lloydVariant(setting: KmeansSetting, within: readonly BudgetShare[], iterations?: number): KmeansVariant {
  const last = setting.box.grids.map((g) => g.last);
  const {
    count,
    sums,
    iterations: rounds,
  } = within
    .map((budgetShare) => lloydNoise(setting, budgetShare, iterations ?? iterationCount(setting, budgetShare)))
    .reduce((a, b) => (b.sums[0]!.variance < a.sums[0]!.variance ? b : a));
  return {
    name: 'lloyd',
    why: `${rounds} rounds of Lloyd's algorithm, each with noisy counts and noisy sums of every cluster.`,
    mechanisms: [count, ...sums],
    prepare: (payment) => (points) =>
      noisyLloyd(
        points,
        last,
        setting.clusters,
        iterationNoises({ count, sums, iterations: rounds }, payment),
        4 * noiseWidth(count.distribution),
      ),
  };
}

/** One iteration at a time, so that the noise of many iterations is not held at once. */
function* iterationNoises({ count, sums, iterations }: LloydNoise, payment: Payment): Iterable<IterationNoise> {
  for (let round = 0; round < iterations; round++)
    yield { counts: count.prepare(payment), sums: sums.map((sum) => sum.prepare(payment)) };
}

function iterationCount({ box, clusters, rows }: KmeansSetting, { noise, amount }: BudgetShare): number {
  const d = box.names.length;
  if (noise === 'pure') return iterationsFor(clusters, d, rows, toNumber(amount));
  return Math.min(7, iterationsFor(clusters, d, rows, Math.sqrt(2 * toNumber(amount)) * 2));
}

interface LloydNoise {
  readonly iterations: number;
  readonly count: AdditiveMechanism;
  /** One mechanism per dimension. */
  readonly sums: readonly AdditiveMechanism[];
}

/** A row is in one cluster, and contributes at most `last` to the sum of a coordinate. */
function lloydNoise({ box, clusters, each }: KmeansSetting, budgetShare: BudgetShare, rounds: number): LloydNoise {
  const split = (budgetShare.noise === 'pure' ? lloydSplit : gaussianSplit)(box.names.length, rounds);
  const [forCounts, forSums] = [split.count, split.dimension].map((share) =>
    splitShare(budgetShare, multiply(share, rational(rounds))),
  ) as [BudgetShare, BudgetShare];
  const often = { cells: clusters, times: rounds };
  return {
    iterations: rounds,
    count: additiveMechanism({ name: 'rows per cluster and round', sensitivity: tableSensitivity(each), ...often }, forCounts),
    sums: box.grids.map(({ last, step }, c) =>
      additiveMechanism(
        {
          name: `sum of ${box.names[c]!} per cluster and round`,
          sensitivity: sparseRowsSensitivity(each, 1, last),
          // A coordinate is twice the position on the grid.
          unit: toNumber(step) / 2,
          ...often,
        },
        forSums,
      ),
    ),
  };
}
