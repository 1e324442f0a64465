import * as z from 'zod';
import { Fault } from '../../base/errors.js';
import { compare, parseRational } from '../../base/exact/rational.js';
import { shownBins } from '../../policy/bins.js';
import { declaredCategory, declaredCode, declaredColumn, isNumber } from '../../policy/domain.js';
import { gridOf, positionsWhere } from '../../policy/grid.js';
import type { NumberColumn, Policy } from '../../policy/policy.js';
import { prefixEstimator } from '../../privacy/mechanism/ordered/prefix-estimator.js';
import { type AnswerLayout, answerLayout, answerTable, expectedAnswerError, figureCells } from '../answer.js';
import type { Axis } from '../count/measure.js';
import { boundedList, codeForm, columnNameForm, commonFields } from '../form.js';
import type { QueryKind } from '../kind.js';
import type { Query } from '../query.js';
import type { BindingScope, BoundQuery } from '../scope.js';
import { forestAnswer } from './forest.js';
import { countInterval, type OrderedCounting, type OrderedPositions, orderedCounting, orderedCounts } from './ordered.js';
import { noisePerCell } from './per-cell-noise.js';

const end = z.union([codeForm, z.number()]);
const schema = z.strictObject({
  kind: z.literal('ranges'),
  column: columnNameForm,
  /** First and last value of each range, both in it. The bins of a number, or codes one by one, when absent. */
  ranges: boundedList(z.tuple([end, end]).readonly(), 'literals').optional(),
  ...commonFields,
});
type RangesQuery = z.output<typeof schema>;
const label = ({ column }: RangesQuery): string => `ranges of ${column}`;

/** From a position up to one that is not in it. */
interface Span {
  readonly from: number;
  readonly to: number;
}

/** Number of rows in ranges of values, which may overlap: all are read from one distribution. */
function bind(query: RangesQuery, scope: BindingScope): BoundQuery {
  const ordering = orderedCounting(query, scope);
  const { positions } = ordering;
  const groups = ordering.rows.cells;
  const spans = spansOf(scope.policy, query, positions);
  const text = ({ from, to }: Span): string => {
    const [first, last] = [positions.first(from), positions.last(to - 1)];
    return first === last ? first : `${first} to ${last}`;
  };
  const columns = [query.column, query.name ?? 'rows in it'];
  const layout = answerLayout(query, label(query), figureCells(groups, spans.map(text)), columns);
  const cells = query.ranges ? undefined : perCellAnswer({ query, ordering, spans, layout }, scope);
  if (cells) return cells;
  const counts = orderedCounts(query, scope, ordering);
  return {
    finish: (noisy) => {
      const read = counts.read(noisy);
      let group = read.group(0);
      return answerTable(layout, 'combined', (i) => {
        if (i > 0 && i % spans.length === 0) group = read.group(i / spans.length);
        const { from, to } = spans[i % spans.length]!;
        return countInterval(group.cumulative[to]! - group.cumulative[from]!, group.range(from, to));
      });
    },
    expectedError: (noise) => {
      const all = spans.map(({ from, to }) => counts.expectedError(noise, from, to));
      const widest = all.reduce((most, next) => (next.standardError > most.standardError ? next : most));
      return expectedAnswerError(layout, 'combined', widest);
    },
  };
}

interface PerCellRequest {
  readonly query: RangesQuery;
  readonly ordering: OrderedCounting;
  readonly spans: readonly Span[];
  readonly layout: AnswerLayout;
}
/**
 * Independent cells of a column used by no other query: from few sums where pairs join the cells to a forest,
 * else with noise on each cell where that errs less.
 */
function perCellAnswer({ query, ordering, spans, layout }: PerCellRequest, scope: BindingScope): BoundQuery | undefined {
  const { rows, strategy, sensitivity } = ordering;
  const isAbout = (other: Query) => 'column' in other && other.column === query.column;
  if (scope.batch.filter(isAbout).length > 1) return undefined;
  const key = cellKey(scope.policy, ordering.positions, spans);
  if (!key) return undefined;
  const reading = prefixEstimator(strategy);
  const meanVariance = spans.reduce((sum, { from, to }) => sum + reading.variance(from, to), 0) / spans.length;
  const request = { rows, key, layout, alternative: { sensitivity, meanVariance } };
  const bound = forestAnswer(scope, request) ?? noisePerCell(scope, request);
  return (
    bound && {
      ...bound,
      finish: (noisy) => {
        const finished = bound.finish(noisy);
        const cut = (x: number | null) => (x === null ? null : Math.max(0, x));
        return {
          ...finished,
          rows: finished.rows.map((r) => ({ ...r, value: cut(r.value), low: cut(r.low), high: cut(r.high) })),
        };
      },
    }
  );
}

/** Key with one cell for each span; undefined where positions are too coarse for that. */
function cellKey(policy: Policy, { key }: OrderedPositions, spans: readonly Span[]): Axis | undefined {
  if (key.kind === 'code') return key;
  if (key.kind !== 'grid' || key.width > 1) return undefined;
  const { starts, labels } = shownBins(declaredColumn(policy, key.column) as NumberColumn);
  if (labels.length !== spans.length + 1) return undefined;
  return { kind: 'bin', column: key.column, edges: starts, size: labels.length };
}

function spansOf(policy: Policy, { column: name, ranges }: RangesQuery, { key, size }: OrderedPositions): readonly Span[] {
  const column = declaredColumn(policy, name);
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
  const category = declaredCategory(policy, name);
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

export const rangesKind: QueryKind<typeof schema> = { schema, label, bind };
