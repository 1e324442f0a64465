import { one } from '../exact/rational.js';
import { codesOf, missingLabel } from '../policy/code.js';
import { columnNamed } from '../policy/domain.js';
import type { Cut, KnownTotal } from '../policy/known/known.js';
import type { Policy } from '../policy/policy.js';
import { tells, testFor } from './known-effects.js';
import {
  type CountedMeasure,
  type Counting,
  cellCount,
  columnsOfKey,
  type Measure,
  type RowKey,
  type RowValue,
} from './measure.js';
import { dropped, type OneKey, passer, placer } from './pair-effects.js';

/** A code, a position of a number, or no answer. */
type Value = string | number | null;

/** Cells of a margin, by a value of each of its columns that stands for its piece; the last column fastest. */
function* cellsIn(policy: Policy, cuts: readonly Cut[]): Iterable<ReadonlyMap<string, Value>> {
  const [cut, ...rest] = cuts;
  if (!cut) {
    yield new Map();
    return;
  }
  for (const value of valuesOf(policy, cut))
    for (const more of cellsIn(policy, rest)) yield new Map([[cut.column, value], ...more]);
}
const valuesOf = (policy: Policy, { column, starts }: Cut): readonly Value[] =>
  starts ? [0, ...starts, null] : [...codesOf(columnNamed(policy, column) as never), null];

type Simple = Pick<Counting, 'filter' | 'keys'>;

/** For every cell of a margin, the cell of a table that goes by its columns only; -1 where its rows are not counted. */
function placesOf(policy: Policy, cuts: readonly Cut[], { filter, keys }: Simple): readonly number[] {
  const tests = filter.map((test) => ({ column: test.column, passes: passer(test) }));
  const places = (keys as readonly OneKey[]).map((key) => ({ column: key.column, size: key.size, place: placer(key) }));
  return [...cellsIn(policy, cuts)].map((values) => {
    if (!tests.every(({ column, passes }) => passes(values.get(column)!))) return -1;
    return places.reduce((cell, { column, size, place }) => {
      const at = place(values.get(column)!);
      if (cell < 0 || at === dropped) return -1;
      return cell * size + (at === -1 ? size - 1 : at);
    }, 0);
  });
}

/** What a table holds that follows from published numbers; undefined where none does, or none are published. */
export function publishedCells(policy: Policy, counting: Counting): readonly bigint[] | undefined {
  const asked = { counting, value: counting.value };
  const total = policy.known?.totals.find((own) => own.values !== undefined && tells(policy, own, asked));
  if (!total) return undefined;
  return total.kind === 'count' ? total.values : summed(policy, total, total.values!, counting);
}

function summed(
  policy: Policy,
  total: Exclude<KnownTotal, { kind: 'count' }>,
  values: readonly bigint[],
  { filter, keys, value }: Counting,
): readonly bigint[] {
  const own = total.kind === 'sum' ? filter.filter(({ column }) => column !== total.column) : filter;
  const cells = new Array<bigint>(cellCount({ filter, keys, value })).fill(0n);
  placesOf(policy, total.by, { filter: own, keys }).forEach((cell, k) => {
    if (cell >= 0) cells[cell]! += values[k]!;
  });
  return cells;
}

/** How a total is counted in the data. */
function countingOf(policy: Policy, total: KnownTotal): Counting {
  if (total.kind === 'count') return { filter: total.where.map(testFor), keys: [], value: { kind: 'one' } };
  const value: RowValue =
    total.kind === 'margin' ? { kind: 'one' } : { kind: 'number', column: total.column, power: 1, origin: 0n, shift: 0n };
  return { filter: [], keys: keysOf(policy, total.by), value };
}

const keysOf = (policy: Policy, cuts: readonly Cut[]): readonly RowKey[] =>
  cuts.map(({ column, starts, size }): RowKey => {
    if (starts) return { kind: 'bin', column, edges: starts, size };
    return {
      kind: 'code',
      column,
      groups: codesOf(columnNamed(policy, column) as never).map((code) => [code]),
      missing: 'cell',
      size,
    };
  });

/** A total as something that is told without noise, by the published numbers where there are any. */
export function totalMeasure(policy: Policy, total: KnownTotal): CountedMeasure {
  const counting = countingOf(policy, total);
  const published = publishedCells(policy, counting);
  const by = total.kind === 'count' ? [] : total.by;
  return {
    mechanism: 'additive',
    name: `known ${by.map(({ column }) => column).join(' x ')}`,
    cells: [...cellsIn(policy, by)].map((cell) => [...cell.values()].map((value) => `${value ?? missingLabel}`)),
    grid: one,
    effects: new Map(),
    counting,
    ...(published && { published }),
  };
}

/** Cells of a table that a margin says the total of. */
export interface Agreeing {
  /** The group of every cell. */
  readonly groupOf: readonly number[];
  readonly groups: number;
  /** The group of every cell of the margin; -1 where its rows are in none. */
  readonly from: readonly number[];
}

/** How a table of counts hangs on a margin: cells with the same place by the margin's columns hold as many rows as the margin says. Undefined where other columns decide who is counted. */
export function agreeingWith(policy: Policy, cuts: readonly Cut[], m: Measure): Agreeing | undefined {
  if (m.mechanism !== 'additive' || m.counting.value.kind !== 'one' || m.effects.size === 0) return undefined;
  const { filter, keys } = m.counting;
  const names = new Set(cuts.map(({ column }) => column));
  const isOwn = (key: RowKey) => key.kind !== 'joint' && key.kind !== 'options' && names.has(key.column);
  const keepsAll = (key: RowKey) => key.kind === 'bin' || key.kind === 'joint' || (key.kind === 'code' && key.missing === 'cell');
  if (!keys.every((key) => isOwn(key) || (keepsAll(key) && !columnsOfKey(key).some((name) => names.has(name))))) return undefined;
  const own: Simple = { filter, keys: keys.filter(isOwn) };
  if (!tells(policy, { kind: 'margin', by: cuts }, { counting: own, value: { kind: 'one' } })) return undefined;
  let groupOf: readonly number[] = [0];
  for (const key of keys)
    groupOf = groupOf.flatMap((group) =>
      Array.from({ length: key.size }, (_, at) => (isOwn(key) ? group * key.size + at : group)),
    );
  return { groupOf, groups: own.keys.reduce((n, { size }) => n * size, 1), from: placesOf(policy, cuts, own) };
}
