import type { AdditiveDistribution } from './distribution.js';

/** Laplace scale or Gaussian sigma, in integer units. */
export function noiseScale(distribution: AdditiveDistribution<number>): number {
  if (distribution.kind === 'laplace') return distribution.scale;
  return distribution.kind === 'gaussian' ? Math.sqrt(distribution.variance) : 0;
}

export function scaleNoise(distribution: AdditiveDistribution<number>, by: number): AdditiveDistribution<number> {
  if (distribution.kind === 'laplace') return { kind: 'laplace', scale: distribution.scale * by };
  return distribution.kind === 'gaussian' ? { kind: 'gaussian', variance: distribution.variance * by * by } : distribution;
}

/** Standard deviation of the noise, in integer units. */
export function standardDeviation(distribution: AdditiveDistribution<number>): number {
  const width = noiseScale(distribution);
  if (width <= 0) return 0;
  // Discrete Laplace: variance 2q/(1-q)^2 with q = exp(-1/scale). A discrete Gaussian's is at most sigma^2.
  return distribution.kind === 'laplace' ? Math.SQRT1_2 / Math.sinh(1 / (2 * width)) : width;
}

/** Smallest integer k with P(|noise| > k) <= alpha. */
export function noiseHalfWidth(distribution: AdditiveDistribution<number>, alpha: number): number {
  const width = noiseScale(distribution);
  if (width <= 0) return 0;
  return distribution.kind === 'laplace' ? laplaceHalfWidth(width, alpha) : gaussianHalfWidth(width, alpha);
}

function laplaceHalfWidth(scale: number, alpha: number): number {
  const q = Math.exp(-1 / scale);
  // P(|X| > k) = 2 q^(k+1) / (1 + q)
  return Math.max(0, Math.ceil(scale * Math.log(2 / ((1 + q) * alpha)) - 1));
}

/** Above this sigma the discrete tail and the continuous one agree to a hair. */
const wide = 200;
/** The cells of a table have one noise; a survey has few more. */
let lastHalfWidth = { sigma: 0, alpha: 0, half: 0 };
function gaussianHalfWidth(sigma: number, alpha: number): number {
  if (sigma !== lastHalfWidth.sigma || alpha !== lastHalfWidth.alpha)
    lastHalfWidth = { sigma, alpha, half: discreteGaussianHalfWidth(sigma, alpha) };
  return lastHalfWidth.half;
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

/**
 * Inverse of the normal distribution function for p >= 1/2. Keeps the last result, since solving for an end requests the same one
 * repeatedly.
 */
export function normalQuantile(p: number): number {
  if (p !== lastQuantile.p) lastQuantile = { p, quantile: quantileAt(p) };
  return lastQuantile.quantile;
}
let lastQuantile = { p: 0.5, quantile: 0 };

/** Acklam's rational approximation, relative error 1.2e-9. */
function quantileAt(p: number): number {
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

/** e^(x^2/2) P(Z > x) for a standard normal Z and x >= 0: a series near 0, a continued fraction beyond. */
export function scaledNormalTail(x: number): number {
  if (x < 3) {
    let term = x;
    let sum = x;
    for (let k = 3; term > 1e-17 * sum; k += 2) sum += term *= (x * x) / k;
    return Math.exp((x * x) / 2) / 2 - sum / Math.sqrt(2 * Math.PI);
  }
  let fraction = 0;
  for (let k = 50; k > 0; k--) fraction = k / (x + fraction);
  return 1 / (Math.sqrt(2 * Math.PI) * (x + fraction));
}
