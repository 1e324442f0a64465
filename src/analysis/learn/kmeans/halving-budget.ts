import { type Rational, rational, toNumber } from '../../../base/exact/rational.js';
import type { BudgetShare } from '../../../privacy/mechanism/budget-share.js';
import type { KmeansSetting } from './variant.js';

/** Division of the budget of a halving. */
export interface HalvingBudget {
  readonly levels: number;
  readonly rounds: number;
  /** Share of the budget for the boxes; the rest is for the iterations. */
  readonly boxes: Rational;
  /** Target size of box parts under uniform rows, in standard deviations of noise: at early levels, and at the last. */
  readonly early: number;
  readonly late: number;
  /** Ratio of the radii to the mean distance of a cluster's rows. */
  readonly reach: number;
}

/** True if reconciled grids are better than boxes: few dimensions and a weak signal. */
export const prefersGrid = (setting: KmeansSetting, within: readonly BudgetShare[]): boolean =>
  setting.box.names.length <= 3 && Math.max(...within.map((budgetShare) => signalToNoise(setting, budgetShare).boxSignal)) < 50;

/** Signal-to-noise with half of the budget for two levels of boxes, and half for one iteration. */
function signalToNoise(
  { rows, each, clusters, box }: KmeansSetting,
  { noise, amount }: BudgetShare,
): { boxSignal: number; offsetDeviation: number } {
  const d = box.names.length;
  const half = toNumber(amount) / 2;
  // Standard deviations of a count, and of the offsets of rows that are 0.8 of a cluster's width away in every dimension.
  const boxNoise = noise === 'pure' ? (4 * Math.SQRT2) / half : Math.sqrt(2 / half);
  const offsetNoise = noise === 'pure' ? (2 * Math.SQRT2 * 0.8 * d) / half : Math.sqrt((2 * d) / half);
  const size = rows / clusters / each;
  return { boxSignal: size / boxNoise, offsetDeviation: (1.2 * offsetNoise) / size };
}

/**
 * Fitted to synthetic clusters and to census and check-in data (docs/explanation/decisions/0020-clusters-and-classifiers.md), from two public
 * numbers: the signal-to-noise of a mean cluster's box, and a centroid's noise relative to its width.
 */
export function halvingBudget(setting: KmeansSetting, budgetShare: BudgetShare): HalvingBudget {
  const { boxSignal, offsetDeviation } = signalToNoise(setting, budgetShare);
  // In many dimensions a cluster spreads over many boxes, and two may share all their first halves: more levels, smaller parts.
  const many = setting.box.names.length > 6;
  const early = Math.min(many ? 3 : 8, Math.max(0.35, boxSignal / 25));
  const rounds = Math.min(8, Math.max(1, Math.floor(0.02 / offsetDeviation)));
  return {
    levels: boxSignal > 10_000 ? 4 : many || boxSignal > 1000 ? 3 : 2,
    rounds,
    boxes: rational(1, 2),
    early,
    late: many ? 0.35 : Math.max(0.35, early / 8),
    reach: Math.min(6, Math.max(1.2, 1.2 * Math.sqrt(0.03 / (offsetDeviation * rounds)))),
  };
}
