import { type ConfidenceInterval, confidenceInterval, type PerturbedValue } from './confidence-interval.js';
import {
  choleskyRoot,
  dot,
  eigenDecomposition,
  multiplyVector,
  type SymmetricMatrix,
  solveCholesky,
  zeroMatrix,
} from './matrix.js';
import type { Moments } from './moments.js';
import { extraDeviations } from './skew.js';

/** Moments of one regression, the outcome last, and their noises. */
export interface RegressionMoments {
  readonly matrix: SymmetricMatrix;
  readonly noises: ReturnType<Moments['at']>['noises'];
}

/** Coefficients of the entries before the last, for entries of length one; of a penalised matrix where the noise left none to solve. */
export interface RegressionFit {
  readonly coefficients: Float64Array;
  readonly count: number;
  /** Variance of the outcome around the fit. */
  readonly residual: number;
  /** Penalty added to the diagonal; 0 where none was needed. */
  readonly penalty: number;
  readonly root: SymmetricMatrix;
  readonly inner: SymmetricMatrix;
}

export function fitRegression({ matrix, noises }: RegressionMoments): RegressionFit {
  const last = matrix.length - 1;
  const inner = matrix.slice(0, last).map((row) => row.slice(0, last));
  const outcome = matrix.slice(0, last).map((row) => row[last]!);
  const straight = choleskyRoot(inner);
  const penalty = straight ? 0 : penaltyFor(inner, noises);
  const mended = straight ? inner : inner.map((row, i) => row.map((x, j) => (i === j ? x + penalty : x)));
  const root = straight ?? choleskyRoot(mended)!;
  const coefficients = solveCholesky(root, outcome);
  const around = matrix[last]![last]! - 2 * dot(outcome, coefficients) + dot(coefficients, multiplyVector(inner, coefficients));
  const count = matrix[0]![0]!;
  return { coefficients, count, residual: Math.max(0, around) / Math.max(1, count - last), penalty, root, inner: mended };
}

/** Penalty that raises the least eigenvalue to the noise level of the matrix. */
function penaltyFor(inner: SymmetricMatrix, noises: RegressionMoments['noises']): number {
  const least = Math.min(...eigenDecomposition(inner).values);
  const noise = Math.sqrt(
    noises.reduce((sum, { deviation, enters }) => sum + Math.max(...enters.map(({ by }) => (by * deviation) ** 2)), 0),
  );
  return Math.max(noise, 1) - least;
}

export interface CoefficientInterval extends ConfidenceInterval {
  /** Standard error from sampling alone. */
  readonly sampling: number;
}

/**
 * Confidence interval of `weights` times the coefficients over all moments that the noise leaves possible; `variance`, of the
 * residuals, adds sampling, and may be too small by the fraction `short` (confidence-interval.proof.md, 3).
 */
export function coefficientInterval(
  { matrix, noises }: RegressionMoments,
  fit: RegressionFit,
  weights: readonly number[],
  { variance: sampled, short }: { readonly variance: number; readonly short: number } = { variance: 0, short: 0 },
): CoefficientInterval {
  const last = matrix.length - 1;
  const size = noises.length + (sampled > 0 ? last : 0);
  const spread = sampled > 0 ? fit.root.map((row) => row.map((x) => x * Math.sqrt(sampled))) : [];
  const value = dot(weights, fit.coefficients);
  const along = solveCholesky(fit.root, weights);
  const sampling = Math.sqrt(sampled * Math.max(0, dot(along, multiplyVector(fit.inner, along))));
  if (fit.penalty > 0) return { value, deviation: Number.NaN, sampling, low: null, high: null };
  const of: PerturbedValue = (errors) => {
    const { inner, outcome } = perturbedMoments(matrix, noises, errors);
    for (let k = 0; k < spread.length; k++)
      for (let i = k; i < last; i++) outcome[i]! += spread[i]![k]! * errors[noises.length + k]!;
    const root = choleskyRoot(inner);
    if (!root) return undefined;
    const beta = solveCholesky(root, outcome);
    const u = solveCholesky(root, weights);
    const slopes = new Float64Array(size);
    noises.forEach(({ deviation, enters }, k) => {
      let slope = 0;
      for (const { i, j, by } of enters) {
        if (i === last) slope += j === last ? 0 : by * u[j]!;
        else slope -= by * (i === j ? u[i]! * beta[i]! : u[i]! * beta[j]! + u[j]! * beta[i]!);
      }
      slopes[k] = slope * deviation;
    });
    for (let k = 0; k < spread.length; k++) {
      let slope = 0;
      for (let i = k; i < last; i++) slope += spread[i]![k]! * u[i]!;
      slopes[noises.length + k] = slope;
    }
    return { value: dot(weights, beta), slopes };
  };
  const start = short > 0 ? of(new Float64Array(size)) : undefined;
  const more = start ? extraDeviations(short * sampling ** 2, start.slopes.reduce((sum, slope) => sum + slope ** 2, 0)) : 0; // biome-ignore format: one line
  const reached = confidenceInterval(of, size, (k) => noises[k]?.laplace === true, more);
  return reached ? { ...reached, sampling } : { value, deviation: Number.NaN, sampling, low: null, high: null };
}

function perturbedMoments(matrix: SymmetricMatrix, noises: RegressionMoments['noises'], errors: Float64Array) {
  const last = matrix.length - 1;
  const inner = zeroMatrix(last);
  for (let i = 0; i < last; i++) inner[i]!.set(matrix[i]!.subarray(0, last));
  const outcome = Float64Array.from({ length: last }, (_, i) => matrix[i]![last]!);
  noises.forEach(({ deviation, enters }, k) => {
    const error = errors[k]! * deviation;
    for (const { i, j, by } of enters) {
      if (i === last) {
        if (j < last) outcome[j]! += by * error;
      } else {
        inner[i]![j]! += by * error;
        if (i !== j) inner[j]![i]! += by * error;
      }
    }
  });
  return { inner, outcome };
}
