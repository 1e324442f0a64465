import { one, rational, subtract } from '../../../base/exact/rational.js';
import { type AdditiveMechanism, additiveMechanism } from '../../../privacy/mechanism/additive.js';
import { type BudgetShare, splitShare } from '../../../privacy/mechanism/budget-share.js';
import { distributionWords } from '../../../privacy/mechanism/distribution.js';
import { sparseRowsSensitivity } from '../record-sensitivity.js';
import type { Examples } from './examples.js';
import { unit } from './features.js';
import { addRows, margin } from './gradient.js';
import type { Loss } from './loss.js';
import { noisyDescent } from './noisy-descent.js';
import type { ClassifySetting, Trainer } from './trainer.js';

/** Slopes are whole multiples of 1 / fineness. */
export const fineness = 1024;

/**
 * Gradient contribution of a row: its slope (a whole number within +-fineness, whatever rounding did) times its whole-number row. It
 * depends on the row and on published weights only, so its size bounds the effect of replacing the row.
 */
export function gradientSum(examples: Examples, loss: Loss, radius: number, w: Float64Array): Float64Array {
  return rowSum(examples, (i) => {
    const slope = Math.round(fineness * loss.slope(margin(examples, radius, w, i)));
    return slope >= -fineness && slope <= 0 ? slope * examples.label[i]! : 0;
  });
}

/** Sum of the whole-number rows times factors: numbers of at most 2^20 each, exact in doubles up to 2^33 rows. */
function rowSum(examples: Examples, factor: (row: number) => number): Float64Array {
  const total = new Float64Array(examples.width);
  addRows(examples, factor, total, { from: 0, to: examples.count });
  return total;
}

/** Laplace noise grows linearly with the steps, Gaussian noise with their root: they are compared at this many. */
const commonSteps = 15;
/** Share of the budget for the mean row, around which descent is far better conditioned. */
const meanShare = rational(2, 25);

/** Full-batch descent: a noisy mean row, then `steps` noisy gradients. Guarantee in descent.proof.md. */
export function descentTrainer(setting: ClassifySetting, budgetShare: BudgetShare): Trainer {
  const { map, loss, regularisation, records } = setting;
  const perUnit = 1 / (fineness * map.radius * records);
  const spreadOf = ({ variance }: AdditiveMechanism): number => perUnit * Math.sqrt(variance);
  const steps =
    setting.steps ?? stepCount(budgetShare.noise, spreadOf(gradientNoise(setting, budgetShare, 1)) * Math.sqrt(map.width));
  const gradients = gradientNoise(setting, budgetShare, steps);
  const mean = meanNoise(setting, budgetShare);
  const spread = spreadOf(gradients);
  // Shrinkage: a mean with much noise is worse than none.
  const trust = 1 / (1 + (Math.sqrt(mean.variance) / (0.1 * unit * records)) ** 2);
  return {
    method: 'sgd',
    noise: gradients.distribution.kind,
    certified: true,
    intervals:
      'No intervals: what noise does to a weight in one step is carried on by the next ones, as far as the rows say. The method "output" has them.',
    why: `${steps} steps of gradient descent around a noisy mean row, each with ${distributionWords(gradients.distribution.kind)} noise on a whole-number gradient.`,
    mechanisms: [mean, gradients],
    expectedNoise: spreadOf(gradientNoise(setting, budgetShare, commonSteps)) * Math.sqrt(map.width),
    prepare: (payment) => {
      const addMean = mean.prepare(payment);
      return (examples) => {
        const rows = noisy(
          addMean,
          rowSum(examples, () => 1),
        );
        return noisyDescent({
          steps,
          mean: rows.map((x) => trust * Math.min(1, Math.max(-1, x / Math.max(unit, rows[0]!)))),
          smoothness: loss.curvature + regularisation,
          regularisation,
          spread,
          gradient: (w) => noisy(gradients.prepare(payment), gradientSum(examples, loss, map.radius, w)).map((x) => x * perUnit),
        });
      };
    },
  };
}

const noisy = (add: (exact: readonly bigint[]) => bigint[], exact: Float64Array): Float64Array =>
  Float64Array.from(add(Array.from(exact, BigInt)), Number);

/** A row has `slots` entries of at most `unit`. */
const meanNoise = ({ map, rowsPerRecord }: ClassifySetting, budgetShare: BudgetShare): AdditiveMechanism =>
  additiveMechanism(
    {
      name: 'sum of the rows',
      cells: map.width,
      sensitivity: sparseRowsSensitivity(rowsPerRecord, map.slots, unit),
      unit: 1 / unit,
    },
    splitShare(budgetShare, meanShare),
  );

/** A row contributes itself times a slope of at most `fineness`. */
const gradientNoise = (
  { map, rowsPerRecord, records }: ClassifySetting,
  budgetShare: BudgetShare,
  steps: number,
): AdditiveMechanism =>
  additiveMechanism(
    {
      name: 'gradient per step',
      cells: map.width,
      sensitivity: sparseRowsSensitivity(rowsPerRecord, map.slots, fineness * unit),
      unit: 1 / (fineness * map.radius * records),
      times: steps,
    },
    splitShare(budgetShare, subtract(one, meanShare)),
  );

/**
 * More steps converge further but divide the budget. The rule is fitted to census data; it depends only on the length of the gradient
 * noise of a single step, which is public.
 */
export const stepCount = (noise: BudgetShare['noise'], noiseOfOneStep: number): number => {
  const signal = 0.003 / noiseOfOneStep;
  const steps = noise === 'pure' ? 12 * signal ** 0.55 : 30 * signal ** 0.8;
  return Math.min(100, Math.max(3, Math.round(steps)));
};
