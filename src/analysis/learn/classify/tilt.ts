import { add, divide, fromNumber, multiply, type Rational, rational, toNumber } from '../../../base/exact/rational.js';
import type { Allotment } from '../../../privacy/mechanism/allotment.js';
import { tilted } from '../../../privacy/mechanism/tilted.js';
import { rowsReplaced } from '../effects.js';
import { addSlopes, fineness } from './descent.js';
import { unit } from './features.js';
import { gradientError } from './gradient.js';
import { minimise } from './minimise.js';
import { onGrid, rootUp } from './output.js';
import type { Setting, Trainer } from './trainer.js';

/**
 * The minimiser of the objective with a random linear term: noise once instead of in every step. Unlike the published form it pays
 * for rounding and for an early-stopping solver (tilt.proof.md).
 */
export function tiltTrainer(setting: Setting, allotment: Allotment): Trainer {
  const { map, loss, records, each } = setting;
  const regularisation = penaltyFor(setting, toNumber(allotment.amount));
  const bend = curvatureCost(setting, regularisation);
  const { tolerance, grid, slack } = slackOf(setting, regularisation, toNumber(allotment.amount));
  const weights = tilted(
    {
      name: 'weights',
      cells: map.width,
      // Every coordinate that changes may be rounded one unit further.
      effects: rowsReplaced(each, map.slots, Math.ceil(loss.steepest * fineness * unit) + 1),
      bend,
      slack,
    },
    allotment,
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
    blur: (perUnit * toNumber(weights.law.scale) * Math.sqrt(2 * map.width)) / (records * regularisation),
    ready: (paid) => {
      const draw = weights.ready(paid);
      return (examples) => {
        const told = draw({
          minimise: (linear) => {
            const objective = { examples, loss, records, radius: map.radius, regularisation };
            const w = minimise({ ...objective, linear: Float64Array.from(linear, (x) => Number(x) * perUnit) }, tolerance);
            return Array.from(w, (x) => BigInt(Math.round(x / grid)));
          },
          pull: (w) =>
            Array.from(
              addSlopes(
                examples,
                loss,
                map.radius,
                Float64Array.from(w, (x) => Number(x) * grid),
              ),
              BigInt,
            ),
        });
        return Float64Array.from(told, (x) => Number(x) * grid);
      };
    },
  };
}

/** Penalty under which the curvature costs at most half of the budget. */
const penaltyFor = ({ loss, records, each, regularisation }: Setting, epsilon: number): number =>
  Math.max(regularisation, (2.001 * each * loss.curvature) / (records * epsilon));

/** log(1 + q) <= q, for each row of a record. The factor covers that the curvature of the loss may slightly exceed its double. */
function curvatureCost({ loss, records, each }: Setting, regularisation: number): Rational {
  const fastest = multiply(fromNumber(loss.curvature), rational(2 ** 40 + 1, 2 ** 40));
  return divide(multiply(rational(each), fastest), multiply(rational(records), fromNumber(regularisation)));
}

/**
 * Tolerance of the solver, and the largest distance between outputs of neighbouring data sets with the same minimiser. Public numbers
 * only.
 */
export function slackOf({ map, loss, records, each }: Setting, regularisation: number, epsilon: number) {
  // Longer than any linear term that will be drawn; the certificate fails for none up to eight times as long.
  const longest = (100 * Math.sqrt(map.width) * 8 * each * map.slots * unit) / (epsilon * map.radius * records);
  const blind = gradientError({
    rows: each * records,
    perRecord: each,
    slots: map.slots,
    curvature: loss.curvature,
    regularisation,
    size: (2 * (each + longest)) / regularisation,
    tilt: longest,
  });
  const tolerance = Math.max(1e-5 / records, 8 * blind);
  // The linear term is a real number, recorded to half a unit.
  const rounding = divide(rootUp(BigInt(map.width)), rational(2n * BigInt(fineness) * BigInt(map.radius) * BigInt(records)));
  const apart = divide(multiply(rational(2), add(fromNumber(tolerance), rounding)), fromNumber(regularisation));
  const { grid, effect } = onGrid(apart, map.width);
  return { tolerance, grid, slack: effect.l1 };
}
