import { type AdditiveDistribution, distributionFromText, inDoubles } from '../../privacy/mechanism/distribution.js';
import { noiseScale, scaleNoise, standardDeviation } from '../../privacy/mechanism/half-width.js';
import type { PlannedMeasure } from '../../release/session/plan.js';

/** Noise of one distribution on `cells` cells, in counts. */
export interface NoisyCells {
  readonly distribution: AdditiveDistribution<number>;
  readonly cells: number;
  /** Number of tables derived from a joint histogram by adding cells: every noisy cell enters each of them. 1 when absent. */
  readonly tables?: number;
}

/**
 * Error of a whole release, all cells together. Theorem 6 of Maughan and Near bounds the signed sum of the noise, not the L1 error,
 * which grows with the number of cells (error.proof.md).
 */
export interface ReleaseError {
  /** Square root of the expected squared L2 error. */
  readonly l2: number;
  /** With probability `confidence` the sum of all absolute errors, and the largest of them, stay within these. */
  readonly l1: number;
  readonly maximum: number;
  readonly confidence: number;
}

export function releaseError(noise: readonly NoisyCells[], confidence = 0.95): ReleaseError {
  const active = noise.filter((part) => noiseScale(part.distribution) > 0 && part.cells > 0);
  const failure = 1 - confidence;
  return {
    l2: Math.sqrt(active.reduce((sum, part) => sum + (part.tables ?? 1) * part.cells * variance(part), 0)),
    l1: active.length > 0 ? l1Bound(active, failure) : 0,
    maximum: active.length > 0 ? maximumBound(active, failure) : 0,
    confidence,
  };
}

/** Variance of the discrete distributions; exact for Laplace, an upper bound for Gaussian. */
const variance = ({ distribution }: NoisyCells): number => standardDeviation(distribution) ** 2;

/** P(|error| >= k) of one published cell, at most. */
const tail = (part: NoisyCells, k: number): number => ((part.tables ?? 1) > 1 ? sumTail(part, k) : cellTail(part, k));

const cellTail = ({ distribution }: NoisyCells, k: number): number => {
  const scale = noiseScale(distribution);
  return distribution.kind === 'laplace'
    ? (2 * Math.exp(-k / scale)) / (1 + Math.exp(-1 / scale))
    : 2 * Math.exp((-k * k) / (2 * scale * scale));
};

/** A published cell adds up at most all joint cells: Chernoff on the signed sum. */
function sumTail({ distribution, cells }: NoisyCells, k: number): number {
  const scale = noiseScale(distribution);
  if (distribution.kind === 'gaussian') return 2 * Math.exp((-k * k) / (2 * cells * scale * scale));
  const q = Math.exp(-1 / scale);
  let least = 1;
  for (let step = 1; step < 60; step++) {
    const u = step / (60 * scale);
    const moment = (1 - q) ** 2 / ((1 - q * Math.exp(u)) * (1 - q * Math.exp(-u)));
    least = Math.min(least, 2 * Math.exp(cells * Math.log(moment) - u * k));
  }
  return least;
}

/** Union bound over all cells, whole counts. */
function maximumBound(noise: readonly NoisyCells[], failure: number): number {
  const beyond = (k: number): number => noise.reduce((sum, part) => sum + (part.tables ?? 1) * part.cells * tail(part, k + 1), 0);
  let high = 1;
  while (beyond(high) > failure) high *= 2;
  let low = 0;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (beyond(middle) > failure) low = middle;
    else high = middle;
  }
  return beyond(0) <= failure ? 0 : high;
}

/** Chernoff: sum |Z| <= [ sum log E exp(u |Z|) + log(1/failure) ] / u for every u > 0; the best u by golden section on log u. */
function l1Bound(noise: readonly NoisyCells[], failure: number): number {
  const widest = Math.max(...noise.map((part) => noiseScale(part.distribution) * (part.tables ?? 1)));
  const bound = (u: number): number =>
    (noise.reduce((sum, part) => sum + part.cells * logMoment(part, u * (part.tables ?? 1)), 0) - Math.log(failure)) / u;
  let low = Math.log(1e-6 / widest);
  let high = Math.log((1 - 1e-9) / widest);
  const golden = (Math.sqrt(5) - 1) / 2;
  for (let step = 0; step < 80; step++) {
    const left = high - golden * (high - low);
    const right = low + golden * (high - low);
    if (bound(Math.exp(left)) <= bound(Math.exp(right))) high = right;
    else low = left;
  }
  return bound(Math.exp((low + high) / 2));
}

/** log E exp(u |Z|). */
function logMoment({ distribution }: NoisyCells, u: number): number {
  const scale = noiseScale(distribution);
  if (distribution.kind === 'laplace') {
    const q = Math.exp(-1 / scale);
    const grown = Math.exp(u - 1 / scale);
    return Math.log(((1 - q) / (1 + q)) * (1 + (2 * grown) / (1 - grown)));
  }
  // the continuous Gaussian; at sigma >= 1 the discrete one differs by less than one part in a thousand of its scale
  const z = u * scale;
  return (z * z) / 2 + Math.log(2 * normalCdf(z));
}

/** Within 1e-7; for error bars. */
function normalCdf(z: number): number {
  const t = 1 / (1 + 0.2316419 * Math.abs(z));
  const series = t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  const upper = (Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)) * series;
  return z >= 0 ? 1 - upper : upper;
}

/**
 * Joint error of all tables of a released survey, from the noise in its receipt and before tidying. `unit`: value of one of its whole
 * numbers.
 */
export function surveyReleaseError(measures: readonly PlannedMeasure[], unit = 1): ReleaseError {
  return releaseError(
    measures.flatMap(({ noise, cells, tables = 1 }): NoisyCells[] => {
      const distribution = inDoubles(distributionFromText(noise));
      return distribution.kind === 'laplace' || distribution.kind === 'gaussian'
        ? [{ distribution: scaleNoise(distribution, unit), cells, tables }]
        : [];
    }),
  );
}
