import * as z from 'zod';
import { Fault } from '../../base/errors.js';
import { mulUp, subUp } from '../../base/exact/outward.js';
import { compare, parseRational, toText } from '../../base/exact/rational.js';
import { basename } from '../../base/platform/paths.js';
import type { Column, NumberColumn, Policy, WeightColumn } from '../../policy/policy.js';
import { type FactorGraph, fromFactors } from '../../privacy/dependence/graph/factor-graph.js';
import { readDeclaredJson } from '../../privacy/dependence/model/declared-file.js';
import { nameText } from '../engine/name.js';
import { declaredByFile, type FileDependence, recordsNamed, type TieKind } from './kind.js';

export type GaussianDependence = FileDependence<'gaussian', 'precision'>;

const assumption =
  'Numbers follow a Gaussian law with the declared precision matrix, restricted to the bounds in its file: no number lies outside these, not even one that releases pull to the bounds of its column, and none is missing.';

/** Bounded numbers under a declared precision matrix, one of each record or several of one person. */
export const gaussianTie: TieKind<GaussianDependence, GaussianDependence> = {
  ...declaredByFile('gaussian', 'precision', 'Write {kind: gaussian, precision: q.json}.'),
  explain: (d) =>
    `values depend on one another as the precision matrix ${basename(d.precision)} says, and none lies outside the bounds given there.`,
  words: () => assumption,
  records: {
    graph: (d, { policy, records }) => gaussianGraph(d, policy, records.count, (id) => records.named(nameText(id))),
  },
  answers: (d, policy, count, indexOf) => ({
    graph: gaussianGraph(d, policy, count, indexOf),
    names: readPrecision(d).file.records,
    levels: [],
    words: [assumption],
  }),
};

const precisionFile = z.strictObject({
  records: z.array(z.union([z.string(), z.number()]).transform(String)).min(1),
  precision: z.array(z.array(z.number())).min(1),
  /** One interval for all, or one per record: values outside are impossible, so it must hold every number that a release can read. */
  bounds: z.union([z.tuple([z.number(), z.number()]), z.array(z.tuple([z.number(), z.number()]))]),
  /** Column of the distribution, if records have several numbers. */
  column: z.string().optional(),
});
type PrecisionFile = z.infer<typeof precisionFile>;
type Wrong = (what: string, hint?: string) => Fault;

/**
 * Gaussian with precision Q on bounded values. Pair factors are exp(-Q_ij x_i x_j): changing x_j over its interval changes
 * the log odds of x_i by D_ij = |Q_ij| x width_i x width_j. The diagonal and the mean are tilts and do not matter.
 */
export function gaussianGraph(
  dependence: GaussianDependence,
  policy: Policy,
  count: number,
  indexOf: (id: string) => number | undefined,
): FactorGraph {
  const { file, wrong } = readPrecision(dependence);
  const { records, precision, bounds } = file;
  const n = records.length;
  if (precision.length !== n || precision.some((row) => row.length !== n))
    throw wrong('has a matrix whose size is not the number of records');
  const index = recordsNamed(records, indexOf, (why) =>
    wrong(why === 'repeated' ? 'names a record twice' : 'names a record that is not in the data'),
  );
  const widths = records.map((id, i) => {
    const [low, high] = (typeof bounds[0] === 'number' ? bounds : (bounds[i] ?? [1, 0])) as [number, number];
    if (!(high > low) || !Number.isFinite(high - low))
      throw wrong('needs bounds [low, high] with low below high for every record');
    refuseNumbersOutside(numberOf(file, id, policy, wrong), low, high, wrong);
    return subUp(high, low);
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

function readPrecision({ precision }: GaussianDependence): { readonly file: PrecisionFile; readonly wrong: Wrong } {
  const form = 'Write {"records": ["a","b"], "precision": [[2,-1],[-1,2]], "bounds": [0, 1]}.';
  const wrong: Wrong = (what, hint = form) =>
    new Fault('MODEL_INVALID', `The precision file ${what}.`, hint, { place: { file: precision } });
  const parsed = precisionFile.safeParse(readDeclaredJson(precision));
  if (!parsed.success) throw wrong('is not in the expected form');
  return { file: parsed.data, wrong };
}

/** The number the distribution covers: the answer itself, or the one number of a row or person. */
function numberOf({ column }: PrecisionFile, id: string, policy: Policy, wrong: Wrong): NumberColumn | WeightColumn {
  const { protect, columns } = policy;
  if (protect.secret === 'answer') {
    const own = columns.get(id);
    if (own?.type === 'category' || own?.type === 'multi')
      throw wrong(`gives the column "${id}" numbers; it holds codes`, 'Tie it by an odds ratio (kind: factors) or a network.');
    return own!;
  }
  if (protect.maxRows > 1)
    throw wrong('gives each record one number, but a person has several rows', 'Declare maxRows: 1, or groups or ties instead.');
  const isNumber = (c: Column): c is NumberColumn => c.type === 'integer' || c.type === 'number';
  const numbers = [...columns.values()].filter(isNumber);
  const named = column === undefined ? numbers : numbers.filter((c) => c.name === column);
  if (named.length !== 1)
    throw wrong(
      'does not say which number of a record it is about',
      'Add "column": "…" to it, the name of a column of type integer or number.',
    );
  return named[0]!;
}

/** Releases clamp numbers to the bounds of the column; a distribution on a smaller interval does not cover what they read. */
function refuseNumbersOutside(column: NumberColumn | WeightColumn, low: number, high: number, wrong: Wrong): void {
  const [least, most] = column.bounds;
  if (compare(parseRational(`${low}`), least) > 0 || compare(parseRational(`${high}`), most) < 0)
    throw wrong(
      `is about less than the numbers of "${column.name}" (${toText(least)} to ${toText(most)})`,
      'Its bounds must hold those of the column: values outside them are impossible under the law.',
    );
}
