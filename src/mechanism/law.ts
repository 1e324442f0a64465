import { ceiling, type Rational, rational, toNumber } from '../exact/rational.js';

/** The noise one measure gets. Plain data: plans, receipts and the ledger's readers see exactly this. */
export type Noise =
  | { readonly kind: 'laplace'; readonly scale: Rational }
  | { readonly kind: 'gaussian'; readonly variance: Rational }
  /** Exponential mechanism: P(candidate) ~ exp(-sharpness x penalty). */
  | { readonly kind: 'selection'; readonly sharpness: Rational }
  /** The measure depends on no secret. */
  | { readonly kind: 'none' };

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

/** Variance of additive noise, for expected errors only (the discrete laws are within a fraction of a unit of these). */
export const varianceOf = (noise: Noise): number =>
  noise.kind === 'laplace' ? 2 * toNumber(noise.scale) ** 2 : noise.kind === 'gaussian' ? toNumber(noise.variance) : 0;

/** The same law as query/bound.ts speaks of it: plain doubles, for error bars. */
export function lawOf(noise: Noise): NoiseLaw {
  if (noise.kind === 'laplace') return { kind: 'laplace', scale: toNumber(noise.scale) };
  if (noise.kind === 'gaussian') return { kind: 'gaussian', scale: Math.sqrt(toNumber(noise.variance)) };
  return noise.kind === 'selection' ? { kind: 'selection', sharpness: toNumber(noise.sharpness) } : { kind: 'none', scale: 0 };
}

/** The law of the noise on every cell of a measure. */
export type NoiseLaw = AdditiveNoise | SelectionNoise;
export interface AdditiveNoise {
  readonly kind: 'laplace' | 'gaussian' | 'none';
  /** In integer units: Laplace scale (P(k) ~ exp(-|k|/scale)), Gaussian sigma; 0 for none. */
  readonly scale: number;
}
export interface SelectionNoise {
  readonly kind: 'selection';
  /** P(candidate) ~ exp(-sharpness x penalty); Infinity when nothing secret is touched. */
  readonly sharpness: number;
}
