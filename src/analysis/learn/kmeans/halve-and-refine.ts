import { multiply, one, rational, subtract, toNumber } from '../../../base/exact/rational.js';
import { type AdditiveMechanism, additiveMechanism } from '../../../privacy/mechanism/additive.js';
import { type BudgetShare, splitShare } from '../../../privacy/mechanism/budget-share.js';
import type { Payment } from '../../../privacy/mechanism/payment.js';
import { boundedRowsSensitivity, tableSensitivity } from '../record-sensitivity.js';
import { boxCloud, growBoxes, type HalvingLevel, halvingOrder } from './halving.js';
import { type OffsetNorm, offsetUnit, tallyOffsets } from './offsets.js';
import { lastPositions, type Points } from './points.js';
import { clusterRadii, initialCentroids, moveCentroids, type NoisySums } from './refine.js';
import { type Clustering, type KmeansSetting, type KmeansVariant, leastBy } from './variant.js';

/** Recursive halving of dense boxes finds the clusters, iterations with clipped offsets refine them (kmeans.proof.md). */
export function halvingVariant(setting: KmeansSetting, within: readonly BudgetShare[]): KmeansVariant {
  const made = leastBy(
    within.map((budgetShare) => halvingNoise(setting, budgetShare)),
    ({ expectedNoise }) => expectedNoise,
  );
  const { levels, offsets, distances } = made;
  const rounds = offsets.draws;
  return {
    name: 'halving',
    why: `Noisy counts of boxes, halved in ${levels.length} levels where people are, find the clusters; ${rounds} round${rounds > 1 ? 's' : ''} of noisy offsets, clipped around every centre, sharpen them.`,
    mechanisms: [...levels.map(({ noise }) => noise), offsets, ...(distances ? [distances] : [])],
    prepare: (payment) => (points) => cluster(setting, made, payment, points),
  };
}

/** Division of the budget of a halving. */
interface HalvingBudget {
  readonly levels: number;
  readonly rounds: number;
  /** Target size of box parts under uniform rows, in standard deviations of noise: at early levels, and at the last. */
  readonly early: number;
  readonly late: number;
  /** Ratio of the radii to the mean distance of a cluster's rows. */
  readonly reach: number;
}

/** Share of the budget for the boxes; the rest is for the iterations. */
const boxShare = rational(1, 2);
const distanceShare = rational(1, 10);
const maxBoxCount = 2 ** 15;

/** True if reconciled grids are better than boxes: few dimensions and a weak signal. */
export const prefersGrid = (setting: KmeansSetting, within: readonly BudgetShare[]): boolean =>
  setting.box.names.length <= 3 && Math.max(...within.map((budgetShare) => signalToNoise(setting, budgetShare).boxSignal)) < 50;

/** Signal-to-noise with half of the budget for two levels of boxes, and half for one iteration. */
function signalToNoise(
  { records, rowsPerRecord, clusters, box }: KmeansSetting,
  { noise, amount }: BudgetShare,
): { boxSignal: number; offsetDeviation: number } {
  const d = box.names.length;
  const half = toNumber(amount) / 2;
  // Standard deviations of a count, and of the offsets of rows that are 0.8 of a cluster's width away in every dimension.
  const boxNoise = noise === 'pure' ? (4 * Math.SQRT2) / half : Math.sqrt(2 / half);
  const offsetNoise = noise === 'pure' ? (2 * Math.SQRT2 * 0.8 * d) / half : Math.sqrt((2 * d) / half);
  const size = records / clusters / rowsPerRecord;
  return { boxSignal: size / boxNoise, offsetDeviation: (1.2 * offsetNoise) / size };
}

/**
 * Fitted to synthetic clusters and to census and check-in data (docs/explanation/decisions/0020-clusters-and-classifiers.md), from two public
 * numbers: the signal-to-noise of a mean cluster's box, and a centroid's noise relative to its width.
 */
function halvingBudget(setting: KmeansSetting, budgetShare: BudgetShare): HalvingBudget {
  const { boxSignal, offsetDeviation } = signalToNoise(setting, budgetShare);
  // In many dimensions a cluster spreads over many boxes, and two may share all their first halves: more levels, smaller parts.
  const many = setting.box.names.length > 6;
  const early = Math.min(many ? 3 : 8, Math.max(0.35, boxSignal / 25));
  const rounds = Math.min(8, Math.max(1, Math.floor(0.02 / offsetDeviation)));
  const fewLevels = many || boxSignal > 1000 ? 3 : 2;
  return {
    levels: boxSignal > 10_000 ? 4 : fewLevels,
    rounds,
    early,
    late: many ? 0.35 : Math.max(0.35, early / 8),
    reach: Math.min(6, Math.max(1.2, 1.2 * Math.sqrt(0.03 / (offsetDeviation * rounds)))),
  };
}

interface HalvingNoise {
  readonly norm: OffsetNorm;
  readonly levels: readonly { readonly noise: AdditiveMechanism; readonly cells: number; readonly partSize: number }[];
  readonly reach: number;
  readonly offsets: AdditiveMechanism;
  /** Noise of the rows' distances to their centroid, between iterations. */
  readonly distances?: AdditiveMechanism;
  /** Approximate variance of a centroid from noise, for choosing between distributions. */
  readonly expectedNoise: number;
}

function halvingNoise(setting: KmeansSetting, budgetShare: BudgetShare): HalvingNoise {
  const { box, clusters, rowsPerRecord } = setting;
  const d = box.names.length;
  const budget = halvingBudget(setting, budgetShare);
  const { rounds, reach } = budget;
  const norm = budgetShare.noise === 'pure' ? 'l1' : 'l2';
  const left = splitShare(budgetShare, subtract(one, boxShare));
  const often = { unit: 1 / offsetUnit, times: rounds };
  const length = { l1: norm === 'l1' ? offsetUnit : Math.ceil(Math.sqrt(d)) * offsetUnit, l2: offsetUnit };
  const offsets = additiveMechanism(
    {
      name: 'offsets per cluster and round',
      cells: clusters * d,
      sensitivity: boundedRowsSensitivity(rowsPerRecord, length),
      ...often,
    },
    rounds > 1 ? splitShare(left, subtract(one, distanceShare)) : left,
  );
  // For a cluster equally wide in all coordinates: absolute offsets sum to 0.8 d of its standard deviation, squares to the root of d.
  const wide = norm === 'l1' ? 0.8 * d : Math.sqrt(d);
  const halving = {
    norm,
    levels: boxLevels(setting, budgetShare, budget),
    reach,
    offsets,
    expectedNoise: offsets.variance * wide ** 2,
  } as const;
  if (rounds === 1) return halving;
  const sensitivity = tableSensitivity(rowsPerRecord, offsetUnit);
  const distances = { name: 'distances per cluster and round', cells: clusters, sensitivity, ...often, times: rounds - 1 };
  return { ...halving, distances: additiveMechanism(distances, splitShare(left, distanceShare)) };
}

function boxLevels(
  { records, rowsPerRecord }: KmeansSetting,
  budgetShare: BudgetShare,
  { levels, early, late }: HalvingBudget,
): HalvingNoise['levels'] {
  const rows = rowsPerRecord * records;
  const own = splitShare(budgetShare, multiply(boxShare, rational(1, levels)));
  return Array.from({ length: levels }, (_, l) => {
    const noiseFor = (cells: number): AdditiveMechanism =>
      additiveMechanism({ name: `rows per box, level ${l + 1}`, cells, sensitivity: tableSensitivity(rowsPerRecord) }, own);
    const partSize = Math.max((l < levels - 1 ? early : late) * Math.sqrt(noiseFor(1).variance), rows / maxBoxCount);
    const cells = Math.floor((rows / partSize) * 1.000001) + 1;
    return { noise: noiseFor(cells), cells, partSize };
  });
}

function cluster(
  { box, clusters, records, rowsPerRecord }: KmeansSetting,
  { levels, offsets, distances, norm, reach }: HalvingNoise,
  payment: Payment,
  points: Points,
): Clustering {
  const last = lastPositions(box);
  const boxLevels = levels.map(
    ({ noise, ...level }): HalvingLevel => ({
      ...level,
      spread: Math.sqrt(noise.variance),
      noise: (cells) => noise.prepare(payment, cells),
    }),
  );
  const inRadii = ({ prepare, variance }: AdditiveMechanism, exact: readonly bigint[]): NoisySums => ({
    sums: prepare(payment)(exact).map((x) => Number(x) / offsetUnit),
    variance: variance / offsetUnit ** 2,
  });
  const cloud = boxCloud(growBoxes(points, halvingOrder(last), boxLevels, rowsPerRecord * records), last);
  let at = initialCentroids(cloud, clusters, norm, reach);
  for (let round = 1; round <= offsets.draws; round++) {
    const tally = tallyOffsets(points, last, at);
    const moved = moveCentroids(at, cloud, inRadii(offsets, tally.offsets));
    const isLast = round === offsets.draws;
    at = distances && !isLast ? { ...moved, radii: clusterRadii(at, inRadii(distances, tally.distances), reach) } : moved;
  }
  return { centres: at.centres, counts: at.masses.map(Math.round) };
}
