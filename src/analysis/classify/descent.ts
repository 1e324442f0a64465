import { roundUp } from '../../calibration/noise.js';
import { everyRecord, pureProfile, zcdpProfile } from '../../dependence/profile.js';
import { divide, multiply, type Rational, rational, toNumber, toText } from '../../exact/rational.js';
import { gaussianSampler } from '../../noise/discrete-gaussian.js';
import { laplaceSampler } from '../../noise/discrete-laplace.js';
import type { Examples } from './examples.js';
import { unit } from './features.js';
import { margin } from './gradient.js';
import type { Loss } from './loss.js';
import type { Means, Setting, Trainer } from './trainer.js';

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
    // Whole numbers below 2^20 each: exact in doubles up to 2^33 rows.
    if (bounded !== 0) for (let at = i * slots, end = at + slots; at < end; at++) total[entry[at]!]! += bounded * value[at]!;
  }
  return total;
}

/** Full-batch descent with momentum; every step's gradient carries noise, and the published weights are an average of late steps. */
export function descentTrainer(setting: Setting, means: Means): Trainer {
  const { map, loss, regularisation, records, each } = setting;
  const laplace = means.noise === 'laplace';
  // Replacing a record moves the sum by at most twice the length of `each` rows.
  const l1 = rational(2 * each * fineness * map.slots * unit);
  const l2squared = rational(4n * BigInt(each * each) * BigInt(fineness) ** 2n * BigInt(map.slots) * BigInt(unit) ** 2n);
  const levelOf = (steps: number) =>
    laplace
      ? roundUp(divide(multiply(l1, rational(steps)), means.epsilon))
      : roundUp(divide(multiply(l2squared, rational(steps)), multiply(rational(2), means.rho)));
  const perUnit = 1 / (fineness * map.radius * records);
  const spreadOf = (x: Rational) => perUnit * (laplace ? Math.SQRT2 * toNumber(x) : Math.sqrt(toNumber(x)));
  const steps = setting.steps ?? stepsFor(means.noise, spreadOf(levelOf(1)) * Math.sqrt(map.width));
  const level = levelOf(steps);
  const spread = spreadOf(level);
  const draw = laplace ? laplaceSampler(level) : gaussianSampler(level);
  return {
    method: 'sgd',
    noise: means.noise,
    certified: true,
    why: `${steps} steps of gradient descent, each with ${laplace ? 'Laplace' : 'Gaussian'} noise on a whole-number gradient.`,
    profile: laplace ? pureProfile([[everyRecord, means.epsilon]]) : zcdpProfile([[everyRecord, means.rho]]),
    measures: [
      {
        name: 'gradient per step',
        cells: map.width * steps,
        noise: laplace ? { kind: 'laplace', scale: toText(level) } : { kind: 'gaussian', variance: toText(level) },
        error95: (laplace ? Math.log(20) / Math.SQRT2 : 1.96) * spread,
      },
    ],
    blur: spread * Math.sqrt(map.width),
    train: (examples) =>
      descend(steps, map.width, loss.curvature + regularisation, (w) => {
        const exact = addSlopes(examples, loss, map.radius, w);
        return exact.map((x, j) => Number(BigInt(x) + draw()) * perUnit + regularisation * w[j]!);
      }),
  };
}

/** Heavy-ball steps stay stable when step x curvature < 2 (1 + momentum), and no data set of rows of length one bends more than the loss. */
const momentum = 0.8;
const stride = 3.5;

/** Post-processing of noisy gradients. */
export function descend(
  steps: number,
  width: number,
  smoothness: number,
  noisyGradient: (w: Float64Array) => Float64Array,
): Float64Array {
  let w = new Float64Array(width);
  let velocity = new Float64Array(width);
  const mean = new Float64Array(width);
  const late = Math.max(1, Math.floor(steps / 3));
  for (let t = 0; t < steps; t++) {
    const g = noisyGradient(w);
    velocity = velocity.map((v, j) => momentum * v - (stride * g[j]!) / smoothness);
    w = w.map((x, j) => x + velocity[j]!);
    if (t >= steps - late) for (let j = 0; j < width; j++) mean[j]! += w[j]! / late;
  }
  return mean;
}

/**
 * More steps get closer but share the budget: as many as keep the noise of one gradient (public: it comes from the noise scale and n) near the length
 * that served best on census data, 0.04 for Laplace noise, which grows with the steps, and 0.02 for Gaussian noise, which grows with their root.
 */
export const stepsFor = (noise: Means['noise'], blurOfOneStep: number): number =>
  noise === 'laplace'
    ? Math.min(60, Math.max(3, Math.round(0.04 / blurOfOneStep)))
    : Math.min(100, Math.max(5, Math.round((0.02 / blurOfOneStep) ** 2)));
