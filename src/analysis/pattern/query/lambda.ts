import { divUp, logDown, logUp } from '../../../base/exact/outward.js';
import { ceiling, fromNumber, multiply, type Rational, rational, toNumber } from '../../../base/exact/rational.js';
import type { BoundPattern } from './bind.js';

/**
 * Base of the logarithm, which Rastogi et al. 2009 leave open: 2 gives more noise and is the default; natural is the reading of its
 * test vectors.
 */
export type LogReading = 'safe' | 'natural';

export interface Lambda {
  /** The noise parameter used: rounded up to a whole number. */
  readonly used: bigint;
  /** Printed value: `used` under the safe reading, the unrounded one under the natural reading. */
  readonly shown: number;
}

/**
 * (8 (v + 1) g^2 log m)^(g - 1) with g goals, v variables of the whole body and a domain of m values. `exponent` is g - 1, or g to
 * protect absence, too. Without the power Proposition 3.7 of the paper is false.
 */
export function lambda(q: BoundPattern, log: LogReading, more: { variables?: number; exponent?: number } = {}): Lambda {
  const m = domainSize(q);
  const g = q.goals.length;
  const v = more.variables ?? q.variables.length;
  const exponent = more.exponent ?? g - 1;
  const logarithm = log === 'safe' ? divUp(logUp(m), logDown(2)) : logUp(m);
  const base = multiply(rational(8 * (v + 1) * g * g), fromNumber(logarithm));
  const used = ceiling(power(base, exponent));
  return { used: used < 1n ? 1n : used, shown: log === 'safe' ? Number(used) : (8 * (v + 1) * g * g * Math.log(m)) ** exponent };
}

const power = (base: Rational, exponent: number): Rational =>
  rational(base.num ** BigInt(exponent), base.den ** BigInt(exponent));

/** One domain size for all declared ones: equal sizes are taken as the same domain, different ones as disjoint at worst. */
export function domainSize(q: BoundPattern): number {
  return [...new Set(q.relations.map((r) => r.domain))].reduce((a, b) => a + b, 0);
}

/**
 * Adversary of Algorithm 2.1: at most `known` certain tuples, every other one less likely than `marginal`. Claimed with ln, the
 * smaller class.
 */
export interface BoundedAdversary {
  readonly known: number;
  readonly marginal: number;
}
export function boundedAdversary(m: number): BoundedAdversary {
  return { known: Math.floor(Math.log(m)), marginal: Math.log(m) / m };
}

/**
 * The larger marginals of section 4.3: m^alpha ln m / m with alpha up to 1 - 1/density, density the least over derivative images. The
 * formula is misprinted in the paper, so this reading is opt-in and labelled.
 */
export function largestMarginal(m: number, density: Rational | undefined): number {
  const d = density ? toNumber(density) : 1;
  const alpha = d > 1 ? 1 - 1 / d : 0;
  return Math.min(1, (m ** alpha * Math.log(m)) / m);
}

/** Probability of the uniform branch, goals / (m gamma), exact. */
export const coin = (goals: number, m: number, gamma: Rational): Rational =>
  rational(BigInt(goals) * gamma.den, BigInt(m) * gamma.num);
