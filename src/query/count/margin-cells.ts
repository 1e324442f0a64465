import { one } from '../../base/exact/rational.js';
import { codesOf, missingLabel } from '../../policy/code.js';
import { cellCount, combinations, declaredColumn, declaredNumber } from '../../policy/domain.js';
import { gridOf, unitsAt } from '../../policy/grid.js';
import type { ColumnCut, KnownTotal } from '../../policy/known/known.js';
import type { Policy } from '../../policy/policy.js';
import { type CellValue, dropped, keyCell, leafPredicate } from './key-cell.js';
import { countingRows, followsFromTotal, totalTest } from './known-sensitivity.js';
import { type Counting, columnsOfKey, type GroupKey, type Measure, type RowValue, type SumMeasure } from './measure.js';
import { columnsTested, leavesOf, passesWhere } from './row-test.js';

/** Cells of a margin, by a value of each of its columns that stands for its piece; the last column fastest. */
const cellsIn = (policy: Policy, cuts: readonly ColumnCut[]): readonly ReadonlyMap<string, CellValue>[] =>
  combinations(cuts.map((cut) => valuesOf(policy, cut))).map(
    (values) => new Map(values.map((value, k) => [cuts[k]!.column, value])),
  );
const valuesOf = (policy: Policy, { column, starts }: ColumnCut): readonly CellValue[] =>
  starts ? [0, ...starts, null] : [...codesOf(declaredColumn(policy, column) as never), null];

type TableShape = Pick<Counting, 'filter' | 'keys'>;

/** Value of a column that the margin does not have: where the margin determines everything, no result depends on it, so none is used. */
const valueIn = (values: ReadonlyMap<string, CellValue>, column: string): CellValue => values.get(column) ?? null;

/** The position of a row in a key, or `dropped`. */
function positionOf(key: GroupKey): (values: ReadonlyMap<string, CellValue>) => number {
  if (key.kind === 'joint') {
    const own = key.keys.map(positionOf);
    const places = new Map(key.support.map((combination, place) => [combination.join(), place]));
    return (values) => places.get(own.map((position) => position(values)).join()) ?? key.size - 1;
  }
  const cell = keyCell(key);
  return (values) => cell(valueIn(values, key.column));
}

/** For every cell of a margin, the table cell that its rows are in; `dropped` where its rows are not counted. */
function placesOf(policy: Policy, cuts: readonly ColumnCut[], { filter, keys }: TableShape): readonly number[] {
  const passes = new Map(leavesOf(filter).map((leaf) => [leaf, leafPredicate(leaf)]));
  const positions = keys.map((key) => ({ size: key.size, position: positionOf(key) }));
  return cellsIn(policy, cuts).map((values) => {
    if (!filter.every((test) => passesWhere(test, (leaf) => passes.get(leaf)!(valueIn(values, leaf.column))))) return dropped;
    return positions.reduce((cell, { size, position }) => {
      const at = position(values);
      return cell === dropped || at === dropped ? dropped : cell * size + at;
    }, 0);
  });
}

/** Cells of a table that follow from published numbers; undefined where none do, or where no numbers are published. */
export function publishedCells(policy: Policy, counting: Counting): readonly bigint[] | undefined {
  const outline = { counting, value: counting.value };
  const total = policy.known?.totals.find((own) => own.values !== undefined && followsFromTotal(policy, own, outline));
  if (!total) return undefined;
  if (total.kind === 'count') return total.values;
  return total.kind === 'sum'
    ? summed(policy, total.by, total.values!, countingRows(outline, total.column).counting)
    : summed(policy, total.by, sumsFromCounts(policy, total.by, total.values!, counting.value), counting);
}

/** Sums over the rows of each margin cell: the number of rows times the value at the place that stands for the cell. */
function sumsFromCounts(policy: Policy, cuts: readonly ColumnCut[], rows: readonly bigint[], value: RowValue): readonly bigint[] {
  if (value.kind === 'one') return rows;
  // No margin has weights, so a weighted value reaches this point only where it never adds anything.
  if (value.kind !== 'number' || value.weight !== undefined) return rows.map(() => 0n);
  const grid = gridOf(declaredNumber(policy, value.column));
  return cellsIn(policy, cuts).map((values, k) => {
    const at = valueIn(values, value.column);
    return at === null ? 0n : rows[k]! * ((unitsAt(grid, Number(at)) - value.origin) ** BigInt(value.power) - value.shift);
  });
}

function summed(policy: Policy, cuts: readonly ColumnCut[], values: readonly bigint[], table: TableShape): readonly bigint[] {
  const cells = new Array<bigint>(cellCount(table.keys)).fill(0n);
  placesOf(policy, cuts, table).forEach((cell, k) => {
    if (cell >= 0) cells[cell]! += values[k]!;
  });
  return cells;
}

/** Counting of a known total in the data. */
function countingOf(policy: Policy, total: KnownTotal): Counting {
  if (total.kind === 'count') return { filter: total.where.map(totalTest), keys: [], value: { kind: 'one' } };
  const value: RowValue =
    total.kind === 'margin' ? { kind: 'one' } : { kind: 'number', column: total.column, power: 1, origin: 0n, shift: 0n };
  return { filter: [], keys: keysOf(policy, total.by), value };
}

const keysOf = (policy: Policy, cuts: readonly ColumnCut[]): readonly GroupKey[] =>
  cuts.map(({ column, starts, size }): GroupKey => {
    if (starts) return { kind: 'bin', column, edges: starts, size };
    return {
      kind: 'code',
      column,
      groups: codesOf(declaredColumn(policy, column) as never).map((code) => [code]),
      missing: 'cell',
      size,
    };
  });

/** Known total as a measure without noise, answered from the published numbers where there are any. */
export function totalMeasure(policy: Policy, total: KnownTotal): SumMeasure {
  const counting = countingOf(policy, total);
  const published = publishedCells(policy, counting);
  const by = total.kind === 'count' ? [] : total.by;
  return {
    mechanism: 'additive',
    name: `known ${by.map(({ column }) => column).join(' x ')}`,
    cells: cellsIn(policy, by).map((cell) => [...cell.values()].map((value) => `${value ?? missingLabel}`)),
    grid: one,
    sensitivity: new Map(),
    counting,
    ...(published && { published }),
  };
}

/** Cells of a table whose sums a margin fixes. */
export interface MarginConstraint {
  /** The group of every cell. */
  readonly groupOf: readonly number[];
  readonly groups: number;
  /** The group of every cell of the margin; -1 where its rows are in none. */
  readonly from: readonly number[];
}

/**
 * Constraint of a margin on a table of counts: cells with the same place by the margin's columns add up to the margin's number.
 * Undefined where other columns decide which rows are counted.
 */
export function marginConstraint(policy: Policy, cuts: readonly ColumnCut[], m: Measure): MarginConstraint | undefined {
  if (m.mechanism !== 'additive' || m.counting.value.kind !== 'one' || m.sensitivity.size === 0) return undefined;
  const { filter, keys } = m.counting;
  const names = new Set(cuts.map(({ column }) => column));
  const isOwn = (key: GroupKey) => key.kind !== 'joint' && key.kind !== 'options' && names.has(key.column);
  const isPartition = (key: GroupKey) =>
    key.kind === 'bin' || key.kind === 'joint' || (key.kind === 'code' && key.missing === 'cell');
  if (!keys.every((key) => isOwn(key) || (isPartition(key) && !columnsOfKey(key).some((name) => names.has(name)))))
    return undefined;
  // Rows of one margin cell may differ in a column derived from other columns.
  if (columnsTested(filter).some((name) => m.counting.derived?.some((derived) => derived.name === name))) return undefined;
  const own: TableShape = { filter, keys: keys.filter(isOwn) };
  if (!followsFromTotal(policy, { kind: 'margin', by: cuts }, { counting: own, value: { kind: 'one' } })) return undefined;
  let groupOf: readonly number[] = [0];
  for (const key of keys)
    groupOf = groupOf.flatMap((group) =>
      Array.from({ length: key.size }, (_, at) => (isOwn(key) ? group * key.size + at : group)),
    );
  return { groupOf, groups: cellCount(own.keys), from: placesOf(policy, cuts, own) };
}
