import { multiply, one, rational, subtract } from '../../../base/exact/rational.js';
import { type AdditiveMechanism, additiveMechanism } from '../../../privacy/mechanism/additive.js';
import { type BudgetShare, splitShare } from '../../../privacy/mechanism/budget-share.js';
import type { Payment } from '../../../privacy/mechanism/payment.js';
import { boundedRowsSensitivity, tableSensitivity } from '../record-sensitivity.js';
import { boxCloud, growBoxes, type HalvingLevel, halvingOrder } from './halving.js';
import { type HalvingBudget, halvingBudget } from './halving-budget.js';
import { type OffsetNorm, offsetUnit, tallyOffsets } from './offsets.js';
import type { Points } from './points.js';
import { clusterRadii, initialCentroids, moveCentroids, type RefinedCentroids } from './refine.js';
import type { Clustering, KmeansSetting, KmeansVariant } from './variant.js';

/** Recursive halving of dense boxes finds the clusters, iterations with clipped offsets refine them (kmeans.proof.md). */
export function halvingVariant(setting: KmeansSetting, within: readonly BudgetShare[], shape?: HalvingBudget): KmeansVariant {
  const made = within
    .map((budgetShare) => halvingNoise(setting, budgetShare, shape ?? halvingBudget(setting, budgetShare)))
    .reduce((a, b) => (b.blur < a.blur ? b : a));
  const { levels, offsets, distances, rounds } = made;
  return {
    name: 'halving',
    why: `Noisy counts of boxes, halved ${levels.length === 1 ? 'once' : `in ${levels.length} levels where people are`}, find the clusters${
      rounds > 0 ? `; ${rounds} round${rounds > 1 ? 's' : ''} of noisy offsets, clipped around every centre, sharpen them` : ''
    }.`,
    mechanisms: [...levels.map(({ noise }) => noise), ...(offsets ? [offsets] : []), ...(distances ? [distances] : [])],
    prepare: (payment) => (points) => cluster(setting, made, payment, points),
  };
}

interface HalvingNoise {
  readonly norm: OffsetNorm;
  readonly levels: readonly { readonly noise: AdditiveMechanism; readonly cells: number; readonly grain: number }[];
  readonly rounds: number;
  readonly reach: number;
  readonly offsets?: AdditiveMechanism;
  /** Noise of the rows' distances to their centroid, between iterations. */
  readonly distances?: AdditiveMechanism;
  /** Approximate deviation of a centroid from noise, for choosing between distributions. */
  readonly blur: number;
}

const maxBoxCount = 2 ** 15;
const distanceShare = rational(1, 10);

function halvingNoise(
  { box, clusters, rows, each }: KmeansSetting,
  budgetShare: BudgetShare,
  shape: HalvingBudget,
): HalvingNoise {
  const d = box.names.length;
  const all = each * rows;
  const level = (l: number, cells: number): AdditiveMechanism =>
    additiveMechanism(
      { name: `rows per box, level ${l + 1}`, cells, sensitivity: tableSensitivity(each) },
      splitShare(budgetShare, multiply(shape.boxes, rational(1, shape.levels))),
    );
  const levels = Array.from({ length: shape.levels }, (_, l) => {
    const grain = Math.max(
      (l < shape.levels - 1 ? shape.early : shape.late) * Math.sqrt(level(l, 1).variance),
      all / maxBoxCount,
    );
    const cells = Math.floor((all / grain) * 1.000001) + 1;
    return { noise: level(l, cells), cells, grain };
  });
  const norm = budgetShare.noise === 'pure' ? 'l1' : 'l2';
  const { rounds, reach } = shape;
  if (rounds === 0) return { norm, levels, rounds, reach, blur: levels[0]!.noise.variance };
  const left = splitShare(budgetShare, subtract(one, shape.boxes));
  const forDistances = rounds > 1 ? distanceShare : rational(0);
  const offsets = additiveMechanism(
    {
      name: 'offsets per cluster and round',
      cells: clusters * d,
      sensitivity: boundedRowsSensitivity(each, {
        l1: norm === 'l1' ? offsetUnit : Math.ceil(Math.sqrt(d)) * offsetUnit,
        l2: offsetUnit,
      }),
      unit: 1 / offsetUnit,
      times: rounds,
    },
    splitShare(left, subtract(one, forDistances)),
  );
  const distances =
    rounds > 1
      ? additiveMechanism(
          {
            name: 'distances per cluster and round',
            cells: clusters,
            sensitivity: tableSensitivity(each, offsetUnit),
            unit: 1 / offsetUnit,
            times: rounds - 1,
          },
          splitShare(left, forDistances),
        )
      : undefined;
  // For a cluster equally wide in all coordinates: absolute offsets sum to 0.8 d of its standard deviation, squares to the root of d.
  const wide = norm === 'l1' ? 0.8 * d : Math.sqrt(d);
  return {
    norm,
    levels,
    rounds,
    reach,
    offsets,
    ...(distances && { distances }),
    blur: offsets.variance * wide ** 2,
  };
}

function cluster({ box, clusters, rows, each }: KmeansSetting, made: HalvingNoise, payment: Payment, points: Points): Clustering {
  const last = box.grids.map((g) => g.last);
  const levels: HalvingLevel[] = made.levels.map(({ noise, cells, grain }) => ({
    cells,
    grain,
    spread: Math.sqrt(noise.variance),
    noise: (count) => noise.prepare(payment, count),
  }));
  const cloud = boxCloud(growBoxes(points, halvingOrder(last), levels, each * rows), last);
  let at: RefinedCentroids = initialCentroids(cloud, clusters, made.norm, made.reach);
  for (let round = 0; round < made.rounds; round++) {
    const tally = tallyOffsets(points, last, at.centres, at.radii, made.norm);
    const moved = made
      .offsets!.prepare(payment)(tally.offsets)
      .map((x) => Number(x) / offsetUnit);
    const far =
      made.distances && round < made.rounds - 1
        ? made.distances
            .prepare(payment)(tally.distances)
            .map((x) => Number(x) / offsetUnit)
        : undefined;
    at = moveCentroids(
      at,
      cloud,
      moved,
      made.offsets!.variance / offsetUnit ** 2,
      far && clusterRadii(at, far, made.reach, made.distances!.variance / offsetUnit ** 2),
    );
  }
  return { centres: at.centres, counts: at.masses.map(Math.round) };
}
