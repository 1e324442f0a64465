import type { AdditiveDistribution } from './distribution.js';
import { fourierTail, type RepeatedLaplace } from './fourier-tail.js';
import { noiseHalfWidth, noiseScale, normalQuantile, scaledNormalTail, standardDeviation } from './half-width.js';

/** Half widths of sums of independent noises (noise-sum.proof.md). */

export interface ScaledNoise {
  readonly factor: number;
  readonly noise: AdditiveDistribution<number>;
}

/** Sum of noises with variable factors; `half` is a norm of the factors (proof note, 4), on which solving for them is based. */
export interface NoiseSum {
  /** Half width: the sum with these factors, one per noise, passes it with probability alpha at most. */
  half(factors: readonly number[]): number;
  /** Above 0 if x >= 0 exceeds the half width, below 0 if not; nearly linear in x, and faster than the half width itself. */
  beyond(factors: readonly number[], x: number): number;
}

/**
 * Spread of a sum of noises: standard deviation, and half width `half(alpha)`, which it exceeds with probability at most alpha.
 */
export interface NoiseSpread {
  readonly parts: readonly ScaledNoise[];
  readonly deviation: number;
  readonly half: (alpha: number) => number;
}
export const noiseSpread = (parts: readonly ScaledNoise[]): NoiseSpread => ({
  parts,
  deviation: Math.hypot(...parts.map(({ factor, noise }) => factor * standardDeviation(noise))),
  half: (alpha) => combinedHalfWidth(parts, alpha),
});

const isNoisy = (distribution: AdditiveDistribution<number>): boolean => noiseScale(distribution) > 0;

/** Noises of one distribution with one factor: `times` of them, which add up to one whole number. */
interface RepeatedNoise {
  readonly noise: AdditiveDistribution<number>;
  readonly times: number;
}

export const noiseSum = (noises: readonly AdditiveDistribution<number>[], alpha: number): NoiseSum =>
  sumOfMany(
    noises.map((noise) => ({ noise, times: 1 })),
    alpha,
  );

function sumOfMany(numbers: readonly RepeatedNoise[], alpha: number): NoiseSum {
  const noisy = numbers.filter(({ noise }) => isNoisy(noise));
  if (noisy.length <= 1 && noisy.every(({ times }) => times === 1))
    return alone(numbers.map(({ noise }) => noiseHalfWidth(noise, alpha)));
  const smooth = numbers.map(({ noise }) => smoothed(noise));
  const gaussian = numbers.map(({ noise }) => noise.kind === 'gaussian');
  /** Half a step of every number: what spreading them evenly over their steps adds. */
  const edge = (factors: readonly number[]): number => {
    let sum = 0;
    for (let i = 0; i < factors.length; i++) if (smooth[i]! > 0) sum += Math.abs(factors[i]!) / 2;
    return sum;
  };
  const sumWith = (factors: readonly number[]): ContinuousSum => {
    let [variance, count] = [0, 0];
    const laplaces: RepeatedLaplace[] = [];
    for (let i = 0; i < factors.length; i++) {
      const spread = Math.abs(factors[i]!) * smooth[i]!;
      if (spread === 0) continue;
      const { times } = numbers[i]!;
      if (gaussian[i]) variance += times * spread * spread;
      else {
        laplaces.push({ scale: spread, times });
        count += times;
      }
    }
    const sigma = Math.sqrt(variance);
    return count > mostTogether ? { laplaces, sigma } : { laplaces: separateScales(laplaces), sigma, separated: true };
  };
  return {
    half: (factors) => smoothHalf(sumWith(factors), alpha) + edge(factors),
    beyond: (factors, x) => smoothBeyond(sumWith(factors), alpha, x - edge(factors)),
  };
}

/**
 * Sum of several numbers with factors, each number made of its own noises. A number of equal noises is whole, so it gets one half
 * step, not one per noise (proof note, 7).
 */
export function sumOfNumbers(numbers: readonly (readonly ScaledNoise[])[], alpha: number): NoiseSum {
  const grouped = numbers.map((parts): readonly (RepeatedNoise & { readonly factor: number })[] =>
    areAlike(parts)
      ? [{ factor: parts[0]!.factor, noise: parts[0]!.noise, times: parts.length }]
      : parts.map(({ factor, noise }) => ({ factor, noise, times: 1 })),
  );
  const { half, beyond } = sumOfMany(grouped.flat(), alpha);
  const own = grouped.flatMap((parts, k) => parts.map(({ factor }) => [factor, k] as const));
  const spread = (factors: readonly number[]): readonly number[] => own.map(([factor, k]) => factor * factors[k]!);
  return { half: (factors) => half(spread(factors)), beyond: (factors, x) => beyond(spread(factors), x) };
}

/** True for several noises of one distribution with one factor. */
const areAlike = ([first, ...others]: readonly ScaledNoise[]): boolean =>
  first !== undefined &&
  isNoisy(first.noise) &&
  others.length > 0 &&
  others.every(
    ({ factor, noise }) =>
      noise.kind === first.noise.kind &&
      noiseScale(noise) === noiseScale(first.noise) &&
      Math.abs(factor) === Math.abs(first.factor),
  );

/** One noise as it is. */
const alone = (halves: readonly number[]): NoiseSum => {
  const half = (factors: readonly number[]) => factors.reduce((sum, factor, i) => sum + Math.abs(factor) * halves[i]!, 0);
  return { half, beyond: (factors, x) => x - half(factors) };
};

/**
 * Half width of a sum with given factors: exact for one noise; with equal factors the sum lies on their grid and needs no
 * allowance for it.
 */
export function combinedHalfWidth(all: readonly ScaledNoise[], alpha: number): number {
  const parts = all.filter(({ factor, noise }) => factor !== 0 && isNoisy(noise));
  const [first, second] = parts;
  if (!first) return 0;
  const step = Math.abs(first.factor);
  if (!second) return step * noiseHalfWidth(first.noise, alpha);
  if (parts.every(({ factor }) => Math.abs(factor) === step)) {
    const scales = parts.filter(({ noise }) => noise.kind === 'laplace').map(({ noise }) => noiseScale(noise));
    const sigma = Math.hypot(...parts.filter(({ noise }) => noise.kind === 'gaussian').map(({ noise }) => smoothed(noise)));
    const alike = scales.every((scale) => scale === scales[0]);
    if (alike && scales.length > 0 && sigma === 0) return step * Math.ceil(laplaceSumHalfWidth(scales.length, scales[0]!, alpha));
    const laplaces = scales.map((scale) => ({ scale, times: 1 }));
    const distribution =
      scales.length > mostTogether
        ? { laplaces, sigma }
        : { laplaces: separateScales(laplaces), sigma, separated: true as const };
    return step * Math.ceil(smoothHalf(distribution, alpha));
  }
  const sum = noiseSum(
    parts.map(({ noise }) => noise),
    alpha,
  );
  return sum.half(parts.map(({ factor }) => factor));
}

/** Laplace noises and the deviation of a Gaussian one, all independent and continuous. */
interface ContinuousSum {
  readonly laplaces: readonly RepeatedLaplace[];
  readonly sigma: number;
  /** Set if there are few enough scales for partial fractions: increasing, and separated by at least `separation`. */
  readonly separated?: true;
}

/** Width of a continuous noise whose tails dominate those of the discrete one spread evenly over its steps (proof note, 2). */
function smoothed(distribution: AdditiveDistribution<number>): number {
  const scale = noiseScale(distribution);
  if (scale <= 0) return 0;
  return distribution.kind === 'laplace' ? 1 / (2 * Math.tanh(1 / (2 * scale))) : Math.sqrt(scale * scale + 1 / 4);
}

/**
 * Half width of the 95 % interval of any sum of noises of one kind, per root of the sum of squared factors. A single Laplace
 * noise is the widest case; sums approach the normal one (proof note, 6).
 */
export const noiseBar = (distribution: AdditiveDistribution<number>): number =>
  spreadDeviation(distribution) * (distribution.kind === 'laplace' ? Math.log(20) / Math.SQRT2 : normalQuantile(0.975));

/**
 * Half width of 95 % for such a sum; `squares` is the sum of squared factors. At least that of a single noise, and a whole number
 * if the sum is one.
 */
export function sumHalfWidth(distribution: AdditiveDistribution<number>, squares: number): number {
  const half = Math.max(noiseBar(distribution), noiseHalfWidth(distribution, 0.05)) * Math.sqrt(squares);
  const whole = Math.round(squares);
  return whole > 1 && Math.abs(squares - whole) < 1e-9 * whole ? Math.ceil(half) : half;
}

/** The deviation of that continuous noise: a little more than the discrete one's where steps are few. */
export const spreadDeviation = (distribution: AdditiveDistribution<number>): number =>
  smoothed(distribution) * (distribution.kind === 'laplace' ? Math.SQRT2 : 1);

/**
 * Largest number of Laplace noises for partial fractions in double precision; the tail of more is summed as a series
 * (fourier-tail.ts).
 */
const mostTogether = 4;
/**
 * Smallest relative difference of scales; closer ones are separated by raising the larger, because partial fractions need
 * distinct ones.
 */
const separation = 1e-4;

/**
 * Tail P(|S| > h) = `sum` e^-`rate` by partial fractions of the Laplace part (proof note); two factors, so that it never
 * underflows.
 */
function smoothTail({ laplaces, sigma }: ContinuousSum, h: number): { sum: number; rate: number } {
  const rate = sigma === 0 ? h / laplaces[laplaces.length - 1]!.scale : 0;
  let sum = 0;
  for (let i = 0; i < laplaces.length; i++) {
    const b = laplaces[i]!.scale;
    let share = 1;
    for (let j = 0; j < laplaces.length; j++)
      if (j !== i) share *= (b * b) / ((b - laplaces[j]!.scale) * (b + laplaces[j]!.scale));
    sum += share * (sigma === 0 ? Math.exp(rate - h / b) : tailWithGaussian(b, sigma, h));
  }
  return { sum, rate };
}

/** One by one, from small to large. */
function separateScales(laplaces: readonly RepeatedLaplace[]): readonly RepeatedLaplace[] {
  const scales = laplaces.flatMap(({ scale, times }) => new Array<number>(times).fill(scale));
  for (let i = 1; i < scales.length; i++)
    for (let j = i; j > 0 && scales[j - 1]! > scales[j]!; j--) [scales[j - 1], scales[j]] = [scales[j]!, scales[j - 1]!];
  for (let i = 1; i < scales.length; i++) scales[i] = Math.max(scales[i]!, scales[i - 1]! * (1 + separation));
  return scales.map((scale) => ({ scale, times: 1 }));
}

/** P(|L + G| > h) for a Laplace noise of scale b and a Gaussian of deviation sigma. */
function tailWithGaussian(b: number, sigma: number, h: number): number {
  const a = sigma / b;
  const z = h / sigma;
  const bell = Math.exp((-z * z) / 2);
  const near = a >= z ? bell * scaledNormalTail(a - z) : Math.exp(a * (a / 2 - z)) - bell * scaledNormalTail(z - a);
  return bell * (2 * scaledNormalTail(z) - scaledNormalTail(z + a)) + near;
}

/** As NoiseSum.beyond: log (alpha / tail), or for Gaussian noise alone the distance to its half width. */
function smoothBeyond(distribution: ContinuousSum, alpha: number, h: number): number {
  const { laplaces, sigma, separated } = distribution;
  if (laplaces.length === 0) return h - normalQuantile(1 - alpha / 2) * sigma;
  if (h <= 0) return Math.log(alpha);
  if (!separated) return Math.log(alpha / Math.max(fourierTail(laplaces, sigma, h, alpha * closeness), Number.MIN_VALUE));
  const { sum, rate } = smoothTail(distribution, h);
  return Math.log(alpha) - Math.log(Math.max(sum, Number.MIN_VALUE)) + rate;
}
/** Of a tail that is added up: in parts of the probability it is compared with. */
const closeness = 5e-4;

function smoothHalf(distribution: ContinuousSum, alpha: number): number {
  if (distribution.laplaces.length === 0) return normalQuantile(1 - alpha / 2) * distribution.sigma;
  return crossing(
    (h) => smoothBeyond(distribution, alpha, h),
    distribution.sigma + distribution.laplaces.reduce((sum, { scale }) => sum + scale, 0),
  );
}

/** Zero of an increasing function of h > 0, from above. */
function crossing(beyond: (h: number) => number, guess: number): number {
  let low = 0;
  let high = guess;
  while (beyond(high) <= 0) high *= 2;
  while (high - low > 1e-13 * high) {
    const middle = (low + high) / 2;
    if (beyond(middle) <= 0) low = middle;
    else high = middle;
  }
  return high;
}

/**
 * h with P(|X_1 + … + X_n| > h) = alpha for Laplace noises of one scale. Their sum is a difference of two Gamma(n) variables, so
 * P(S > h) = sum over j < n of Poisson(j; h) sum over m < n - j of C(n+m-1, m) 2^-(n+m), in units of the scale.
 */
function laplaceSumHalfWidth(n: number, scale: number, alpha: number): number {
  const below = new Float64Array(n + 1);
  let logTerm = -n * Math.LN2;
  for (let m = 0; m < n; m++) {
    below[m + 1] = below[m]! + Math.exp(logTerm);
    logTerm += Math.log((n + m) / (2 * (m + 1)));
  }
  const tail = (h: number): number => {
    let logPoisson = -h;
    let sum = 0;
    for (let j = 0; j < n; j++) {
      sum += Math.exp(logPoisson) * below[n - j]!;
      logPoisson += Math.log(h / (j + 1));
    }
    return 2 * sum;
  };
  return scale * crossing((h) => alpha - tail(h), Math.sqrt(2 * n) + 1);
}
