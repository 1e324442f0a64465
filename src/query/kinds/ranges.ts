import * as z from 'zod';
import { Fault } from '../../base/errors.js';
import { compare, parseRational } from '../../base/exact/rational.js';
import { shownBins } from '../../policy/bins.js';
import { categoryNamed, columnNamed, declaredCode, isNumber } from '../../policy/domain.js';
import { gridOf, positionsWhere } from '../../policy/grid.js';
import type { NumberColumn, Policy } from '../../policy/policy.js';
import { readingOf } from '../../privacy/mechanism/ordered/reading.js';
import { foreseen, type Layout, table } from '../answer.js';
import type { Axis } from '../count/measure.js';
import { asked, code, columnName, list } from '../form.js';
import type { QueryKind } from '../kind.js';
import type { Query } from '../query.js';
import type { BoundQuery, Scope } from '../scope.js';
import { eachByItself } from './each-by-itself.js';
import { alongForest } from './forest.js';
import { countTold, type Ordering, orderedCounts, orderingOf, type Positions } from './ordered.js';

const end = z.union([code, z.number()]);
const schema = z.strictObject({
  kind: z.literal('ranges'),
  column: columnName,
  /** First and last value of each range, both in it. The bins of a number, or codes one by one, when absent. */
  ranges: list(z.tuple([end, end]).readonly(), 'literals').optional(),
  ...asked,
});
type RangesQuery = z.output<typeof schema>;
const label = ({ column }: RangesQuery): string => `ranges of ${column}`;

/** From a position up to one that is not in it. */
interface Span {
  readonly from: number;
  readonly to: number;
}

/** Number of rows in ranges of values, which may overlap: all are read from one distribution. */
function bind(query: RangesQuery, scope: Scope): BoundQuery {
  const ordering = orderingOf(query, scope);
  const { positions } = ordering;
  const groups = ordering.rows.cells;
  const spans = spansOf(scope.policy, query, positions);
  const text = ({ from, to }: Span): string => {
    const [first, last] = [positions.first(from), positions.last(to - 1)];
    return first === last ? first : `${first} to ${last}`;
  };
  const layout: Layout = {
    query,
    label: label(query),
    columns: [...(query.by ?? []), query.column, query.name ?? 'rows in it'],
    cells: groups.flatMap((keys) => spans.map((span) => [...keys, text(span)])),
  };
  const cells = query.ranges ? undefined : cellByCell(query, scope, ordering, spans, layout);
  if (cells) return cells;
  const counts = orderedCounts(query, scope, ordering);
  return {
    finish: (noisy) => {
      const read = counts.read(noisy);
      let group = read.group(0);
      return table(layout, 'combined', (i) => {
        if (i > 0 && i % spans.length === 0) group = read.group(i / spans.length);
        const { from, to } = spans[i % spans.length]!;
        return countTold(group.told[to]! - group.told[from]!, group.range(from, to));
      });
    },
    foresee: (noise) => {
      const all = spans.map(({ from, to }) => counts.foresee(noise, from, to));
      const widest = all.reduce((most, next) => (next.standardError > most.standardError ? next : most));
      return foreseen(layout, 'combined', widest.standardError, widest.half, false);
    },
  };
}

/**
 * Independent cells of a column used by no other query: from few sums where pairs join the cells to a forest,
 * else with noise on each cell where that errs less.
 */
function cellByCell(
  query: RangesQuery,
  scope: Scope,
  { rows, positions, strategy, effects }: Ordering,
  spans: readonly Span[],
  layout: Layout,
): BoundQuery | undefined {
  const isAbout = (other: Query) => 'column' in other && other.column === query.column;
  if (scope.batch.filter(isAbout).length > 1) return undefined;
  const { key } = positions;
  const cells: Axis | undefined =
    key.kind === 'code' ? key : key.kind === 'grid' && key.width === 1 ? binsOf(scope.policy, query.column, spans) : undefined;
  if (!cells) return undefined;
  const reading = readingOf(strategy);
  const meanVariance = spans.reduce((sum, { from, to }) => sum + reading.variance(from, to), 0) / spans.length;
  const rival = { effects, meanVariance };
  const bound = alongForest(scope, rows, cells, layout, rival) ?? eachByItself(scope, rows, cells, layout, rival);
  return (
    bound && {
      ...bound,
      finish: (noisy) => {
        const told = bound.finish(noisy);
        const cut = (x: number | null) => (x === null ? null : Math.max(0, x));
        return { ...told, rows: told.rows.map((r) => ({ ...r, value: cut(r.value), low: cut(r.low), high: cut(r.high) })) };
      },
    }
  );
}

function binsOf(policy: Policy, name: string, spans: readonly Span[]): Axis | undefined {
  const { starts, labels } = shownBins(columnNamed(policy, name) as NumberColumn);
  return labels.length === spans.length + 1 ? { kind: 'bin', column: name, edges: starts, size: labels.length } : undefined;
}

function spansOf(policy: Policy, { column: name, ranges }: RangesQuery, { key, size }: Positions): readonly Span[] {
  const column = columnNamed(policy, name);
  const wrong = (message: string) =>
    new Fault('QUERY_INVALID', message, 'Write ranges as [[17, 24], [25, 34]]: both ends are in them.');
  if (isNumber(column)) {
    const grid = gridOf(column);
    const width = key.kind === 'grid' ? key.width : 1;
    if (!ranges) {
      const starts = [0, ...shownBins(column).starts].map((start) => Math.floor(start / width));
      return [...new Set(starts)].map((from, k, all) => ({ from, to: all[k + 1] ?? size }));
    }
    return ranges.map(([low, high]) => {
      if (typeof low === 'string' || typeof high === 'string') throw wrong(`Ranges of "${name}" have numbers for ends.`);
      const [a, b] = [parseRational(String(low)), parseRational(String(high))];
      const [from, to] = [positionsWhere(grid, '>=', a).from, positionsWhere(grid, '<=', b).to];
      if (compare(a, b) > 0 || from > to) throw wrong(`A range of "${name}" holds none of its values.`);
      return { from: Math.floor(from / width), to: Math.floor(to / width) + 1 };
    });
  }
  const category = categoryNamed(policy, name);
  if (!ranges) return Array.from({ length: size }, (_, p) => ({ from: p, to: p + 1 }));
  const groups = key.kind === 'code' ? key.groups : [];
  const place = (literal: string | number) => {
    const declared = declaredCode(category, literal);
    return groups.findIndex((codes) => codes.includes(declared));
  };
  return ranges.map(([first, last]) => {
    const [from, to] = [place(first), place(last)];
    if (from > to) throw wrong(`A range of "${name}" ends before it begins, in the order of its codes.`);
    return { from, to: to + 1 };
  });
}

export const ranges: QueryKind<typeof schema> = { schema, label, bind };
