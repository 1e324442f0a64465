import type { AdditiveNoise } from './bound.js';

/** Standard deviation of the noise, in integer units. */
export function deviation({ kind, scale }: AdditiveNoise): number {
  if (kind === 'none' || scale <= 0) return 0;
  // Discrete Laplace: variance 2q/(1-q)^2 with q = exp(-1/scale). A discrete Gaussian's is at most sigma^2.
  return kind === 'laplace' ? Math.SQRT1_2 / Math.sinh(1 / (2 * scale)) : scale;
}

/** Smallest integer k with P(|noise| > k) <= alpha. */
export function halfWidth(noise: AdditiveNoise, alpha: number): number {
  const { kind, scale } = noise;
  if (kind === 'none' || scale <= 0) return 0;
  return kind === 'laplace' ? laplaceHalfWidth(scale, alpha) : gaussianHalfWidth(scale, alpha);
}

function laplaceHalfWidth(scale: number, alpha: number): number {
  const q = Math.exp(-1 / scale);
  // P(|X| > k) = 2 q^(k+1) / (1 + q)
  return Math.max(0, Math.ceil(scale * Math.log(2 / ((1 + q) * alpha)) - 1));
}

/** Above this sigma the discrete tail and the continuous one agree to a hair. */
const wide = 200;
/** The cells of a table have one noise; a survey has few more. */
let lately = { sigma: 0, alpha: 0, half: 0 };
function gaussianHalfWidth(sigma: number, alpha: number): number {
  if (sigma !== lately.sigma || alpha !== lately.alpha) lately = { sigma, alpha, half: discreteGaussianHalfWidth(sigma, alpha) };
  return lately.half;
}
function discreteGaussianHalfWidth(sigma: number, alpha: number): number {
  if (sigma > wide) return Math.ceil(sigma * normalQuantile(1 - alpha / 2));
  const mass = (k: number) => Math.exp(-(k * k) / (2 * sigma * sigma));
  let total = 1;
  for (let k = 1; k <= 40 * sigma + 10; k++) total += 2 * mass(k);
  let inside = 1;
  let k = 0;
  while (inside < (1 - alpha) * total) inside += 2 * mass(++k);
  return k;
}

/** A noise times a factor. */
export interface Part {
  readonly factor: number;
  readonly noise: AdditiveNoise;
}

/** Half width of a sum of independent noises: exact for one, closed forms for two of a kind (one grid step added for the lattice) and for many alike, else the union bound. */
export function combinedHalfWidth(all: readonly Part[], alpha: number): number {
  const parts = all.filter(({ factor, noise }) => factor !== 0 && noise.kind !== 'none' && noise.scale > 0);
  const [first, second, third] = parts;
  if (!first) return 0;
  if (!second) return Math.abs(first.factor) * halfWidth(first.noise, alpha);
  const step = Math.max(...parts.map(({ factor }) => Math.abs(factor)));
  const scales = parts.map(({ factor, noise }) => Math.abs(factor) * noise.scale);
  if (parts.every(({ noise }) => noise.kind === 'gaussian')) return Math.hypot(...scales) * normalQuantile(1 - alpha / 2) + step;
  if (!third && parts.every(({ noise }) => noise.kind === 'laplace')) return twoLaplaces(scales[0]!, scales[1]!, alpha) + step;
  const alike = parts.every(
    ({ factor, noise }) => noise.kind === 'laplace' && noise.scale === first.noise.scale && Math.abs(factor) === step,
  );
  if (alike) return step * manyLaplaces(parts.length, first.noise.scale, alpha);
  return parts.reduce((sum, { factor, noise }) => sum + Math.abs(factor) * halfWidth(noise, alpha / parts.length), 0);
}

/** P(|X + Y| > h) = (a^2 e^(-h/a) - b^2 e^(-h/b)) / (a^2 - b^2), or (1 + h/2a) e^(-h/a) when a = b; solved for h by bisection. */
function twoLaplaces(a: number, b: number, alpha: number): number {
  const near = Math.abs(a - b) < 1e-6 * Math.max(a, b);
  const tail = (h: number) =>
    near ? (1 + h / (2 * a)) * Math.exp(-h / a) : (a * a * Math.exp(-h / a) - b * b * Math.exp(-h / b)) / (a * a - b * b);
  let low = 0;
  let high = Math.max(a, b) * (5 - 2 * Math.log(alpha));
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2;
    if (tail(middle) > alpha) low = middle;
    else high = middle;
  }
  return high;
}

/**
 * Whole h with P(|X_1 + … + X_n| > h) <= alpha for discrete Laplace noises of one scale. The continuous sum S is a difference of two Gamma(n) variables, so
 * P(S > h) = sum over j < n of Poisson(j; h) sum over m < n - j of C(n+m-1, m) 2^-(n+m), in units of the scale. An exponential is its whole part plus an
 * independent fraction, so S is the discrete sum plus an independent symmetric variable; the discrete sum is symmetric and unimodal, and for
 * whole h such a shift can only move it out of [-h, h]: what holds for S holds for it.
 */
export function manyLaplaces(n: number, scale: number, alpha: number): number {
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
  let low = 0;
  let high = Math.sqrt(2 * n) + 1;
  while (tail(high) > alpha) high *= 2;
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2;
    if (tail(middle) > alpha) low = middle;
    else high = middle;
  }
  return Math.ceil(scale * high);
}

/** Inverse of the normal distribution function for p >= 1/2 (Acklam's rational approximation, relative error 1.2e-9). */
export function normalQuantile(p: number): number {
  const tail = 1 - p;
  const horner = (coefficients: readonly number[], x: number) => coefficients.reduce((sum, c) => sum * x + c, 0);
  if (tail < 0.02425) {
    const q = Math.sqrt(-2 * Math.log(tail));
    const top = [
      -7.784894002430293e-3, -3.223964580411365e-1, -2.400758277161838, -2.549732539343734, 4.374664141464968, 2.938163982698783,
    ];
    const bottom = [7.784695709041462e-3, 3.224671290700398e-1, 2.445134137142996, 3.754408661907416, 1];
    return -horner(top, q) / horner(bottom, q);
  }
  const q = p - 0.5;
  const r = q * q;
  const top = [
    -3.969683028665376e1, 2.209460984245205e2, -2.759285104469687e2, 1.38357751867269e2, -3.066479806614716e1, 2.506628277459239,
  ];
  const bottom = [-5.447609879822406e1, 1.615858368580409e2, -1.556989798598866e2, 6.680131188771972e1, -1.328068155288572e1, 1];
  return (horner(top, r) * q) / horner(bottom, r);
}
