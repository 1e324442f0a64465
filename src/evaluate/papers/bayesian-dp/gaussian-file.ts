import * as z from 'zod';
import { Fault } from '../../../base/errors.js';
import { fromCovariance, type MatrixRows } from './gaussian.js';

const interval = z.tuple([z.number(), z.number()]).refine(([low, high]) => low < high && Number.isFinite(high - low));
const square = z.array(z.array(z.number())).min(1).max(500);
const shape = z.strictObject({
  gaussian: z.strictObject({
    covariance: square.optional(),
    precision: square.optional(),
    /** Interval of each record: one for all, or one each. */
    bounds: z.union([interval, z.array(interval)]),
    records: z.array(z.string().min(1)).optional(),
  }),
});

/** Records with a Gaussian distribution, each between its bounds. */
export interface GaussianRecords {
  readonly ids: readonly string[];
  readonly precision: MatrixRows;
  readonly bounds: readonly (readonly [low: number, high: number])[];
}

/** Reads `{"gaussian": {"covariance": …, "bounds": …}}`; undefined for another kind of model. */
export function readGaussian(document: unknown, file: string): GaussianRecords | undefined {
  if (typeof document !== 'object' || document === null || !('gaussian' in document)) return undefined;
  const wrong = (what: string) =>
    new Fault(
      'MODEL_INVALID',
      `The Gaussian model ${what}.`,
      'Write {"gaussian": {"covariance": [[1, 0.4], [0.4, 1]], "bounds": [0, 10]}}, or "precision" instead.',
      { place: { file } },
    );
  const parsed = shape.safeParse(document);
  if (!parsed.success) throw wrong('is no square matrix with bounds');
  const { covariance, precision, bounds, records } = parsed.data.gaussian;
  const given = covariance ?? precision;
  if (!given || (covariance && precision)) throw wrong('needs either a covariance or a precision matrix');
  const n = given.length;
  if (given.some((row, i) => row.length !== n || row.some((x, j) => x !== given[j]?.[i])))
    throw wrong('has a matrix that is not symmetric');
  if (given.some((row, i) => !(row[i]! > 0))) throw wrong('has a diagonal that is not above zero');
  if (!neverNegative(given)) throw wrong('has a matrix that no records have: it is not positive definite');
  const each = Array.isArray(bounds[0])
    ? (bounds as [number, number][])
    : new Array<[number, number]>(n).fill(bounds as [number, number]);
  if (each.length !== n) throw wrong(`has bounds for ${each.length} of ${n} records`);
  const ids = records ?? given.map((_, i) => `x${i + 1}`);
  if (ids.length !== n || new Set(ids).size !== n) throw wrong('does not name every record once');
  return { ids, bounds: each, precision: covariance ? fromCovariance(covariance, []).precision : given };
}

/** True if no sum of the records has a negative variance, up to rounding; a precision may be singular (a Laplacian). */
function neverNegative(matrix: MatrixRows): boolean {
  const left = matrix.map((row) => Float64Array.from(row));
  const dust = 1e-9 * Math.max(...matrix.map((row, i) => row[i]!));
  for (let k = 0; k < left.length; k++) {
    const pivot = left[k]![k]!;
    if (pivot < -dust) return false;
    for (let i = k + 1; i < left.length; i++) {
      const below = left[i]![k]!;
      if (below === 0) continue;
      if (pivot <= dust) {
        if (Math.abs(below) > Math.sqrt(dust * left[i]![i]!) + dust) return false;
        continue;
      }
      for (let j = k + 1; j < left.length; j++) left[i]![j]! -= (below * left[k]![j]!) / pivot;
    }
  }
  return true;
}
