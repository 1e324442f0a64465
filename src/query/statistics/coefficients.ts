import { applied, dot, eigen, type Matrix, rootOf, solved, square } from './matrix.js';
import type { Moments } from './moments.js';
import { type Movable, type Reached, reachOf } from './reach.js';
import { widened } from './skew.js';

/** Moments of one regression, the outcome last, and their noises. */
export interface Regressed {
  readonly matrix: Matrix;
  readonly noises: ReturnType<Moments['at']>['noises'];
}

/** Coefficients of the entries before the last, for entries of length one; of a penalised matrix where the noise left none to solve. */
export interface Fit {
  readonly coefficients: Float64Array;
  readonly count: number;
  /** Variance of the outcome around the fit. */
  readonly residual: number;
  /** Penalty added to the diagonal; 0 where none was needed. */
  readonly penalty: number;
  readonly root: Matrix;
  readonly inner: Matrix;
}

export function fitOf({ matrix, noises }: Regressed): Fit {
  const last = matrix.length - 1;
  const inner = matrix.slice(0, last).map((row) => row.slice(0, last));
  const outcome = matrix.slice(0, last).map((row) => row[last]!);
  const straight = rootOf(inner);
  const penalty = straight ? 0 : penaltyFor(inner, noises);
  const mended = straight ? inner : inner.map((row, i) => row.map((x, j) => (i === j ? x + penalty : x)));
  const root = straight ?? rootOf(mended)!;
  const coefficients = solved(root, outcome);
  const around = matrix[last]![last]! - 2 * dot(outcome, coefficients) + dot(coefficients, applied(inner, coefficients));
  const count = matrix[0]![0]!;
  return { coefficients, count, residual: Math.max(0, around) / Math.max(1, count - last), penalty, root, inner: mended };
}

/** Penalty that raises the least eigenvalue to the noise level of the matrix. */
function penaltyFor(inner: Matrix, noises: Regressed['noises']): number {
  const least = Math.min(...eigen(inner).values);
  const noise = Math.sqrt(
    noises.reduce((sum, { deviation, enters }) => sum + Math.max(...enters.map(({ by }) => (by * deviation) ** 2)), 0),
  );
  return Math.max(noise, 1) - least;
}

export interface Told extends Reached {
  /** Standard error from sampling alone. */
  readonly sampling: number;
}

/**
 * Confidence interval of `weights` times the coefficients over all moments that the noise leaves possible; `sampled`, the residual
 * variance, adds sampling, and may be too small by the fraction `short` (confidence-interval.proof.md, 3).
 */
export function toldOf({ matrix, noises }: Regressed, fit: Fit, weights: readonly number[], sampled = 0, short = 0): Told {
  const last = matrix.length - 1;
  const size = noises.length + (sampled > 0 ? last : 0);
  const spread = sampled > 0 ? fit.root.map((row) => row.map((x) => x * Math.sqrt(sampled))) : [];
  const value = dot(weights, fit.coefficients);
  const along = solved(fit.root, weights);
  const sampling = Math.sqrt(sampled * Math.max(0, dot(along, applied(fit.inner, along))));
  if (fit.penalty > 0) return { value, deviation: Number.NaN, sampling, low: null, high: null };
  const of: Movable = (errors) => {
    const { inner, outcome } = moved(matrix, noises, errors);
    for (let k = 0; k < spread.length; k++)
      for (let i = k; i < last; i++) outcome[i]! += spread[i]![k]! * errors[noises.length + k]!;
    const root = rootOf(inner);
    if (!root) return undefined;
    const beta = solved(root, outcome);
    const u = solved(root, weights);
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
  const more = start ? widened(short * sampling ** 2, start.slopes.reduce((sum, slope) => sum + slope ** 2, 0)) : 0; // biome-ignore format: one line
  const reached = reachOf(of, size, (k) => noises[k]?.laplace === true, more);
  return reached ? { ...reached, sampling } : { value, deviation: Number.NaN, sampling, low: null, high: null };
}

function moved(matrix: Matrix, noises: Regressed['noises'], errors: Float64Array) {
  const last = matrix.length - 1;
  const inner = square(last);
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
