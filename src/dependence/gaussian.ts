import * as z from 'zod';
import { Fault } from '../errors.js';
import { mulUp, subUp } from '../exact/outward.js';
import type { GaussianDependence } from '../policy/policy.js';
import { readDeclaredJson } from './declared-file.js';
import { type FactorGraph, fromFactors } from './factor-graph.js';

const precisionFile = z.strictObject({
  records: z.array(z.union([z.string(), z.number()]).transform(String)).min(1),
  precision: z.array(z.array(z.number())).min(1),
  /** One interval for all, or one per record: values outside are impossible (the release clamps to it). */
  bounds: z.union([z.tuple([z.number(), z.number()]), z.array(z.tuple([z.number(), z.number()]))]),
});

/**
 * A Gaussian law with precision Q, restricted to bounded values. Its pair factors are exp(-Q_ij x_i x_j), so changing x_j over its interval moves
 * log odds of x_i by |Q_ij| (u - v)(a - b): D_ij = |Q_ij| x width_i x width_j. The diagonal and the mean are tilts and do not matter.
 */
export function gaussianGraph(
  dependence: GaussianDependence,
  count: number,
  indexOf: (id: string) => number | undefined,
): FactorGraph {
  const parsed = precisionFile.safeParse(readDeclaredJson(dependence.precision));
  const wrong = (what: string) =>
    new Fault(
      'MODEL_INVALID',
      `The precision file ${what}.`,
      'Write {"records": ["a","b"], "precision": [[2,-1],[-1,2]], "bounds": [0, 1]}.',
      {
        place: { file: dependence.precision },
      },
    );
  if (!parsed.success) throw wrong('is not in the expected form');
  const { records, precision, bounds } = parsed.data;
  const n = records.length;
  if (new Set(records).size !== n) throw wrong('names a record twice');
  if (precision.length !== n || precision.some((row) => row.length !== n))
    throw wrong('has a matrix whose size is not the number of records');
  const widths = records.map((_, i) => {
    const [low, high] = (typeof bounds[0] === 'number' ? bounds : (bounds[i] ?? [1, 0])) as [number, number];
    if (!(high > low) || !Number.isFinite(high - low))
      throw wrong('needs bounds [low, high] with low below high for every record');
    return subUp(high, low);
  });
  const index = records.map((id) => {
    const at = indexOf(id);
    if (at === undefined) throw wrong('names a record that is not in the data');
    return at;
  });
  const factors = [];
  for (let i = 0; i < n; i++)
    for (let j = i + 1; j < n; j++) {
      if (precision[i]![j] !== precision[j]![i]) throw wrong('has a matrix that is not symmetric');
      const q = Math.abs(precision[i]![j]!);
      if (!Number.isFinite(q)) throw wrong('has an entry that is not a finite number');
      if (q > 0) factors.push({ members: [index[i]!, index[j]!], logOdds: mulUp(mulUp(q, widths[i]!), widths[j]!) });
    }
  return fromFactors(count, factors);
}
