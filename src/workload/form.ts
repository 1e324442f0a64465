import * as z from 'zod';
import { Fault } from '../errors.js';
import { within } from '../input/limits.js';
import { isWeight } from '../policy/domain.js';
import { chooseNames } from '../policy/name-pattern.js';
import type { Policy } from '../policy/policy.js';
import { keyOf, type LabelledKey } from '../query/keys.js';
import { subsetsUpTo } from './closure.js';
import { axesOf, splitOf, virtualAxes, type WorkloadColumn } from './levels.js';

const name = z.string().min(1);
/** Numbers of a YAML file come as they are written. */
const whole = z.union([z.number().int().min(1).max(5), z.string().regex(/^[1-5]$/, 'write a whole number from 1 to 5')]);
const weight = z
  .union([z.number().gt(0).max(1e6), z.string().regex(/^\d{1,6}(\.\d{1,6})?$/, 'write a number above zero')])
  .optional();

const everyTable = z.strictObject({
  /** How many columns each table has; a list for several. */
  all: z.union([whole, z.array(whole).min(1).max(5)]),
  /** Names and patterns (`q*`); every column that has one answer per row when absent. */
  of: z.array(name).min(1).optional(),
  except: z.array(name).min(1).optional(),
  weight,
});
const namedTable = z.strictObject({ by: z.array(name).min(1).max(5), weight });

/** Many tables at once: those of all sets of so many columns, and tables by name. */
export const request = z.strictObject({
  /** Each {all, of, except, weight}: every table of `all` columns; or {by, weight}: one table. A weight says how much its squared errors count. */
  tables: z
    .array(z.union([everyTable, namedTable]))
    .min(1)
    .max(10_000),
  /** Of a column, a coarser level: its name, and its groups of values. It may be asked for like a column. */
  levels: z.record(name, z.record(name, z.record(name, z.array(z.union([name, z.number()])).min(1)))).optional(),
  /** What is made as small as can be: the mean of squared errors over all cells, or the largest error of any cell. */
  aim: z.enum(['mean', 'largest']).optional(),
});
export type WorkloadForm = z.input<typeof request>;

/** What is asked for, over columns that are now axes. */
export interface Workload {
  readonly columns: readonly WorkloadColumn[];
  readonly axes: readonly LabelledKey[];
  /** Of the axes. */
  readonly names: readonly string[];
  readonly sizes: readonly number[];
  readonly tables: readonly AskedTable[];
  readonly aim: 'mean' | 'largest';
}
export interface AskedTable {
  /** In increasing order. */
  readonly axes: readonly number[];
  /** How much a squared error of one of its cells counts, beside those of other tables. */
  readonly weight: number;
}

export function readWorkload(policy: Policy, form: WorkloadForm): Workload {
  const { tables, levels = {}, aim = 'mean' } = parsed(form);
  const coarser = coarserOf(policy, levels);
  const all = [...policy.columns.values()].filter((c) => !isWeight(c) && c.name !== policy.protect.unit);
  const declared = [...all.map((c) => c.name), ...coarser.keys()];
  const single = all.filter((c) => c.type !== 'multi').map((c) => c.name);
  const lists = tables.map((entry) => {
    if ('by' in entry) return { sets: [chooseNames(declared, { columns: entry.by })], weight: Number(entry.weight ?? 1) };
    const chosen = chooseNames(entry.of ? declared : single, {
      ...(entry.of && { columns: entry.of }),
      ...(entry.except && { except: entry.except }),
    });
    const sizes = [entry.all].flat().map(Number);
    refuseFew(chosen, sizes);
    within(
      'workloadTables',
      sizes.reduce((n, k) => n + Math.round(choices(chosen.length, k)), 0),
    );
    return {
      sets: sizes.flatMap((k) => subsetsUpTo(chosen, k).filter((set) => set.length === k)),
      weight: Number(entry.weight ?? 1),
    };
  });
  within(
    'workloadTables',
    lists.reduce((n, { sets }) => n + sets.length, 0),
  );
  const asked = [...new Set(lists.flatMap(({ sets }) => sets.flat()).map((column) => coarser.get(column) ?? column))];
  within('workloadColumns', asked.length);
  let first = 0;
  const columns = asked.map((column): WorkloadColumn => {
    const axis = axisOf(policy, column);
    const level = Object.entries(levels[column] ?? {})[0];
    const split = level && splitOf(column, axis, level[0], level[1]);
    const own = { ...axis, name: column, first, ...(split && { split }) };
    first += split ? 2 : 1;
    return own;
  });
  const axes = virtualAxes(columns);
  // A coarser level is the first axis of its column; the column is both.
  const place = new Map(
    columns.flatMap((column) => [
      [column.name, axesOf(column)] as const,
      ...(column.split ? [[column.split.name, [column.first]] as const] : []),
    ]),
  );
  const weights = new Map<string, AskedTable>();
  for (const { sets, weight } of lists)
    for (const set of sets) {
      const own = [...new Set(set.flatMap((column) => place.get(column)!))].sort((a, b) => a - b);
      const text = own.join();
      // What is asked twice counts twice.
      weights.set(text, { axes: own, weight: (weights.get(text)?.weight ?? 0) + weight });
    }
  return {
    columns,
    axes,
    names: axes.map(({ name }) => name),
    sizes: axes.map(({ labels }) => labels.length),
    tables: [...weights.values()],
    aim,
  };
}

/** Columns by the names of their coarser levels. */
function coarserOf(policy: Policy, levels: NonNullable<z.output<typeof request>['levels']>): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [column, named] of Object.entries(levels)) {
    const [level, ...more] = Object.keys(named);
    if (!level || more.length > 0 || !policy.columns.has(column) || policy.columns.has(level) || found.has(level))
      throw new Fault(
        'QUERY_INVALID',
        `levels.${column}: a column of the policy takes one coarser level, with a name that nothing else has.`,
        'Write for example {"levels": {"district": {"region": {"North": ["d1", "d2"], "South": ["d3"]}}}}.',
      );
    found.set(level, column);
  }
  return found;
}

function parsed(form: WorkloadForm): z.output<typeof request> {
  const read = request.safeParse(form);
  if (read.success) return read.data;
  const issue = read.error.issues[0]!;
  const where = issue.path.map(String).join('.');
  throw new Fault('QUERY_INVALID', `${where || 'the workload'}: ${issue.message}.`.replace(/\.\.$/, '.'), formHint);
}
const formHint = 'Write for example {"tables": [{"all": 2, "of": ["age", "region"]}, {"by": ["age", "region", "party"]}]}.';

/** A row has one place on an axis. */
function axisOf(policy: Policy, column: string): LabelledKey {
  const axis = keyOf(policy, column);
  if (axis.key.kind === 'options')
    throw new Fault(
      'QUERY_UNSUPPORTED',
      `Column "${column}" takes several answers of one row; tables of a workload need one place for every row.`,
      'Leave it out with except:, and ask it as a histogram.',
    );
  return axis;
}

const choices = (n: number, k: number): number =>
  k > n ? 0 : Array.from({ length: k }, (_, i) => (n - i) / (i + 1)).reduce((a, b) => a * b, 1);
function refuseFew(chosen: readonly string[], sizes: readonly number[]): void {
  const most = Math.max(...sizes);
  if (chosen.length < most)
    throw new Fault(
      'QUERY_INVALID',
      `There are no tables of ${most} columns of ${chosen.length}.`,
      'Name more columns, or ask for smaller tables.',
    );
}
