import { add, divide, fromNumber, multiply, type Rational, rational, toNumber, toText } from '../../exact/rational.js';
import { roundUp } from '../../mechanism/law.js';
import { everyRecord, pureProfile, zcdpProfile } from '../../mechanism/profile.js';
import { gaussianSampler, integerRoot } from '../../noise/discrete-gaussian.js';
import { laplaceSampler } from '../../noise/discrete-laplace.js';
import { gradientError } from './gradient.js';
import { minimise } from './minimise.js';
import type { Means, Setting, Trainer } from './trainer.js';

/** The root of a whole number, rounded up to a millionth. */
export const rootUp = (n: bigint): Rational => rational(integerRoot(n * 10n ** 12n) + 1n, 10n ** 6n);

/**
 * How far the weights can move when one record is replaced (output.proof.md): 2 each / (records regularisation) for the true minimiser, plus
 * 2 tolerance / regularisation because the solver stops early; then in whole steps of a public grid.
 */
export interface OutputReach {
  readonly tolerance: number;
  /** In units of the weights. */
  readonly l2: Rational;
  /** A power of two. */
  readonly grid: number;
  /** In grid units, rounding included. */
  readonly l1Units: Rational;
  readonly l2Units: Rational;
}

export function outputReach({ map, loss, regularisation, records, each }: Setting): OutputReach {
  // Small against one row's pull, but safely above what rounding can hide. Only public numbers go in.
  const blind = gradientError({
    rows: each * records,
    perRecord: each,
    slots: map.slots,
    curvature: loss.curvature,
    regularisation,
    size: 2 * Math.sqrt((2 * each) / regularisation),
  });
  const tolerance = Math.max(1 / (1000 * records), 8 * blind);
  const pull = add(rational(2 * each, records), multiply(rational(2), fromNumber(tolerance)));
  const l2 = divide(pull, fromNumber(regularisation));
  const root = rootUp(BigInt(map.width));
  const grid = 2 ** Math.floor(Math.log2(toNumber(l2) / (1000 * Math.sqrt(map.width))));
  const units = divide(l2, fromNumber(grid));
  return {
    tolerance,
    l2,
    grid,
    l1Units: add(multiply(root, units), rational(map.width)),
    l2Units: add(units, root),
  };
}

/** Output perturbation: the minimiser on a grid, plus whole-number noise. */
export function outputTrainer(setting: Setting, means: Means): Trainer {
  const reach = outputReach(setting);
  const { map, loss, regularisation, records } = setting;
  const laplace = means.noise === 'laplace';
  const level = laplace
    ? roundUp(divide(reach.l1Units, means.epsilon))
    : roundUp(divide(multiply(reach.l2Units, reach.l2Units), multiply(rational(2), means.rho)));
  const draw = laplace ? laplaceSampler(level) : gaussianSampler(level);
  const spread = reach.grid * (laplace ? Math.SQRT2 * toNumber(level) : Math.sqrt(toNumber(level)));
  return {
    method: 'output',
    noise: means.noise,
    certified: true,
    why: `The best weights with ${laplace ? 'Laplace' : 'Gaussian'} noise; one record can move them by at most ${toNumber(reach.l2).toPrecision(3)}.`,
    profile: laplace ? pureProfile([[everyRecord, means.epsilon]]) : zcdpProfile([[everyRecord, means.rho]]),
    measures: [
      {
        name: 'weights',
        cells: map.width,
        noise: laplace ? { kind: 'laplace', scale: toText(level) } : { kind: 'gaussian', variance: toText(level) },
        error95: (laplace ? Math.log(20) / Math.SQRT2 : 1.96) * spread,
      },
    ],
    blur: spread * Math.sqrt(map.width),
    train: (examples) => {
      const noise = Array.from({ length: map.width }, draw);
      const w = minimise({ examples, loss, records, radius: map.radius, regularisation }, reach.tolerance);
      // Dividing by a power of two is exact, so each coordinate is off by at most half a grid unit.
      return w.map((x, j) => Number(BigInt(Math.round(x / reach.grid)) + noise[j]!) * reach.grid);
    },
  };
}
