import { Fault } from '../../base/errors.js';
import { missingLabel } from '../../policy/code.js';
import type { Policy } from '../../policy/policy.js';
import { groupKeyOf, type LabelledKey } from '../../query/keys.js';
import { type AxisGrid, axesOf, type WorkloadColumn } from './axes.js';
import { type LevelGroups, type NamedLevel, nestedAxes, summedLevels, valuesView } from './levels.js';
import type { AxisView, PlacedView } from './linear-query.js';
import { gridFor, type Ranges, rangesView, spansOf } from './ranges.js';

/** Views besides columns: a coarser level of one (0 is the first above its values), or ranges of its values. */
export interface NamedView {
  readonly column: string;
  readonly level?: number;
  /** The levels of the column, up to its coarsest. */
  readonly levels?: readonly NamedLevel[];
  readonly ranges?: Ranges;
}

type ByColumn<T> = Readonly<Record<string, Readonly<Record<string, T>>>>;

export function namedViews(
  policy: Policy,
  levels: ByColumn<LevelGroups>,
  ranges: ByColumn<Ranges>,
): ReadonlyMap<string, NamedView> {
  const found = new Map<string, NamedView>();
  const add = (where: string, name: string, view: NamedView): void => {
    if (!policy.columns.has(view.column) || policy.columns.has(name) || found.has(name))
      throw new Fault(
        'QUERY_INVALID',
        `${where}.${view.column}: a column of the policy takes ${where}, each with a name that nothing else has.`,
        'Write for example {"levels": {"district": {"region": {"North": ["d1", "d2"], "South": ["d3"]}}}, "ranges": {"age": {"age from to": "all"}}}.',
      );
    found.set(name, view);
  };
  for (const [column, own] of Object.entries(levels)) {
    const list = Object.entries(own);
    for (const [level, [name]] of list.entries()) add('levels', name, { column, level, levels: list });
    if (list.length === 0) add('levels', column, { column });
  }
  for (const [column, own] of Object.entries(ranges))
    for (const [name, list] of Object.entries(own)) add('ranges', name, { column, ranges: list });
  return found;
}

/** Columns behind all requested names, on axes that suit their views, and the position of every name. */
export function layOutColumns(
  policy: Policy,
  requested: readonly string[],
  {
    named,
    pooled,
    onOneAxis,
  }: {
    readonly named: ReadonlyMap<string, NamedView>;
    readonly pooled: readonly string[];
    readonly onOneAxis: (column: string) => boolean;
  },
): { readonly columns: readonly WorkloadColumn[]; readonly placed: ReadonlyMap<string, PlacedView> } {
  const names = [...new Set(requested.map((own) => named.get(own)?.column ?? own))];
  const placed = new Map<string, PlacedView>();
  let first = 0;
  const columns = names.map((name): WorkloadColumn => {
    const key = keyed(policy, name);
    const { labels, at } = pooled.includes(name) ? withoutMissing(key) : { labels: key.labels, at: key.labels.map((_, k) => k) };
    const own = [...named].flatMap(([view, of]) =>
      of.column === name ? [{ view, ...of, requested: requested.includes(view) }] : [],
    );
    const { grid, views } = gridOf({ name, labels, itself: requested.includes(name), flat: onOneAxis(name) }, own);
    const column = { ...key, name, first, sizes: grid.sizes, at: at.map((place) => grid.at[place]!), views };
    for (const view of views) placed.set(view.name, { axes: axesOf(column).slice(0, view.sizes.length), view });
    first += grid.sizes.length;
    return column;
  });
  return { columns, placed };
}

/** Missing answers are counted with the last value. */
function withoutMissing({ labels }: LabelledKey) {
  const values = labels.filter((label) => label !== missingLabel);
  const last = values.length - 1;
  if (last < 1) return { labels, at: labels.map((_, k) => k) };
  const at = labels.map((label) => (label === missingLabel ? last : values.indexOf(label)));
  return { labels: values.with(last, `${values[last]} or ${missingLabel}`), at };
}

/**
 * Layout on the axes of its levels if one is requested, on axes that suit its ranges, or on one axis. Every declared view is read,
 * requested or not.
 */
function gridOf(
  column: { readonly name: string; readonly labels: readonly string[]; readonly itself: boolean; readonly flat: boolean },
  own: readonly (NamedView & { readonly view: string; readonly requested: boolean })[],
): { readonly grid: AxisGrid; readonly views: readonly AxisView[] } {
  const { name, labels, itself, flat } = column;
  const levels = own.find((view) => view.levels)?.levels;
  const declared = own.flatMap(({ view, requested, ranges }) =>
    ranges ? [{ view, requested, spans: spansOf(name, labels, ranges) }] : [],
  );
  const split = levels && nestedAxes(name, labels, levels);
  const leveled = own.some((view) => view.levels && view.requested) ? split : undefined;
  const ranges = declared.filter(({ requested }) => requested);
  const suited = (): AxisGrid => {
    if (leveled) return leveled.grid;
    const spans = ranges.flatMap((own) => own.spans);
    const single = itself ? labels.map((_, k) => [k, k] as const) : [];
    return spans.length > 0 ? gridFor(labels.length, [...spans, ...single]) : oneAxis(labels.length);
  };
  const grid = flat ? oneAxis(labels.length) : suited();
  const coarser = () => (flat ? summedLevels(name, labels, levels!) : leveled!.views);
  return {
    grid,
    views: [
      valuesView(name, labels, grid),
      ...(leveled ? coarser() : []),
      ...ranges.map(({ view, spans }) => rangesView(view, labels, grid, spans)),
    ],
  };
}
const oneAxis = (values: number): AxisGrid => ({ sizes: [values], at: Array.from({ length: values }, (_, k) => k) });

/** A row has one value on an axis. */
function keyed(policy: Policy, column: string): LabelledKey {
  const key = groupKeyOf(policy, column);
  if (key.key.kind === 'options')
    throw new Fault(
      'QUERY_UNSUPPORTED',
      `Column "${column}" takes several answers of one row; tables of a workload need one place for every row.`,
      'Leave it out with except:, and ask it as a histogram.',
    );
  return key;
}
