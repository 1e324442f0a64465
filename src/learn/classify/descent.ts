import { divide, multiply, type Rational, rational, toNumber, toText } from '../../exact/rational.js';
import { roundUp } from '../../mechanism/law.js';
import { everyRecord, pureProfile, zcdpProfile } from '../../mechanism/profile.js';
import { gaussianSampler } from '../../noise/discrete-gaussian.js';
import { laplaceSampler } from '../../noise/discrete-laplace.js';
import type { StoredNoise } from '../../release/plan.js';
import type { Examples } from './examples.js';
import { unit } from './features.js';
import { margin } from './gradient.js';
import type { Loss } from './loss.js';
import type { Means, Setting, Trainer } from './trainer.js';
import { descend } from './walk.js';

/** Slopes are whole multiples of 1 / fineness. */
export const fineness = 1024;

/**
 * What a row adds to the gradient: its slope (a whole number within +-fineness, whatever the arithmetic did) times its whole-number row.
 * It depends on the row and on published weights only, so its size alone bounds what replacing the row can do.
 */
export function addSlopes(examples: Examples, loss: Loss, radius: number, w: Float64Array): Float64Array {
  const { count, slots, entry, value, label, width } = examples;
  const total = new Float64Array(width);
  for (let i = 0; i < count; i++) {
    const slope = Math.round(fineness * loss.slope(margin(examples, radius, w, i)));
    const bounded = slope >= -fineness && slope <= 0 ? slope * label[i]! : 0;
    // Whole numbers of at most 2^20 each: exact in doubles up to 2^33 rows.
    if (bounded !== 0) for (let at = i * slots, end = at + slots; at < end; at++) total[entry[at]!]! += bounded * value[at]!;
  }
  return total;
}

/** Sum of the whole-number rows; entry 0 is `unit` times their number. */
export function addRows({ count, slots, entry, value, width }: Examples): Float64Array {
  const total = new Float64Array(width);
  for (let at = 0; at < count * slots; at++) total[entry[at]!]! += value[at]!;
  return total;
}

/** Laplace noise grows with the steps, Gaussian noise with their root: they are compared at this many. */
const commonSteps = 15;
/** Share of the budget for the mean row, around which descent is far better conditioned. */
export const meanShare = rational(2, 25);

/** Full-batch descent: a noisy mean row, then `steps` noisy gradients. Guarantee in descent.proof.md. */
export function descentTrainer(setting: Setting, means: Means): Trainer {
  const { map, loss, regularisation, records } = setting;
  const perUnit = 1 / (fineness * map.radius * records);
  const spreadOf = (level: Rational): number =>
    perUnit * (means.noise === 'laplace' ? Math.SQRT2 * toNumber(level) : Math.sqrt(toNumber(level)));
  const rest = rational(meanShare.den - meanShare.num, meanShare.den);
  const levelOf = (steps: number) => noiseLevel(setting, means, fineness * unit, divide(rest, rational(steps)));
  const steps = setting.steps ?? stepsFor(means.noise, spreadOf(levelOf(1)) * Math.sqrt(map.width));
  const level = levelOf(steps);
  const meanLevel = noiseLevel(setting, means, unit, meanShare);
  const spread = spreadOf(level);
  const draw = samplerOf(means, level);
  // A mean drowned in noise is worse than none.
  const trust = 1 / (1 + (spreadOf(meanLevel) / (0.1 * perUnit * unit * records)) ** 2);
  const drawMean = samplerOf(means, meanLevel);
  return {
    method: 'sgd',
    noise: means.noise,
    certified: true,
    why: `${steps} steps of gradient descent around a noisy mean row, each with ${means.noise === 'laplace' ? 'Laplace' : 'Gaussian'} noise on a whole-number gradient.`,
    profile: means.noise === 'laplace' ? pureProfile([[everyRecord, means.epsilon]]) : zcdpProfile([[everyRecord, means.rho]]),
    measures: [
      { name: 'sum of the rows', cells: map.width, noise: stored(means, meanLevel) },
      {
        name: 'gradient per step',
        cells: map.width * steps,
        noise: stored(means, level),
        error95: (means.noise === 'laplace' ? Math.log(20) / Math.SQRT2 : 1.96) * spread,
      },
    ],
    blur: spreadOf(levelOf(commonSteps)) * Math.sqrt(map.width),
    train: (examples) => {
      const noisy = (exact: Float64Array, sample: () => bigint) => exact.map((x) => Number(BigInt(x) + sample()));
      const rows = noisy(addRows(examples), drawMean);
      return descend({
        steps,
        mean: rows.map((x) => trust * Math.min(1, Math.max(-1, x / Math.max(unit, rows[0]!)))),
        smoothness: loss.curvature + regularisation,
        regularisation,
        spread,
        gradient: (w) => noisy(addSlopes(examples, loss, map.radius, w), draw).map((x) => x * perUnit),
      });
    },
  };
}

/** Noise for a sum of rows whose entries are at most `size`, at a share of the budget: replacing a record moves it by 2 each rows. */
export function noiseLevel({ map, each }: Setting, means: Means, size: number, share: Rational): Rational {
  const l1 = rational(2n * BigInt(each) * BigInt(map.slots) * BigInt(size));
  const l2squared = rational(4n * BigInt(each) ** 2n * BigInt(map.slots) * BigInt(size) ** 2n);
  return means.noise === 'laplace'
    ? roundUp(divide(l1, multiply(means.epsilon, share)))
    : roundUp(divide(l2squared, multiply(rational(2), multiply(means.rho, share))));
}
const samplerOf = (means: Means, level: Rational) => (means.noise === 'laplace' ? laplaceSampler(level) : gaussianSampler(level));
const stored = (means: Means, level: Rational): StoredNoise =>
  means.noise === 'laplace' ? { kind: 'laplace', scale: toText(level) } : { kind: 'gaussian', variance: toText(level) };

/**
 * More steps get closer but share the budget. The rule is fitted to census data; it uses only the length of one gradient's noise if there were one
 * step, which is public.
 */
export const stepsFor = (noise: Means['noise'], blurOfOneStep: number): number => {
  const room = 0.003 / blurOfOneStep;
  const steps = noise === 'laplace' ? 12 * room ** 0.55 : 30 * room ** 0.8;
  return Math.min(100, Math.max(3, Math.round(steps)));
};
