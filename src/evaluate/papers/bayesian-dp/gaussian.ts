import { Fault } from '../../../base/errors.js';
import { inverse, solve } from '../pufferfish/matrix.js';

export type MatrixRows = readonly (readonly number[])[];

/** Bayesian differential privacy of a weighted sum of jointly Gaussian records (Yang et al. 2015). See gaussian.proof.md. */
export interface GaussianModel {
  /** Inverse covariance, or a graph Laplacian (then improper, and only differences matter). */
  readonly precision: MatrixRows;
  readonly weights: readonly number[];
}

export function fromCovariance(covariance: MatrixRows, weights: readonly number[]): GaussianModel {
  const precision = inverse(covariance);
  if (!precision)
    throw new Fault(
      'MODEL_INVALID',
      'The covariance matrix is singular.',
      'Give a positive definite matrix, or a precision matrix.',
    );
  // Inversion leaves rounding errors where a partial correlation is zero; they would tie independent records.
  const largest = Math.max(...precision.flat().map(Math.abs));
  return { precision: precision.map((row) => row.map((q) => (Math.abs(q) < 1e-12 * largest ? 0 : q))), weights };
}

/** Change of the unknown records' means per unit of record i, the records in `known` fixed: -Q_UU^{-1} Q_Ui. */
function response({ precision }: GaussianModel, i: number, known: ReadonlySet<number>): Map<number, number> {
  const unknown = reachable(precision, i, known);
  const rows = unknown.map((u) => unknown.map((v) => precision[u]![v]!));
  const moved = solve(
    rows,
    unknown.map((u) => -precision[u]![i]!),
  );
  if (!moved)
    throw new Fault(
      'MODEL_INVALID',
      'The precision matrix is singular on the unknown records.',
      'Add a small number to its diagonal.',
    );
  return new Map(unknown.map((u, k) => [u, moved[k]!]));
}

/** Unknown records i reaches without passing a known one; the others do not move. */
function reachable(precision: MatrixRows, i: number, known: ReadonlySet<number>): number[] {
  const seen = new Set([i]);
  for (const r of seen) for (const [s, q] of precision[r]!.entries()) if (q !== 0 && !known.has(s)) seen.add(s);
  seen.delete(i);
  return [...seen];
}

/** c(i,K): the answer's mean moves by this per unit of x_i. Leakage of Lap(scale) is exactly |c| x width / scale. */
export function shift(model: GaussianModel, i: number, known: ReadonlySet<number> = new Set()): number {
  let c = model.weights[i]!;
  for (const [u, r] of response(model, i, known)) c += model.weights[u]! * r;
  return c;
}

/** When values are clipped to their interval only the absolute moves add up to a bound. */
export function clippedShift(model: GaussianModel, i: number, known: ReadonlySet<number> = new Set()): number {
  let c = Math.abs(model.weights[i]!);
  for (const [u, r] of response(model, i, known)) c += Math.abs(model.weights[u]! * r);
  return c;
}

/** Non-positive off-diagonals and non-negative weights: the means all move the same way, and knowing a record only holds some back. */
export const isAttractive = ({ precision, weights }: GaussianModel): boolean =>
  weights.every((w) => w >= 0) && precision.every((row, i) => row.every((q, j) => i === j || q <= 0));

const largestEnumeration = 20;

/** Worst over records and known subsets: one solve per record for attractive models, all subsets of its component otherwise. */
export function worstShift(
  model: GaussianModel,
  measure: (model: GaussianModel, i: number, known: ReadonlySet<number>) => number = shift,
): { readonly shift: number; readonly record: number; readonly known: readonly number[] } {
  let worst = { shift: 0, record: 0, known: [] as readonly number[] };
  const consider = (i: number, known: ReadonlySet<number>) => {
    const c = Math.abs(measure(model, i, known));
    if (c > worst.shift) worst = { shift: c, record: i, known: [...known] };
  };
  for (const i of model.weights.keys()) {
    if (isAttractive(model)) {
      consider(i, new Set());
      continue;
    }
    const others = reachable(model.precision, i, new Set());
    if (others.length > largestEnumeration)
      throw new Fault(
        'MODEL_TOO_LARGE',
        `Worst knowledge over ${others.length} tied records cannot be enumerated.`,
        'Use a precision matrix without positive off-diagonals, or smaller groups.',
        { details: { size: others.length, limit: largestEnumeration } },
      );
    for (let mask = 0; mask < 2 ** others.length; mask++) consider(i, new Set(others.filter((_, k) => (mask >> k) & 1)));
  }
  return worst;
}

/** Lange et al. 2025: groups of m records with correlations at most r in size, 1/r > m-2; leakage per unit of width over scale. */
export function correlationBound(m: number, r: number): number {
  return 1 / r > m - 2 ? m ** 2 / (4 * (1 / r - m + 2)) + 1 : Number.POSITIVE_INFINITY;
}
