import { ceiling, parseRational, type Rational, rational, toNumber, toText } from '../../base/exact/rational.js';

/**
 * Noise distribution: the one value that plans, samplers, costs, receipts and error bars use. Its parameters are exact; they are
 * stored as text (`NoiseDistribution<string>`), and error bars use doubles (`NoiseDistribution<number>`).
 */
export type NoiseDistribution<N = Rational> =
  | AdditiveDistribution<N>
  | SelectionDistribution<N>
  | LadderDistribution<N>
  | SmoothDistribution<N>
  | TiltDistribution<N>
  | PublishedDistribution;
export type AdditiveDistribution<N = Rational> =
  /** P(k) ~ exp(-|k| / scale) on the integers. */
  | { readonly kind: 'laplace'; readonly scale: N }
  /** P(k) ~ exp(-k^2 / (2 variance)) on the integers. */
  | { readonly kind: 'gaussian'; readonly variance: N }
  /** Nothing protected affects the answer. */
  | { readonly kind: 'none' };
/** P(candidate) ~ exp(-sharpness x penalty). */
export interface SelectionDistribution<N = Rational> {
  readonly kind: 'selection';
  readonly sharpness: N;
}
/** Rungs as wide as the data's own ladder, each e^-decay times as likely as the one before (privacy/noise/ladder.proof.md). */
export interface LadderDistribution<N = Rational> {
  readonly kind: 'ladder';
  readonly decay: N;
}
/** Quartic tails, `scale` times the beta-smooth bound of the data wide (privacy/noise/quartic.proof.md). */
export interface SmoothDistribution<N = Rational> {
  readonly kind: 'smooth';
  readonly scale: N;
  readonly beta: N;
}

/**
 * Linear term of discrete Laplace noise of this scale in an objective, and noise of scale `fuzz` on weights that may differ by
 * `slack` (objective-perturbation.proof.md).
 */
export interface TiltDistribution<N = Rational> {
  readonly kind: 'tilt';
  readonly scale: N;
  /** Privacy cost of the objective's curvature. */
  readonly bend: N;
  readonly fuzz: N;
  readonly slack: N;
}

/** Noise of a paper, drawn for comparison; no cost follows from it. */
export interface PublishedDistribution {
  readonly kind: 'published';
}

const mapDistribution = <A, B>(distribution: NoiseDistribution<A>, to: (parameter: A) => B): NoiseDistribution<B> =>
  Object.fromEntries(
    Object.entries(distribution).map(([key, value]) => [key, key === 'kind' ? value : to(value as A)]),
  ) as unknown as NoiseDistribution<B>;

/** For receipts and the ledger. */
export const distributionText = (distribution: NoiseDistribution): NoiseDistribution<string> =>
  mapDistribution(distribution, toText);
export const distributionFromText = (distribution: NoiseDistribution<string>): NoiseDistribution =>
  mapDistribution(distribution, (text) => parseRational(text));
/** For error bars. */
export const inDoubles = <L extends NoiseDistribution>(
  distribution: L,
): L extends AdditiveDistribution ? AdditiveDistribution<number> : NoiseDistribution<number> =>
  mapDistribution(distribution, toNumber) as L extends AdditiveDistribution
    ? AdditiveDistribution<number>
    : NoiseDistribution<number>;

/** Variance of additive noise, for expected errors only (the discrete distributions are within a fraction of a unit of these). */
export function varianceOf(distribution: NoiseDistribution): number {
  if (distribution.kind === 'laplace') return 2 * toNumber(distribution.scale) ** 2;
  return distribution.kind === 'gaussian' ? toNumber(distribution.variance) : 0;
}

const words: Record<NoiseDistribution['kind'], string> = {
  laplace: 'Laplace',
  gaussian: 'Gaussian',
  selection: 'Exponential choice',
  ladder: 'Ladder',
  smooth: 'Smooth',
  tilt: 'Linear-term',
  published: 'Published',
  none: 'No',
};
export const distributionWords = (kind: NoiseDistribution['kind']): string => words[kind];

/** Bits kept when a scale is rounded: small enough for the fast samplers, close enough (one part in a million) to waste nothing. */
const precision = 20;

/** Rounds a scale or variance up to a short fraction: more noise, never less. Short fractions are kept as they are. */
export function roundUp(x: Rational): Rational {
  const short = 1n << BigInt(precision + 1);
  if (x.num <= short && x.den <= short) return x;
  const shift = precision - Math.floor(Math.log2(toNumber(x)));
  if (shift <= 0) return rational(ceiling(rational(x.num, x.den << BigInt(-shift))) << BigInt(-shift));
  return rational(ceiling(rational(x.num << BigInt(shift), x.den)), 1n << BigInt(shift));
}
