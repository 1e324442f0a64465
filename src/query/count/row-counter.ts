import type { Chunk } from '../../data/engine/engine.js';
import { cellCount, declaredColumn } from '../../policy/domain.js';
import type { Policy } from '../../policy/policy.js';
import { columnView, loadChunk } from './column-view.js';
import { derivedIn, withDerived } from './derived.js';
import { dropsMissing } from './key-cell.js';
import type { Counting, GroupKey, Measure } from './measure.js';
import { columnsOf, numberOfCells, stableText } from './measure.js';
import { codePlaces, derivedView, type Filler, keyRows, smallValueRows, testRows, type Views, valueRows } from './read-rows.js';
import type { RowTest } from './row-test.js';
import { valueInterval } from './value-range.js';

/** Counts the measures over rows handed in block by block: the same integers as the SQL of groups-to-cells.ts. */
export interface RowCounter {
  /** Column j of the chunk is `columnNames[j]`. */
  add(chunk: Chunk): void;
  /** One array of cells per measure. */
  totals(): bigint[][];
}

/** Below this many, sums of integers in doubles are exact. */
const exactDouble = 2 ** 53;

interface Tally {
  add(rows: number): void;
  totals(): bigint[];
}

/** Adds rows up in doubles while they are proven exact, moving them to BigInt before they could stop being so. */
function tallyOf(policy: Policy, views: Views, { filter, keys, value }: Counting, shared: SharedColumns): Tally {
  const exact = new Array<bigint>(numberOfCells({ filter, keys, value })).fill(0n);
  const sums = new Float64Array(exact.length);
  const mask = filter.length > 0 ? shared.mask(filter) : undefined;
  const places = keys.map((key) => (key.kind === 'options' ? undefined : shared.positions(key)));
  const { low, high } = valueInterval(policy, value);
  // A square before its shift may be twice as large as after.
  const most = 2 * Math.max(Number(high), -Number(low));
  const wide = valueRows(policy, views, value);
  const narrow = smallValueRows(policy, views, value);
  let pending = 0;
  const flush = () => {
    exact.forEach((_, cell) => {
      if (sums[cell] !== 0) exact[cell]! += BigInt(sums[cell]!);
    });
    sums.fill(0);
    pending = 0;
  };
  const putWide = (cell: number, i: number) => {
    const added = wide(i);
    if (added !== undefined) exact[cell]! += added;
  };
  const putNarrow = (cell: number, i: number) => {
    const added = narrow(i);
    if (!Number.isNaN(added)) sums[cell]! += added;
  };
  /** Walks the positions of row i key by key; only options branch. */
  const spread = (put: (cell: number, i: number) => void, i: number, k: number, cell: number): void => {
    const key = keys[k];
    if (!key) put(cell, i);
    else if (key.kind !== 'options') {
      const position = places[k]!()[i]!;
      if (position >= 0) spread(put, i, k + 1, cell * key.size + position);
    } else {
      const named = views.get(key.column)!.options(i);
      if (named.length === 0) spread(put, i, k + 1, cell * key.size + key.size - 1);
      for (const option of named) spread(put, i, k + 1, cell * key.size + option);
    }
  };
  return {
    add(rows) {
      if ((pending + rows) * most >= exactDouble) flush();
      const put = rows * most < exactDouble ? putNarrow : putWide;
      pending += rows;
      const keep = mask?.();
      for (let i = 0; i < rows; i++) if (keep === undefined || keep[i] === 1) spread(put, i, 0, 0);
    },
    totals() {
      flush();
      return exact;
    },
  };
}

/** The histogram of a category over all rows, the bulk of every survey, needs neither mask nor stored positions. */
function histogramTally(policy: Policy, views: Views, { filter, keys, value }: Counting): Tally | undefined {
  const [key, other] = keys;
  if (filter.length > 0 || value.kind !== 'one' || other || key?.kind !== 'code') return undefined;
  if (declaredColumn(policy, key.column).type !== 'category') return undefined;
  const view = views.get(key.column)!;
  const place = codePlaces(policy, key, key.size);
  const sums = new Float64Array(key.size + 1);
  return {
    add: () => view.count(place, sums),
    totals: () => Array.from(sums.subarray(0, key.size), BigInt),
  };
}

/** Counts of whole tables, the bulk of every workload: no row is tested, and none is dropped. */
function tableTally({ filter, keys, value }: Counting, shared: SharedColumns): Tally | undefined {
  const whole = keys.filter((key) => key.kind !== 'options' && !dropsMissing(key)) as OnePlaceKey[];
  if (filter.length > 0 || value.kind !== 'one' || keys.length === 0 || whole.length < keys.length) return undefined;
  const places = whole.map((key) => shared.positions(key));
  // Counts in doubles: no data has 2^53 rows.
  const sums = new Float64Array(cellCount(keys));
  return {
    add(rows) {
      const [a, b, ...others] = places.map((place) => place());
      const width = keys[1]?.size ?? 0;
      if (a && b && others.length === 0) for (let r = 0; r < rows; r++) sums[a[r]! * width + b[r]!]!++;
      else
        for (let r = 0; r < rows; r++) {
          let cell = a![r]!;
          if (b) cell = cell * width + b[r]!;
          for (const [k, place] of others.entries()) cell = cell * keys[k + 2]!.size + place[r]!;
          sums[cell]!++;
        }
    },
    totals: () => Array.from(sums, BigInt),
  };
}

/** Different values of a column in each cell. Persons are not in the chunks: the database counts those. */
function distinctTally(views: Views, counting: Counting, shared: SharedColumns): Tally | undefined {
  const { filter, keys, value } = counting;
  if (value.kind !== 'distinct') return undefined;
  if (value.column === undefined || keys.some((key) => key.kind === 'options'))
    throw new RangeError('counted by the database only');
  const view = views.get(value.column)!;
  const mask = filter.length > 0 ? shared.mask(filter) : undefined;
  const places = keys.map((key) => shared.positions(key as OnePlaceKey));
  const found = Array.from({ length: numberOfCells(counting) }, () => new Set<number>());
  return {
    add(rows) {
      const [keep, indices, at] = [mask?.(), view.indices(), places.map((place) => place())];
      for (let i = 0; i < rows; i++) {
        if (keep?.[i] === 0 || indices[i]! < 0) continue;
        const cell = at.reduce((sum, place, k) => (sum < 0 || place[i]! < 0 ? -1 : sum * keys[k]!.size + place[i]!), 0);
        if (cell >= 0) found[cell]!.add(indices[i]!);
      }
    },
    totals: () => found.map(({ size }) => BigInt(size)),
  };
}

/** Masks and key positions, computed once per chunk for all measures that use them. */
interface SharedColumns {
  mask(filter: readonly RowTest[]): () => Uint8Array;
  positions(key: OnePlaceKey): () => Int32Array;
}
type OnePlaceKey = Exclude<GroupKey, { kind: 'options' }>;

/** `written`: columns with raw text, and how many bytes of it count. */
export function rowCounter(
  measures: readonly Measure[],
  columnNames: readonly string[],
  declared: Policy,
  written: ReadonlyMap<string, number> = new Map(),
): RowCounter {
  const used = new Set(measures.flatMap(({ counting }) => columnsOf(counting)));
  const derived = derivedIn(measures);
  const policy = withDerived(declared, derived);
  const views = new Map([...used].map((name) => [name, columnView(declaredColumn(policy, name), written.get(name))]));
  for (const column of derived) views.set(column.name, derivedView(policy, views, column));
  const there = new Set(columnNames);
  const lost = [...used].find((name) => !there.has(name));
  if (lost !== undefined) throw new RangeError(`column ${lost} is not in the chunks`);
  let chunk = 0;
  let rows = 0;
  const perChunk = <T extends Uint8Array | Int32Array>(make: (n: number) => T, fill: Filler<T>): (() => T) => {
    let buffer = make(0);
    let filled = -1;
    return () => {
      if (filled === chunk) return buffer;
      if (buffer.length < rows) buffer = make(rows);
      fill(buffer, rows);
      filled = chunk;
      return buffer;
    };
  };
  const known = new Map<string, () => Uint8Array | Int32Array>();
  const once = <T extends Uint8Array | Int32Array>(about: unknown, make: () => () => T): (() => T) => {
    const text = stableText(about);
    if (!known.has(text)) known.set(text, make());
    return known.get(text) as () => T;
  };
  const shared: SharedColumns = {
    mask: (filter) =>
      once(['filter', filter], () => {
        const tests = filter.map((test) => testRows(policy, views, test));
        return perChunk(
          (n) => new Uint8Array(n),
          (mask, count) => {
            mask.fill(1, 0, count);
            for (const test of tests) test(mask, count);
          },
        );
      }),
    positions: (key) => once(key, () => perChunk((n) => new Int32Array(n), keyRows(policy, views, key))),
  };
  const tallies = measures.map(
    ({ counting }) =>
      distinctTally(views, counting, shared) ??
      histogramTally(policy, views, counting) ??
      tableTally(counting, shared) ??
      tallyOf(policy, views, counting, shared),
  );
  return {
    add(next) {
      chunk += 1;
      rows = next.rows;
      loadChunk(views, columnNames, next);
      for (const { name } of derived) views.get(name)!.load([], rows);
      for (const tally of tallies) tally.add(rows);
    },
    totals: () => tallies.map((tally) => tally.totals()),
  };
}
