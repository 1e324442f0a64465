import { add, ceiling, divide, fromNumber, multiply, type Rational, rational, toNumber } from '../../../base/exact/rational.js';
import { additiveMechanism } from '../../../privacy/mechanism/additive.js';
import type { BudgetShare } from '../../../privacy/mechanism/budget-share.js';
import { distributionWords, inDoubles } from '../../../privacy/mechanism/distribution.js';
import { noiseHalfWidth } from '../../../privacy/mechanism/half-width.js';
import type { Sensitivity } from '../../../privacy/mechanism/sensitivity.js';
import { integerRoot } from '../../../privacy/noise/discrete-gaussian.js';
import { perRecordSensitivity } from '../record-sensitivity.js';
import { gradientError } from './gradient.js';
import { minimise } from './minimise.js';
import type { ClassifySetting, Trainer } from './trainer.js';

/** The root of a whole number, rounded up to a millionth. */
export const rootUp = (n: bigint): Rational => rational(integerRoot(n * 10n ** 12n) + 1n, 10n ** 6n);

/**
 * Sensitivity of the weights to replacing one record (output.proof.md): 2 each / (records regularisation) for the exact minimiser,
 * plus 2 tolerance / regularisation for stopping early; then in steps of a public grid.
 */
export interface OutputSensitivity {
  readonly tolerance: number;
  /** In units of the weights. */
  readonly l2: Rational;
  /** A power of two. */
  readonly grid: number;
  /** In grid units, rounding included. */
  readonly sensitivity: Sensitivity;
}

export function outputSensitivity(setting: ClassifySetting): OutputSensitivity {
  const { map, regularisation, records, rowsPerRecord } = setting;
  // Small compared with one row's contribution, but safely above rounding errors. Public numbers only.
  const blind = largestGradientError(setting, 2 * Math.sqrt((2 * rowsPerRecord) / regularisation));
  const tolerance = Math.max(1 / (1000 * records), 8 * blind);
  const pull = add(rational(2 * rowsPerRecord, records), multiply(rational(2), fromNumber(tolerance)));
  const l2 = divide(pull, fromNumber(regularisation));
  return { tolerance, l2, ...onGrid(l2, map.width) };
}

/** Sensitivity on a grid that is fine compared with it, of weights that differ by at most `l2`; rounding included. */
export function onGrid(l2: Rational, width: number): Pick<OutputSensitivity, 'grid' | 'sensitivity'> {
  const root = rootUp(BigInt(width));
  const grid = 2 ** Math.floor(Math.log2(toNumber(l2) / (1000 * Math.sqrt(width))));
  const units = divide(l2, fromNumber(grid));
  const length = add(units, root);
  return {
    grid,
    sensitivity: { l1: ceiling(add(multiply(root, units), rational(width))), l2squared: ceiling(multiply(length, length)) },
  };
}

/** Rounding error of the gradient for any data set of this setting, at weights of at most this length. */
export const largestGradientError = (
  { map, loss, regularisation, records, rowsPerRecord }: ClassifySetting,
  size: number,
  tilt = 0,
): number =>
  gradientError({
    rows: rowsPerRecord * records,
    perRecord: rowsPerRecord,
    slots: map.slots,
    curvature: loss.curvature,
    regularisation,
    size,
    tilt,
  });

/** Weights on a grid; dividing by a power of two is exact, so each is off by at most half a unit. */
export const toGrid = (w: Float64Array, grid: number): bigint[] => Array.from(w, (x) => BigInt(Math.round(x / grid)));
export const fromGrid = (whole: readonly bigint[], grid: number): Float64Array =>
  Float64Array.from(whole, (x) => Number(x) * grid);

/** Output perturbation: the minimiser on a grid, plus whole-number noise. */
export function outputTrainer(setting: ClassifySetting, budgetShare: BudgetShare): Trainer {
  const { sensitivity, grid, l2, tolerance } = outputSensitivity(setting);
  const { map, loss, regularisation, records } = setting;
  const weights = additiveMechanism(
    { name: 'weights', cells: map.width, sensitivity: perRecordSensitivity(sensitivity), unit: grid },
    budgetShare,
  );
  return {
    method: 'output',
    noise: weights.distribution.kind,
    certified: true,
    why: `The best weights with ${distributionWords(weights.distribution.kind)} noise; one record can move them by at most ${toNumber(l2).toPrecision(3)}.`,
    mechanisms: [weights],
    expectedNoise: grid * Math.sqrt(weights.variance * map.width),
    // Noise, plus rounding to the grid and a solver that stops early.
    halfWidth: grid * (noiseHalfWidth(inDoubles(weights.distribution), 0.05) + 0.5) + tolerance / regularisation,
    intervals: `95 % intervals of the noise around the weights that are best for these very rows under the penalty ${regularisation.toPrecision(2)}; what the penalty pulls towards 0 and the error of sampling are not in them.`,
    prepare: (payment) => {
      const add = weights.prepare(payment);
      return (examples) => {
        const w = minimise({ examples, loss, records, radius: map.radius, regularisation }, tolerance);
        return fromGrid(add(toGrid(w, grid)), grid);
      };
    },
  };
}
