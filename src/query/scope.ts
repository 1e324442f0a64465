import { one } from '../base/exact/rational.js';
import { declaredWeight } from '../policy/domain.js';
import { gridOf } from '../policy/grid.js';
import type { Policy } from '../policy/policy.js';
import type { NoiseDistribution } from '../privacy/mechanism/distribution.js';
import { type LinearTerm, sameCell } from './answer.js';
import type { AnswerTable, ExpectedError, NoisyMeasure } from './bound.js';
import { type DerivedColumn, withDerived } from './count/derived.js';
import { publishedCells } from './count/margin-cells.js';
import type {
  CountedView,
  Counting,
  GroupKey,
  Measure,
  OrderedMeasure,
  RowValue,
  SelectionMeasure,
  SumMeasure,
} from './count/measure.js';
import { namesIn, numberOfCells, stableText } from './count/measure.js';
import { impliesPresent, type RowTest } from './count/row-test.js';
import { sumSensitivity } from './count/sensitivity.js';
import { derivedColumns, inputsOf } from './derived.js';
import { filterOf, presenceTest, simplifyTests } from './filter.js';
import type { Expression } from './form.js';
import { cellLabels, groupKeysOf, type LabelledKey, maxBatchCells, refuseManyCells } from './keys.js';
import type { Query } from './query.js';

/** One query tied to the measures it needs. */
export interface BoundQuery {
  finish(noisy: readonly NoisyMeasure[]): AnswerTable;
  expectedError(noise: readonly NoiseDistribution<number>[]): ExpectedError;
  /** Its numbers are days. */
  readonly days?: true;
}

/** The rows a query is about. */
export interface RowSelection {
  readonly filter: readonly RowTest[];
  readonly keys: readonly LabelledKey[];
  /** Labels of the cells that the keys make. */
  readonly cells: readonly (readonly string[])[];
  readonly weight?: string;
}

/** Weight of a measure when the budget is divided (query/count/measure.ts). */
export type BudgetWeight = Pick<SumMeasure, 'tables' | 'worth'>;

/** Scope that the queries of a batch share: a measure needed twice is measured once. */
export interface BindingScope {
  readonly policy: Policy;
  readonly batch: readonly Query[];
  readonly measures: readonly Measure[];
  /** Index of the measure that adds `value` over the rows, per cell of their keys. */
  total(rows: RowSelection, value: RowValue, as: Pick<SumMeasure, 'grid' | 'name'> & BudgetWeight): number;
  /** Number of rows (or their total weight) per cell; `tables` of the batch use it. */
  rowCount(rows: RowSelection, tables?: number): LinearTerm;
  /** Number of those rows that have a usable value of a number column. */
  presentCount(rows: RowSelection, column: string): LinearTerm;
  /** The counting together with the derived columns that it names. */
  counting(counting: Counting): Counting;
  /** Adds a derived column that the query needs but does not name. */
  derive(name: string, expression: Expression): void;
  select(measure: SelectionMeasure): number;
  /** Index of the measure of ordered counts, which a batch has once. */
  ordered(measure: OrderedMeasure): number;
}

export const selectRows = (
  policy: Policy,
  query: Pick<Query, 'where' | 'by' | 'weight'>,
  alsoBy: readonly string[] = [],
): RowSelection => {
  if (query.weight !== undefined) declaredWeight(policy, query.weight);
  const filter = filterOf(query.where, policy);
  const keys = groupKeysOf(policy, [...(query.by ?? []), ...alsoBy]);
  return {
    filter,
    keys,
    cells: cellLabels(keys),
    ...(query.weight !== undefined && { weight: query.weight }),
  };
};
export const withTests = (rows: RowSelection, ...tests: RowTest[]): RowSelection => ({
  ...rows,
  filter: simplifyTests([...rows.filter, ...tests]),
});
export const withKey = (rows: RowSelection, key: LabelledKey): RowSelection => {
  const keys = [...rows.keys, key];
  return { ...rows, keys, cells: cellLabels(keys) };
};
/** Counting of the rows of a selection, by its keys and further ones. */
export const rowCounting = ({ filter, keys }: RowSelection, ...more: GroupKey[]): Counting => ({
  filter,
  keys: [...keys.map(({ key }) => key), ...more],
  value: { kind: 'one' },
});
/** Queries with one text are about the same rows, cell by cell. */
export const selectionText = ({ filter, keys, weight }: RowSelection): string =>
  stableText([filter, keys.map(({ key }) => key), weight ?? null]);

/**
 * A grouped COUNT(*) with a grouped AVG(x) would count the same rows twice. One count split by the presence of x halves the sensitivity
 * (2, not 2 + 2). Ungrouped, or when the secret is a single answer, two counts cost no more and stay separate.
 */
function splitColumns(policy: Policy, batch: readonly Query[]): ReadonlyMap<string, string> {
  const split = new Map<string, string>();
  const grouped = batch.filter((query) => query.by?.length);
  if (policy.protect.secret === 'answer' || !grouped.some(isRatio)) return split;
  const about = (query: Query) => selectionText(selectRows(policy, query));
  const counted = new Set(grouped.filter((query) => query.kind === 'count').map(about));
  for (const query of grouped.filter(isRatio)) {
    const rows = selectRows(policy, query);
    const key = selectionText(rows);
    if (counted.has(key) && !split.has(key) && !impliesPresent(rows.filter, query.column)) split.set(key, query.column);
  }
  return split;
}
/** The derived columns behind names, each after those that it needs. */
function neededColumns(derived: readonly DerivedColumn[], names: readonly string[]): readonly DerivedColumn[] {
  const used = new Set(names);
  for (const column of [...derived].reverse()) if (used.has(column.name)) for (const name of inputsOf(column)) used.add(name);
  return derived.filter(({ name }) => used.has(name));
}

const isRatio = (query: Query) => query.kind === 'mean' || query.kind === 'variance';

/** Measures of a batch, each kept once under the text of what it counts. */
function measureList(countedView: CountedView | undefined) {
  const measures: Measure[] = [];
  const known = new Map<string, number>();
  let cells = 0;
  const add = (text: string, measure: Measure): number => {
    cells += numberOfCells(measure.counting);
    refuseManyCells(cells, 'The measures have', 'cells together', maxBatchCells);
    const index = measures.push(countedView ? { ...measure, countedView } : measure) - 1;
    known.set(text, index);
    return index;
  };
  return { measures, find: (text: string) => known.get(text), add };
}

/** Counts a selection; `cells` are those of the count that each cell adds up. */
type Count = (rows: RowSelection, name: string, cells: LinearTerm['cells'], tables?: number) => LinearTerm;

/** Counts of rows and of present values, one measure for both where `split` says so. */
function rowCounts(split: ReadonlyMap<string, string>, count: Count): Pick<BindingScope, 'rowCount' | 'presentCount'> {
  const bySplit = (rows: RowSelection, column: string): RowSelection =>
    withKey(rows, { key: { kind: 'bin', column, edges: [], size: 2 }, labels: [column, `no ${column}`] });
  return {
    rowCount(rows, tables) {
      // COUNT(x) together with COUNT(*) and AVG(x) is one half of the split count.
      const presence = rows.filter.find((test) => {
        const rest = { ...rows, filter: rows.filter.filter((other) => other !== test) };
        return test.kind === 'missing' && test.negate && split.get(selectionText(rest)) === test.column;
      });
      if (presence?.kind === 'missing') {
        const rest = { ...rows, filter: rows.filter.filter((other) => other !== presence) };
        return count(bySplit(rest, presence.column), 'count', (i) => [2 * i]);
      }
      const column = split.size === 0 ? undefined : split.get(selectionText(rows));
      return column === undefined
        ? count(rows, 'count', sameCell, tables)
        : count(bySplit(rows, column), 'count', (i) => [2 * i, 2 * i + 1]);
    },
    presentCount: (rows, column) =>
      split.get(selectionText(rows)) === column
        ? count(bySplit(rows, column), 'count', (i) => [2 * i])
        : count(
            withTests(rows, presenceTest(column)),
            impliesPresent(rows.filter, column) ? 'count' : `count with ${column}`,
            sameCell,
          ),
  };
}

/** `countedView`: view whose rows are counted, where they are not the data's own; the policy then declares the view's columns. */
export function openBindingScope(
  declared: Policy,
  batch: readonly Query[],
  countedView?: CountedView,
): BindingScope & { readonly measures: readonly Measure[] } {
  const own: Record<string, Expression> = {};
  let derived = derivedColumns(declared, batch);
  let policy = withDerived(declared, derived);
  const { measures, find, add } = measureList(countedView);
  const naming = (counting: Counting): Counting => {
    const used = neededColumns(derived, namesIn(counting));
    return used.length > 0 ? { ...counting, derived: used } : counting;
  };
  const total: BindingScope['total'] = ({ filter, keys, cells }, value, { grid, name, tables = 1, worth }) => {
    const counting = naming({ filter, keys: keys.map(({ key }) => key), value });
    const text = stableText(worth === undefined ? counting : [counting, worth]);
    const there = find(text);
    if (there !== undefined) return there;
    const sensitivity = sumSensitivity(policy, counting);
    const published = sensitivity.size === 0 ? publishedCells(policy, counting) : undefined;
    return add(text, {
      mechanism: 'additive',
      name,
      cells,
      grid,
      sensitivity,
      counting,
      ...(published && { published }),
      ...(tables > 1 && { tables }),
      ...(worth !== undefined && { worth }),
    });
  };
  const count: Count = (rows, name, cells, tables) => {
    const { weight } = rows;
    const factor = weight === undefined ? one : gridOf(declaredWeight(policy, weight)).unit;
    const value: RowValue = weight === undefined ? { kind: 'one' } : { kind: 'weight', weight };
    const measure = total(rows, value, {
      grid: factor,
      name: weight === undefined ? name : `${name}, weighted`,
      ...(tables !== undefined && { tables }),
    });
    return { measure, factor, cells };
  };
  return {
    get policy() {
      return policy;
    },
    batch,
    measures,
    counting: naming,
    derive(name, expression) {
      derived = derivedColumns(declared, [...batch, { derive: { ...own, [name]: expression } }]);
      own[name] = expression;
      policy = withDerived(declared, derived);
    },
    total,
    ...rowCounts(splitColumns(policy, batch), count),
    select(measure) {
      const text = stableText([measure.counting, measure.name]);
      return find(text) ?? add(text, measure);
    },
    ordered(measure) {
      const text = stableText([measure.counting, measure.strategy]);
      return find(text) ?? add(text, measure);
    },
  };
}
