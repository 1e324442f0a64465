import type { Cell } from '../engine/engine.js';
import type { Policy } from '../policy/policy.js';
import { viewColumn } from './column-view.js';
import { type CountPlan, cellCount, integerOf } from './compile.js';
import { columnNamed } from './domain.js';
import type { Measure, RowKey } from './measure.js';
import { codePlaces } from './read-rows.js';

type Rows = readonly (readonly Cell[])[];

/** The exact integers of a plan's measures from the rows of its `groups`; undefined when there were too many to have come whole. */
export function readGroups(
  { measures: members, groups }: CountPlan,
  measures: readonly Measure[],
  policy: Policy,
  rows: Rows,
): ReadonlyMap<number, bigint[]> | undefined {
  if (!groups || rows.length > groups.most) return undefined;
  const { keys } = measures[members[0]!]!.counting;
  const places = keys.map((key, k) => placesOf(policy, key, rows, k));
  const totals = new Map(members.map((i) => [i, new Array<bigint>(cellCount(measures[i]!.counting)).fill(0n)]));
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

/** Position of each group for a key: codes are still to be looked up, numbers came as positions; -1 drops the group. */
function placesOf(policy: Policy, key: RowKey, rows: Rows, k: number): (r: number) => number {
  if (key.kind !== 'code')
    return (r) => {
      const position = rows[r]![k];
      return position === null || position === undefined ? -1 : Number(position);
    };
  const view = viewColumn(columnNamed(policy, key.column));
  const table = codePlaces(policy, key, -1);
  view.turn(
    rows.map((row) => row[k]!),
    rows.length,
  );
  const indices = view.indices();
  return (r) => table[indices[r]! + 1]!;
}
