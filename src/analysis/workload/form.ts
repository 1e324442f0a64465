import * as z from 'zod';
import { Fault } from '../../base/errors.js';
import { inputProblem, pathText } from '../../base/input/input-problem.js';
import { within } from '../../base/input/limits.js';
import { isWeight } from '../../policy/domain.js';
import { chooseNames } from '../../policy/name-pattern.js';
import type { Policy } from '../../policy/policy.js';
import type { WorkloadColumn } from './axes.js';
import { subsetsUpTo } from './closure.js';
import { layOutColumns, type NamedView, namedViews } from './columns.js';
import type { PlacedView } from './linear-query.js';

const name = z.string().min(1);
/** Numbers of a YAML file may be strings. */
const whole = z.union([z.number().int().min(1).max(5), z.string().regex(/^[1-5]$/, 'write a whole number from 1 to 5')]);
const weight = z
  .union([z.number().gt(0).max(1e6), z.string().regex(/^\d{1,6}(\.\d{1,6})?$/, 'write a number above zero')])
  .optional();

const everyTable = z.strictObject({
  /** Number of columns of each table; a list for several. */
  all: z.union([whole, z.array(whole).min(1).max(5)]),
  /** Names and patterns (`q*`); every column that has one answer per row when absent. */
  of: z.array(name).min(1).optional(),
  except: z.array(name).min(1).optional(),
  weight,
});
const namedTable = z.strictObject({ by: z.array(name).min(1).max(5), weight });
const value = z.union([name, z.number()]);

/** Many tables at once: those of all sets of so many columns, and tables by name. */
export const workloadSchema = z.strictObject({
  /**
   * Each {all, of, except, weight}: every table of `all` columns; or {by, weight}: one table. The weight is that of its squared errors.
   */
  tables: z
    .array(z.union([everyTable, namedTable]))
    .min(1)
    .max(10_000),
  /**
   * Coarser levels of a column: the name of each with its groups, first of values, then of the groups of the level before. Requested
   * like columns.
   */
  levels: z.record(name, z.record(name, z.record(name, z.array(value).min(1)))).optional(),
  /** Ranges of a column with ordered values: all, prefixes, or a list of [first, last], under a name that is requested like a column. */
  ranges: z
    .record(name, z.record(name, z.union([z.enum(['all', 'prefixes']), z.array(z.tuple([value, value])).min(1)])))
    .optional(),
  /**
   * Columns without a separate cell for missing answers; names and patterns. Missing answers are counted with the last value, and the
   * tables state that.
   */
  complete: z.array(name).min(1).optional(),
  /** Objective to minimise: the mean of squared errors over all cells, or the largest error of any cell. */
  aim: z.enum(['mean', 'largest']).optional(),
});
export type WorkloadForm = z.input<typeof workloadSchema>;

/** Requested tables, over columns that are now axes. */
export interface Workload {
  readonly columns: readonly WorkloadColumn[];
  readonly sizes: readonly number[];
  readonly tables: readonly WorkloadTable[];
  readonly aim: 'mean' | 'largest';
}
export interface RequestedTable {
  /** In increasing order. */
  readonly axes: readonly number[];
  /** Weight of a squared error of one of its cells, compared with those of other tables. */
  readonly weight: number;
  /** Queries along its axes; every cell separately when absent. */
  readonly views?: readonly PlacedView[];
}
export type WorkloadTable = RequestedTable & { readonly views: readonly PlacedView[] };

/** `onOneAxis` selects columns whose levels and ranges get no axes of their own, because nothing was measured on such axes. */
export function readWorkload(policy: Policy, form: WorkloadForm, onOneAxis: (column: string) => boolean = () => false): Workload {
  const { tables, levels = {}, ranges = {}, complete, aim = 'mean' } = parsed(form);
  const named = namedViews(policy, levels, ranges);
  const all = [...policy.columns.values()].filter((c) => !isWeight(c) && c.name !== policy.protect.unit);
  const declared = [...all.map((c) => c.name), ...named.keys()];
  const single = all.filter((c) => c.type !== 'multi').map((c) => c.name);
  const lists = tables.map((entry) => {
    const weight = Number(entry.weight ?? 1);
    if ('by' in entry) {
      const set = chooseNames(declared, { columns: entry.by });
      return { sets: [oneViewPerColumn(named, set) ?? refuseRepeated(set)], weight };
    }
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
    const sets = sizes.flatMap((k) => subsetsUpTo(chosen, k).filter((set) => set.length === k));
    return { sets: sets.map((set) => oneViewPerColumn(named, set)).filter((set) => set !== undefined), weight };
  });
  within(
    'workloadTables',
    lists.reduce((n, { sets }) => n + sets.length, 0),
  );
  const requested = [...new Set(lists.flatMap(({ sets }) => sets.flat()))];
  within('workloadColumns', new Set(requested.map((own) => named.get(own)?.column ?? own)).size);
  const pooled = complete ? chooseNames(single, { columns: complete }) : [];
  const { columns, placed } = layOutColumns(policy, requested, { named, pooled, onOneAxis });
  const found = new Map<string, WorkloadTable>();
  for (const { sets, weight } of lists)
    for (const set of sets) {
      const views = set.map((own) => placed.get(own)!).sort((a, b) => a.axes[0]! - b.axes[0]!);
      const text = views.map(({ view }) => view.name).join('\n');
      within(
        'workloadAxes',
        views.reduce((n, { axes }) => n + axes.length, 0),
      );
      // Tables requested twice count twice.
      found.set(text, { axes: views.flatMap(({ axes }) => axes), weight: (found.get(text)?.weight ?? 0) + weight, views });
    }
  return { columns, sizes: columns.flatMap(({ sizes }) => sizes), tables: [...found.values()], aim };
}

/** A table with one view per column: of several levels the finest; undefined if ranges and another view of a column are in it. */
function oneViewPerColumn(named: ReadonlyMap<string, NamedView>, set: readonly string[]): readonly string[] | undefined {
  const by = new Map<string, string>();
  for (const own of set) {
    const column = named.get(own)?.column ?? own;
    const other = by.get(column);
    if (other !== undefined && [own, other].some((each) => named.get(each)?.ranges)) return undefined;
    const finer = other === undefined || (named.get(own)?.level ?? -1) < (named.get(other)?.level ?? -1) ? own : other;
    by.set(column, finer);
  }
  return [...by.values()];
}
function refuseRepeated(set: readonly string[]): never {
  throw new Fault(
    'QUERY_INVALID',
    `A table by ${set.join(', ')} would show one column in two ways.`,
    'Ask for its ranges and for its values in two tables.',
  );
}

function parsed(form: WorkloadForm): z.output<typeof workloadSchema> {
  const read = workloadSchema.safeParse(form);
  if (read.success) return read.data;
  const { path, text } = inputProblem(read.error);
  throw new Fault('QUERY_INVALID', `${pathText(path) || 'the workload'}: ${text}`, formHint);
}
const formHint = 'Write for example {"tables": [{"all": 2, "of": ["age", "region"]}, {"by": ["age", "region", "party"]}]}.';

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
