import { codesOf } from '../code.js';
import { cellCount, isCoded } from '../domain.js';
import { gridOf, unitsAt } from '../grid.js';
import { blockAt } from '../pairs/pairs.js';
import type { Column } from '../policy.js';
import { largestJointChange, type TotalsOfRow } from './joint-change.js';
import type { ColumnCut, KnownTest, KnownTotal, KnownTotals } from './known.js';

type Columns = ReadonlyMap<string, Column>;
/** Limit on the number of combinations of pieces that are enumerated as kinds of rows. */
const mostKinds = 20_000;
/** Limit on the number of distinct kinds for which the largest joint change is computed. */
const mostKindsCompared = 200;
/** A query about one cell of a margin depends on one record of a change, so margins may be large. */
const mostCells = 1_000_000;
/** With more records per change than this, answers would be only noise. */
const mostRecords = 1000;

/** Largest number of records in a minimal change that keeps these totals; undefined if no useful bound is proven. */
export function recordsPerChange(
  totals: readonly KnownTotal[],
  columns: Columns,
): Pick<KnownTotals, 'together' | 'margin' | 'singles'> | undefined {
  const margin = totals
    .flatMap((total) => (total.kind === 'margin' ? [total.by] : []))
    .find((by) => totals.every((total) => follows(total, by, columns)));
  if (margin) {
    const together = cellCount(margin);
    return together <= mostCells ? { together, margin, singles: true } : undefined;
  }
  const kinds = kindsOf(totals, columns);
  const found = kinds && largestJointChange(kinds);
  return found && found.most <= mostRecords ? { together: found.most, singles: found.singles } : undefined;
}

/** True if a total can be computed from a margin. */
function follows(total: KnownTotal, margin: readonly ColumnCut[], columns: Columns): boolean {
  if (total.kind === 'sum') return false;
  if (total.kind === 'margin') return total.by.every(({ column }) => margin.some((cut) => cut.column === column));
  return total.where.every((test) => {
    const cut = margin.find(({ column }) => column === test.column);
    if (!cut || 'codes' in test) return cut !== undefined;
    const ends = [0, ...cut.starts!, gridOf(columns.get(test.column) as never).last + 1];
    return test.from > test.to || (ends.includes(test.from) && ends.includes(test.to + 1));
  });
}

/** Distinct contributions of a row to the totals; undefined if there are too many. */
function kindsOf(totals: readonly KnownTotal[], columns: Columns): readonly TotalsOfRow[] | undefined {
  const pieces = piecesOf(totals, columns);
  if ([...pieces.values()].reduce((n, list) => n * list.length, 1) > mostKinds) return undefined;
  let rows: ReadonlyMap<string, number>[] = [new Map()];
  for (const [name, list] of pieces) rows = rows.flatMap((row) => list.map((p) => new Map([...row, [name, p]])));
  const kinds = new Map(
    rows.map((row) => [totals.flatMap((total) => added(total, row, columns)), 0] as const).map(([adds]) => [adds.join(), adds]),
  );
  return kinds.size <= mostKindsCompared ? [...kinds.values()] : undefined;
}

const none = -1;
/** First position of every piece that the totals distinguish, and `none`. */
function piecesOf(totals: readonly KnownTotal[], columns: Columns): ReadonlyMap<string, readonly number[]> {
  const starts = new Map<string, Set<number>>();
  const cut = (name: string, at: Iterable<number>) => {
    const own = starts.get(name) ?? new Set([none, 0]);
    starts.set(name, own);
    for (const p of at) own.add(p);
  };
  const size = (name: string): number => {
    const column = columns.get(name)!;
    return isCoded(column) ? codesOf(column).length : gridOf(column).last + 1;
  };
  const every = (name: string) => Array.from({ length: Math.min(size(name), mostKinds + 1) }, (_, p) => p);
  for (const total of totals) {
    if (total.kind === 'count')
      for (const test of total.where) cut(test.column, 'codes' in test ? every(test.column) : [test.from, test.to + 1]);
    else for (const { column, starts: at } of total.by) cut(column, at ?? every(column));
    if (total.kind === 'sum') cut(total.column, every(total.column));
  }
  return new Map([...starts].map(([name, at]) => [name, [...at].filter((p) => p < size(name))]));
}

function added(total: KnownTotal, row: ReadonlyMap<string, number>, columns: Columns): TotalsOfRow {
  if (total.kind === 'count') return [total.where.every((test) => passes(test, row.get(test.column)!, columns)) ? 1n : 0n];
  const cells = cellCount(total.by);
  const at = total.by.reduce((cell, cut) => cell * cut.size + placeIn(cut, row.get(cut.column)!), 0);
  const each = total.kind === 'margin' ? 1n : unitsOf(columns.get(total.column)!, row.get(total.column)!);
  return Array.from({ length: cells }, (_, cell) => (cell === at ? each : 0n));
}

function passes(test: KnownTest, p: number, columns: Columns): boolean {
  if (p === none) return false;
  return 'codes' in test ? test.codes.includes(codesOf(columns.get(test.column) as never)[p]!) : p >= test.from && p <= test.to;
}
function placeIn({ starts, size }: ColumnCut, p: number): number {
  if (p === none) return size - 1;
  return starts ? blockAt(starts, p) : p;
}
const unitsOf = (column: Column, p: number): bigint => (p === none || isCoded(column) ? 0n : unitsAt(gridOf(column), p));
