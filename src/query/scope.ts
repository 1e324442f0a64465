import { one, type Rational } from '../base/exact/rational.js';
import { weightNamed } from '../policy/domain.js';
import { gridOf } from '../policy/grid.js';
import type { Policy } from '../policy/policy.js';
import type { Law } from '../privacy/mechanism/law.js';
import { sameCell, type Term } from './answer.js';
import type { AnswerTable, Foreseen, NoisyMeasure } from './bound.js';
import { type DerivedColumn, withDerived } from './count/derived.js';
import { sumEffects } from './count/effects.js';
import { publishedCells } from './count/margin-cells.js';
import type { CountedMeasure, Counting, Measure, OrderedMeasure, RowValue, Seen, SelectedMeasure } from './count/measure.js';
import { namesIn, textOf } from './count/measure.js';
import { impliesPresent, type RowTest } from './count/row-test.js';
import { derivedColumns, readsOf } from './derived.js';
import { filterOf, present, tidy } from './filter.js';
import type { Expression } from './form.js';
import { cellsOf, keysOf, type LabelledKey, mostCellsTogether, refuseManyCells } from './keys.js';
import type { Query } from './query.js';

/** One query tied to the measures it needs. */
export interface BoundQuery {
  finish(noisy: readonly NoisyMeasure[]): AnswerTable;
  foresee(noise: readonly Law<number>[]): Foreseen;
  /** Its numbers are days. */
  readonly days?: true;
}

/** The rows a query is about. */
export interface Rows {
  readonly filter: readonly RowTest[];
  readonly keys: readonly LabelledKey[];
  /** Labels of the cells that the keys make. */
  readonly cells: readonly (readonly string[])[];
  readonly weight?: string;
}

/** Weight of a measure when the budget is divided (query/count/measure.ts). */
export type Sharing = Pick<CountedMeasure, 'tables' | 'worth'>;

/** Scope that the queries of a batch share: a measure needed twice is measured once. */
export interface Scope {
  readonly policy: Policy;
  readonly batch: readonly Query[];
  readonly measures: readonly Measure[];
  /** Index of the measure that adds `value` over the rows, per cell of their keys. */
  total(rows: Rows, value: RowValue, grid: Rational, name: string, sharing?: Sharing): number;
  /** Number of rows (or their total weight) per cell; `tables` of the batch use it. */
  rowCount(rows: Rows, tables?: number): Term;
  /** Number of those rows that have a usable value of a number column. */
  presentCount(rows: Rows, column: string): Term;
  /** The counting together with the derived columns that it names. */
  counting(counting: Counting): Counting;
  /** Adds a derived column that the query needs but does not name. */
  derive(name: string, expression: Expression): void;
  select(measure: SelectedMeasure): number;
  /** Index of the measure of ordered counts, which a batch has once. */
  ordered(measure: OrderedMeasure): number;
}

export const rowsOf = (policy: Policy, query: Pick<Query, 'where' | 'by' | 'weight'>, alsoBy: readonly string[] = []): Rows => {
  if (query.weight !== undefined) weightNamed(policy, query.weight);
  const filter = filterOf(query.where, policy);
  const keys = keysOf(policy, [...(query.by ?? []), ...alsoBy]);
  return {
    filter,
    keys,
    cells: cellsOf(keys),
    ...(query.weight !== undefined && { weight: query.weight }),
  };
};
export const only = (rows: Rows, ...tests: RowTest[]): Rows => ({ ...rows, filter: tidy([...rows.filter, ...tests]) });
export const furtherBy = (rows: Rows, key: LabelledKey): Rows => {
  const keys = [...rows.keys, key];
  return { ...rows, keys, cells: cellsOf(keys) };
};
/** Queries with one text are about the same rows, cell by cell. */
export const aboutText = ({ filter, keys, weight }: Rows): string => textOf([filter, keys.map(({ key }) => key), weight ?? null]);

/**
 * A grouped COUNT(*) with a grouped AVG(x) would count the same rows twice. One count split by the presence of x halves the sensitivity
 * (2, not 2 + 2). Ungrouped, or when the secret is a single answer, two counts cost no more and stay separate.
 */
function splitColumns(policy: Policy, batch: readonly Query[]): ReadonlyMap<string, string> {
  const split = new Map<string, string>();
  const grouped = batch.filter((query) => query.by?.length);
  if (policy.protect.secret === 'answer' || !grouped.some(isRatio)) return split;
  const about = (query: Query) => aboutText(rowsOf(policy, query));
  const counted = new Set(grouped.filter((query) => query.kind === 'count').map(about));
  for (const query of grouped.filter(isRatio)) {
    const rows = rowsOf(policy, query);
    const key = aboutText(rows);
    if (counted.has(key) && !split.has(key) && !impliesPresent(rows.filter, query.column)) split.set(key, query.column);
  }
  return split;
}
/** The derived columns behind names, each after those that it needs. */
function usedIn(derived: readonly DerivedColumn[], names: readonly string[]): readonly DerivedColumn[] {
  const used = new Set(names);
  for (const column of [...derived].reverse()) if (used.has(column.name)) for (const name of readsOf(column)) used.add(name);
  return derived.filter(({ name }) => used.has(name));
}

const isRatio = (query: Query) => query.kind === 'mean' || query.kind === 'variance';

/** `countedView`: view whose rows are counted, where they are not the data's own; the policy then declares the view's columns. */
export function openScope(
  declared: Policy,
  batch: readonly Query[],
  seen?: Seen,
): Scope & { readonly measures: readonly Measure[] } {
  const own: Record<string, Expression> = {};
  let derived = derivedColumns(declared, batch);
  let policy = withDerived(declared, derived);
  const measures: Measure[] = [];
  const known = new Map<string, number>();
  const split = splitColumns(policy, batch);
  let cells = 0;
  const naming = (counting: Counting): Counting => {
    const used = usedIn(derived, namesIn(counting));
    return used.length > 0 ? { ...counting, derived: used } : counting;
  };
  const keep = (text: string, measure: Measure): number => {
    cells += measure.counting.keys.reduce((n, { size }) => n * size, 1);
    refuseManyCells(cells, 'The measures have', 'cells together', mostCellsTogether);
    const index = measures.push(seen ? { ...measure, seen } : measure) - 1;
    known.set(text, index);
    return index;
  };
  const total: Scope['total'] = ({ filter, keys, cells }, value, grid, name, sharing = {}) => {
    const counting = naming({ filter, keys: keys.map(({ key }) => key), value });
    const { tables = 1, worth } = sharing;
    const text = textOf(worth === undefined ? counting : [counting, worth]);
    const there = known.get(text);
    if (there !== undefined) return there;
    const effects = sumEffects(policy, counting);
    const published = effects.size === 0 ? publishedCells(policy, counting) : undefined;
    return keep(text, {
      mechanism: 'additive',
      name,
      cells,
      grid,
      effects,
      counting,
      ...(published && { published }),
      ...(tables > 1 && { tables }),
      ...(worth !== undefined && { worth }),
    });
  };
  const count = (rows: Rows, name: string, cells: Term['cells'], tables?: number): Term => {
    const { weight } = rows;
    const factor = weight === undefined ? one : gridOf(weightNamed(policy, weight)).unit;
    const value: RowValue = weight === undefined ? { kind: 'one' } : { kind: 'weight', weight };
    return {
      measure: total(rows, value, factor, weight === undefined ? name : `${name}, weighted`, {
        ...(tables !== undefined && { tables }),
      }),
      factor,
      cells,
    };
  };
  const bySplit = (rows: Rows, column: string): Rows =>
    furtherBy(rows, { key: { kind: 'bin', column, edges: [], size: 2 }, labels: [column, `no ${column}`] });
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
    rowCount(rows, tables) {
      // COUNT(x) together with COUNT(*) and AVG(x) is one half of the split count.
      const asked = rows.filter.find((test) => {
        const rest = { ...rows, filter: rows.filter.filter((other) => other !== test) };
        return test.kind === 'missing' && test.negate && split.get(aboutText(rest)) === test.column;
      });
      if (asked?.kind === 'missing') {
        const rest = { ...rows, filter: rows.filter.filter((other) => other !== asked) };
        return count(bySplit(rest, asked.column), 'count', (i) => [2 * i]);
      }
      const column = split.size === 0 ? undefined : split.get(aboutText(rows));
      return column === undefined
        ? count(rows, 'count', sameCell, tables)
        : count(bySplit(rows, column), 'count', (i) => [2 * i, 2 * i + 1]);
    },
    presentCount: (rows, column) =>
      split.get(aboutText(rows)) === column
        ? count(bySplit(rows, column), 'count', (i) => [2 * i])
        : count(only(rows, present(column)), impliesPresent(rows.filter, column) ? 'count' : `count with ${column}`, sameCell),
    select(measure) {
      const text = textOf([measure.counting, measure.name]);
      return known.get(text) ?? keep(text, measure);
    },
    ordered(measure) {
      const text = textOf([measure.counting, measure.strategy]);
      return known.get(text) ?? keep(text, measure);
    },
  };
}
