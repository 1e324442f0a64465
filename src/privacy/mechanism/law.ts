import { ceiling, parseRational, type Rational, rational, toNumber, toText } from '../../base/exact/rational.js';

/**
 * Noise distribution: the one value that plans, samplers, costs, receipts and error bars use. Its parameters are exact; they are
 * stored as text (`NoiseDistribution<string>`), and error bars use doubles (`NoiseDistribution<number>`).
 */
export type Law<N = Rational> = AdditiveLaw<N> | SelectionLaw<N> | LadderLaw<N> | SmoothLaw<N> | TiltLaw<N> | PublishedLaw;
export type AdditiveLaw<N = Rational> =
  /** P(k) ~ exp(-|k| / scale) on the integers. */
  | { readonly kind: 'laplace'; readonly scale: N }
  /** P(k) ~ exp(-k^2 / (2 variance)) on the integers. */
  | { readonly kind: 'gaussian'; readonly variance: N }
  /** Nothing protected affects the answer. */
  | { readonly kind: 'none' };
/** P(candidate) ~ exp(-sharpness x penalty). */
export interface SelectionLaw<N = Rational> {
  readonly kind: 'selection';
  readonly sharpness: N;
}
/** Rungs as wide as the data's own ladder, each e^-decay times as likely as the one before (privacy/noise/ladder.proof.md). */
export interface LadderLaw<N = Rational> {
  readonly kind: 'ladder';
  readonly decay: N;
}
/** Quartic tails, `scale` times the beta-smooth bound of the data wide (privacy/noise/quartic.proof.md). */
export interface SmoothLaw<N = Rational> {
  readonly kind: 'smooth';
  readonly scale: N;
  readonly beta: N;
}

/**
 * Linear term of discrete Laplace noise of this scale in an objective, and noise of scale `fuzz` on weights that may differ by
 * `slack` (objective-perturbation.proof.md).
 */
export interface TiltLaw<N = Rational> {
  readonly kind: 'tilt';
  readonly scale: N;
  /** Privacy cost of the objective's curvature. */
  readonly bend: N;
  readonly fuzz: N;
  readonly slack: N;
}

/** Noise of a paper, drawn for comparison; no cost follows from it. */
export interface PublishedLaw {
  readonly kind: 'published';
}

const mapLaw = <A, B>(law: Law<A>, to: (parameter: A) => B): Law<B> =>
  Object.fromEntries(
    Object.entries(law).map(([key, value]) => [key, key === 'kind' ? value : to(value as A)]),
  ) as unknown as Law<B>;

/** For receipts and the ledger. */
export const lawText = (law: Law): Law<string> => mapLaw(law, toText);
export const lawFromText = (law: Law<string>): Law => mapLaw(law, (text) => parseRational(text));
/** For error bars. */
export const inDoubles = <L extends Law>(law: L): L extends AdditiveLaw ? AdditiveLaw<number> : Law<number> =>
  mapLaw(law, toNumber) as L extends AdditiveLaw ? AdditiveLaw<number> : Law<number>;

/** Variance of additive noise, for expected errors only (the discrete distributions are within a fraction of a unit of these). */
export function varianceOf(law: Law): number {
  if (law.kind === 'laplace') return 2 * toNumber(law.scale) ** 2;
  return law.kind === 'gaussian' ? toNumber(law.variance) : 0;
}

const words: Record<Law['kind'], string> = {
  laplace: 'Laplace',
  gaussian: 'Gaussian',
  selection: 'Exponential choice',
  ladder: 'Ladder',
  smooth: 'Smooth',
  tilt: 'Linear-term',
  published: 'Published',
  none: 'No',
};
export const lawWords = (kind: Law['kind']): string => words[kind];

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
