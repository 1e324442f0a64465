import { add, divide, fromNumber, multiply, type Rational, rational, toNumber } from '../../../base/exact/rational.js';
import type { BudgetShare } from '../../../privacy/mechanism/budget-share.js';
import { objectivePerturbation } from '../../../privacy/mechanism/objective-perturbation.js';
import { sparseRowsSensitivity } from '../record-sensitivity.js';
import { fineness, gradientSum } from './descent.js';
import { unit } from './features.js';
import { minimise } from './minimise.js';
import { fromGrid, largestGradientError, onGrid, rootUp, toGrid } from './output.js';
import type { ClassifySetting, Trainer } from './trainer.js';

/**
 * The minimiser of the objective with a random linear term: noise once instead of in every step. Unlike the published form it pays
 * for rounding and for an early-stopping solver (tilt.proof.md).
 */
export function tiltTrainer(setting: ClassifySetting, budgetShare: BudgetShare): Trainer {
  const { map, loss, records, rowsPerRecord } = setting;
  const regularisation = penaltyFor(setting, toNumber(budgetShare.amount));
  const bend = curvatureCost({ ...setting, regularisation });
  const { tolerance, grid, slack } = solverSlack({ ...setting, regularisation }, toNumber(budgetShare.amount));
  const weights = objectivePerturbation(
    {
      name: 'weights',
      cells: map.width,
      // Every coordinate that changes may be rounded one unit further.
      sensitivity: sparseRowsSensitivity(rowsPerRecord, map.slots, Math.ceil(loss.steepest * fineness * unit) + 1),
      bend,
      slack,
    },
    budgetShare,
  );
  const perUnit = 1 / (fineness * map.radius);
  return {
    method: 'tilt',
    noise: 'laplace',
    certified: true,
    why: `The best weights for the objective with a random linear term, penalty ${regularisation.toPrecision(2)}: noise once, whatever the number of steps.`,
    mechanisms: [weights],
    intervals:
      'No intervals: the noise is a slope of the objective, and how far it moves each weight depends on how curved the objective is at the rows, which was not paid for. The method "output" has them.',
    expectedNoise: (perUnit * toNumber(weights.distribution.scale) * Math.sqrt(2 * map.width)) / (records * regularisation),
    prepare: (payment) => {
      const draw = weights.prepare(payment);
      return (examples) => {
        const gridWeights = draw({
          minimise: (linear) => {
            const objective = { examples, loss, records, radius: map.radius, regularisation };
            const w = minimise({ ...objective, linear: Float64Array.from(linear, (x) => Number(x) * perUnit) }, tolerance);
            return toGrid(w, grid);
          },
          gradient: (w) => Array.from(gradientSum(examples, loss, map.radius, fromGrid(w, grid)), BigInt),
        });
        return fromGrid(gridWeights, grid);
      };
    },
  };
}

/** Penalty under which the curvature costs at most half of the budget. */
const penaltyFor = ({ loss, records, rowsPerRecord, regularisation }: ClassifySetting, epsilon: number): number =>
  Math.max(regularisation, (2.001 * rowsPerRecord * loss.curvature) / (records * epsilon));

/** log(1 + q) <= q, for each row of a record. The factor covers that the curvature of the loss may slightly exceed its double. */
function curvatureCost({ loss, records, rowsPerRecord, regularisation }: ClassifySetting): Rational {
  const fastest = multiply(fromNumber(loss.curvature), rational(2 ** 40 + 1, 2 ** 40));
  return divide(multiply(rational(rowsPerRecord), fastest), multiply(rational(records), fromNumber(regularisation)));
}

/**
 * Tolerance of the solver, and the largest distance between outputs of neighbouring data sets with the same minimiser. Public numbers
 * only.
 */
export function solverSlack(setting: ClassifySetting, epsilon: number) {
  const { map, records, rowsPerRecord, regularisation } = setting;
  // Longer than any linear term that will be drawn; the certificate fails for none up to eight times as long.
  const longest = (100 * Math.sqrt(map.width) * 8 * rowsPerRecord * map.slots * unit) / (epsilon * map.radius * records);
  const blind = largestGradientError(setting, (2 * (rowsPerRecord + longest)) / regularisation, longest);
  const tolerance = Math.max(1e-5 / records, 8 * blind);
  // The linear term is a real number, recorded to half a unit.
  const rounding = divide(rootUp(BigInt(map.width)), rational(2n * BigInt(fineness) * BigInt(map.radius) * BigInt(records)));
  const largestShift = divide(multiply(rational(2), add(fromNumber(tolerance), rounding)), fromNumber(regularisation));
  const { grid, sensitivity } = onGrid(largestShift, map.width);
  return { tolerance, grid, slack: sensitivity.l1 };
}
