import { Fault } from '../../base/errors.js';
import type { Dialect } from '../../data/engine/dialect.js';
import type { Cell, Statement } from '../../data/engine/engine.js';
import { declaredColumn } from '../../policy/domain.js';
import type { Policy } from '../../policy/policy.js';
import { columnView } from './column-view.js';
import type { RowSource } from './contribution-bound.js';
import { withDerived } from './derived.js';
import { cellsStatement } from './groups-to-cells.js';
import { type Counting, type GroupKey, type Measure, numberOfCells, stableText } from './measure.js';
import { codePlaces } from './read-rows.js';
import { groupsStatement, spareGroups } from './rows-to-groups.js';

type Rows = readonly (readonly Cell[])[];

/** Measures that one statement counts. */
export interface CountPlan {
  /** Its result rows are (cell index, one integer per measure); absent cells are 0. */
  readonly statement: Statement;
  /**
   * The same integers before codes are looked up, which is faster: rows (raw code or position per key, one integer per measure),
   * incomplete above `most` rows. Absent where a row can be in several groups, and for remote databases.
   */
  readonly groups?: { readonly statement: Statement; readonly most: number; readonly keys: readonly KeyReader[] };
  /** Indices into the measures given to `compileMeasures`, in the order of the result's columns. */
  readonly measures: readonly number[];
}

/** Measures over the same rows and keys share one GROUP BY. */
export function compileMeasures(measures: readonly Measure[], of: RowSource): readonly CountPlan[] {
  return statementGroups(measures).map((members): CountPlan => {
    const countings = members.map((i) => measures[i]!.counting);
    const single = !of.dialect.eachOf && isSingle(countings[0]!, of.policy) && !isDistinct(countings[0]!);
    if (!single) return { measures: members, statement: cellsStatement(of, countings) };
    return {
      measures: members,
      // Needed only where there are too many groups.
      get statement() {
        return cellsStatement(of, countings);
      },
      groups: { ...groupsStatement(of, countings), keys: keyReaders(countings[0]!, of.policy) },
    };
  });
}

/** Indices of the measures that each statement counts. */
function statementGroups(measures: readonly Measure[]): readonly (readonly number[])[] {
  const groups = new Map<string, number[]>();
  measures.forEach(({ counting }, i) => {
    const key =
      measures.length === 1
        ? ''
        : stableText([
            counting.filter,
            counting.keys,
            counting.derived ?? null,
            isDistinct(counting) && i,
            measures[i]!.countedView?.text ?? null,
          ]);
    groups.set(key, [...(groups.get(key) ?? []), i]);
  });
  return [...groups.values()];
}

/** Every row is in one group only. */
const isSingle = ({ keys, derived }: Counting, policy: Policy): boolean =>
  keys.every(
    (key) =>
      key.kind === 'bin' || key.kind === 'grid' || (key.kind === 'code' && isCategory(withDerived(policy, derived), key.column)),
  );
/** Distinct values cannot be added over groups of raw codes, since several codes may be one; a separate statement counts them. */
export const isDistinct = ({ value }: Counting): boolean => value.kind === 'distinct';

/** Number of statements that `compileMeasures` makes, and the most rows returned: groups by raw codes, or cells where groups are too many. */
export function resultBound(
  measures: readonly Measure[],
  policy: Policy,
  dialect?: Dialect,
): { readonly statements: number; readonly rows: number } {
  const each = statementGroups(measures).map(([first]) => {
    const { counting, countedView } = measures[first!]!;
    const cells = numberOfCells(counting);
    const own = isSingle(counting, countedView?.policy ?? policy) && !isDistinct(counting) && counting.keys.length > 0;
    return own && !dialect?.eachOf ? 2 * cells + spareGroups + 1 : cells;
  });
  return { statements: each.length, rows: each.reduce((a, b) => a + b, 0) };
}

const isCategory = (policy: Policy, name: string): boolean => declaredColumn(policy, name).type === 'category';

/** The exact integers of a plan's measures from the rows of its `groups`; undefined when there were too many to have come whole. */
export function readGroups(
  { measures: members, groups }: CountPlan,
  measures: readonly Measure[],
  rows: Rows,
): ReadonlyMap<number, bigint[]> | undefined {
  if (!groups || rows.length > groups.most) return undefined;
  const { keys } = measures[members[0]!]!.counting;
  const places = groups.keys.map((reader, k) => reader(rows.map((row) => row[k]!)));
  const totals = zeroTotals(members, measures);
  const lists = [...totals.values()];
  rows.forEach((row, r) => {
    let cell = 0;
    for (let k = 0; k < keys.length; k++) {
      const place = places[k]!(r);
      if (place < 0) return;
      cell = cell * keys[k]!.size + place;
    }
    lists.forEach((list, j) => {
      const value = row[keys.length + j];
      if (value !== null && value !== undefined) list[cell]! += integerOf(value);
    });
  });
  return totals;
}

/** Position of each group for a key, from the cells of its column; -1 drops the group. */
type KeyReader = (cells: readonly Cell[]) => (r: number) => number;

function keyReaders({ keys, derived = [] }: Counting, policy: Policy): readonly KeyReader[] {
  const all = withDerived(policy, derived);
  // Of a derived column the place itself was grouped by.
  const isPlace = (key: GroupKey) => key.kind !== 'code' || derived.some(({ name }) => name === key.column);
  return keys.map((key) => keyReader(all, key, isPlace(key)));
}

/** Codes are still to be looked up, unless cells are places already. */
function keyReader(policy: Policy, key: GroupKey, isPlace: boolean): KeyReader {
  if (key.kind !== 'code') return (cells) => (r) => Number(cells[r] ?? -1);
  const table = codePlaces(policy, key, -1);
  if (isPlace) return (cells) => (r) => table[Number(cells[r] ?? -1) + 1]!;
  const view = columnView(declaredColumn(policy, key.column));
  return (cells) => {
    view.load(cells, cells.length);
    const indices = view.indices();
    return (r) => table[indices[r]! + 1]!;
  };
}

const zeroTotals = (members: readonly number[], measures: readonly Measure[]): ReadonlyMap<number, bigint[]> =>
  new Map(members.map((i) => [i, new Array<bigint>(numberOfCells(measures[i]!.counting)).fill(0n)]));

/** An integer that the database counted. Its statement adds integers only, so there is nothing to convert that could fail on data. */
export function integerOf(cell: Cell): bigint {
  if (typeof cell === 'bigint') return cell;
  if (typeof cell === 'number' && Number.isSafeInteger(cell)) return BigInt(cell);
  throw new Fault('INTERNAL', 'A sum of integers is no integer.', 'Please report this; the answer was not given.');
}

/** The exact integers of a plan's measures from its result rows. */
export function readCounts(plan: CountPlan, measures: readonly Measure[], rows: Rows): ReadonlyMap<number, bigint[]> {
  const totals = zeroTotals(plan.measures, measures);
  for (const [cell, ...values] of rows)
    plan.measures.forEach((i, j) => {
      const value = values[j];
      if (value !== null && value !== undefined) totals.get(i)![Number(cell)] = integerOf(value);
    });
  return totals;
}
