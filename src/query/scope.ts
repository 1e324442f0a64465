import { weightNamed } from '../count/domain.js';
import { sumEffects } from '../count/effects.js';
import type { Counting, Measure, RowTest, RowValue, SelectedMeasure } from '../count/measure.js';
import { impliesPresent, textOf } from '../count/measure.js';
import { one, type Rational } from '../exact/rational.js';
import type { Law } from '../mechanism/law.js';
import { gridOf } from '../policy/grid.js';
import type { Policy } from '../policy/policy.js';
import { sameCell, type Term } from './answer.js';
import type { AnswerTable, Foreseen, NoisyMeasure } from './bound.js';
import { filterOf, present, tidy } from './filter.js';
import { cellsOf, keysOf, type LabelledKey, mostCellsTogether, refuseManyCells } from './keys.js';
import type { Query } from './query.js';

/** One query tied to the measures it needs. */
export interface BoundQuery {
  finish(noisy: readonly NoisyMeasure[]): AnswerTable;
  foresee(noise: readonly Law<number>[]): Foreseen;
}

/** The rows a query is about. */
export interface Rows {
  readonly filter: readonly RowTest[];
  readonly keys: readonly LabelledKey[];
  readonly weight?: string;
}

/** Where the queries of a batch meet: a measure asked for twice is measured once. */
export interface Scope {
  readonly policy: Policy;
  readonly batch: readonly Query[];
  /** Index of the measure that adds `value` over the rows, per cell of their keys. */
  total(rows: Rows, value: RowValue, grid: Rational, name: string, tables?: number): number;
  /** How many rows (or how much weight) there are, per cell; `tables` of the batch are read off it. */
  rowCount(rows: Rows, tables?: number): Term;
  /** How many of them have a usable value of a number column. */
  presentCount(rows: Rows, column: string): Term;
  select(measure: SelectedMeasure): number;
}

export const rowsOf = (policy: Policy, query: Pick<Query, 'where' | 'by' | 'weight'>, alsoBy: readonly string[] = []): Rows => {
  if (query.weight !== undefined) weightNamed(policy, query.weight);
  return {
    filter: filterOf(query.where, policy),
    keys: keysOf(policy, [...(query.by ?? []), ...alsoBy]),
    ...(query.weight !== undefined && { weight: query.weight }),
  };
};
export const only = (rows: Rows, ...tests: RowTest[]): Rows => ({ ...rows, filter: tidy([...rows.filter, ...tests]) });
export const cellsOfRows = (rows: Rows): readonly (readonly string[])[] => cellsOf(rows.keys);

/**
 * A grouped COUNT(*) beside a grouped AVG(x) would count the same rows twice. Counting once, split by whether x is there, halves what a row moves
 * (2 instead of 2 + 2). Alone in one cell, or when the secret is a single answer, two counts are no dearer, so they stay apart.
 */
function splitColumns(policy: Policy, batch: readonly Query[]): ReadonlyMap<string, string> {
  const split = new Map<string, string>();
  if (policy.protect.secret === 'answer') return split;
  const about = (query: Query) => textOf(rowsOf(policy, query));
  const counted = new Set(batch.filter((query) => query.kind === 'count' && query.by?.length).map(about));
  for (const query of batch)
    if ((query.kind === 'mean' || query.kind === 'variance') && query.by?.length) {
      const key = about(query);
      const same = impliesPresent(rowsOf(policy, query).filter, query.column);
      if (counted.has(key) && !split.has(key) && !same) split.set(key, query.column);
    }
  return split;
}

export function openScope(policy: Policy, batch: readonly Query[]): Scope & { readonly measures: readonly Measure[] } {
  const measures: Measure[] = [];
  const known = new Map<string, number>();
  const split = splitColumns(policy, batch);
  let cells = 0;
  const once = (key: string, { keys }: Counting, make: () => Measure): number => {
    const there = known.get(key);
    if (there !== undefined) return there;
    cells += keys.reduce((n, { size }) => n * size, 1);
    refuseManyCells(cells, 'The measures have', 'cells together', mostCellsTogether);
    const index = measures.push(make()) - 1;
    known.set(key, index);
    return index;
  };
  const total: Scope['total'] = ({ filter, keys }, value, grid, name, tables = 1) => {
    const counting: Counting = { filter, keys: keys.map(({ key }) => key), value };
    return once(textOf(counting), counting, () => ({
      mechanism: 'additive',
      name,
      cells: cellsOf(keys),
      grid,
      effects: sumEffects(policy, counting),
      counting,
      ...(tables > 1 && { tables }),
    }));
  };
  const count = (rows: Rows, name: string, cells: Term['cells'], tables?: number): Term => {
    const { weight } = rows;
    const factor = weight === undefined ? one : gridOf(weightNamed(policy, weight)).unit;
    const value: RowValue = weight === undefined ? { kind: 'one' } : { kind: 'weight', weight };
    return { measure: total(rows, value, factor, weight === undefined ? name : `${name}, weighted`, tables), factor, cells };
  };
  const bySplit = (rows: Rows, column: string): Rows => ({
    ...rows,
    keys: [...rows.keys, { key: { kind: 'bin', column, edges: [], size: 2 }, labels: [column, `no ${column}`] }],
  });
  return {
    policy,
    batch,
    measures,
    total,
    rowCount(rows, tables) {
      // COUNT(x) beside COUNT(*) and AVG(x) is one half of the split count.
      const asked = rows.filter.find((test) => {
        const rest = { ...rows, filter: rows.filter.filter((other) => other !== test) };
        return test.kind === 'missing' && test.negate && split.get(textOf(rest)) === test.column;
      });
      if (asked) {
        const rest = { ...rows, filter: rows.filter.filter((other) => other !== asked) };
        return count(bySplit(rest, asked.column), 'count', (i) => [2 * i]);
      }
      const column = split.size === 0 ? undefined : split.get(textOf(rows));
      return column === undefined
        ? count(rows, 'count', sameCell, tables)
        : count(bySplit(rows, column), 'count', (i) => [2 * i, 2 * i + 1]);
    },
    presentCount: (rows, column) =>
      split.get(textOf(rows)) === column
        ? count(bySplit(rows, column), 'count', (i) => [2 * i])
        : count(only(rows, present(column)), impliesPresent(rows.filter, column) ? 'count' : `count with ${column}`, sameCell),
    select: (measure) => once(textOf([measure.counting, measure.name]), measure.counting, () => measure),
  };
}
