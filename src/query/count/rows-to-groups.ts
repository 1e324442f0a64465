import type { Statement } from '../../data/engine/engine.js';
import { Binder, boundedRowsSql, personExpression, type RowSource, type SelectedColumns } from './contribution-bound.js';
import { type DerivedColumn, withDerived } from './derived.js';
import { withDerivedPlaces } from './derived-sql.js';
import { type Axis, type Counting, columnsOf, type GroupKey, numberOfCells, type RowValue } from './measure.js';
import { columnGrid } from './read-column.js';
import { cellSql, RowSql } from './row-sql.js';
import { impliesPresent, type RowTest } from './row-test.js';

/** Groups beyond the declared cells that are still read and looked up here. */
export const spareGroups = 10_000;

/**
 * Groups by raw codes and bins, with one integer per counting; codes are looked up in the groups that come back.
 * With more than `most` of them, the result is incomplete.
 */
export function groupsStatement(of: RowSource, countings: readonly Counting[]): { statement: Statement; most: number } {
  const binder = new Binder(of.dialect);
  const { keys } = countings[0]!;
  const most = numberOfCells(countings[0]!) + spareGroups;
  const grouping = new Grouping(of, binder, countings);
  const { sql, by } = grouping.summed();
  const places = new Map(keys.map((key, i) => [`k${i}`, grouping.row.positionProxy(key, `k${i}`)?.place(`k${i}`)]));
  const list = [...by.map((name) => `${places.get(name) ?? name} AS ${name}`), ...countings.map((_, j) => `a${j}`)];
  const placed = by.some((name) => places.get(name)) ? `SELECT ${list.join(', ')} FROM (${sql}) AS held` : sql;
  return { statement: { sql: `${placed}${keys.length > 0 ? ` LIMIT ${most + 1}` : ''}`, values: binder.values }, most };
}

/** One row per kept row: its place for every key as p0, p1, …, NULL where it has none, and the extra columns. */
export function placesOfRows(source: RowSource, binder: Binder, keys: readonly Axis[], more: SelectedColumns = []): string {
  const names = [...new Set(keys.map(({ column }) => column))];
  const row = new RowSql(source, binder, new Map(names.map((name, i) => [name, `c${i}`])));
  const list = keys.map((key, i) => `${row.position(key)} AS p${i}`);
  return `SELECT ${[...list, ...more.map(([, own]) => own)].join(', ')} FROM (${cellsOfRows(source, binder, names, more)}) AS read`;
}

/** The rows that are kept, with the cells of these columns as c0, c1, …. */
const cellsOfRows = (source: RowSource, binder: Binder, names: readonly string[], more: SelectedColumns): string =>
  boundedRowsSql(source, binder, [...names.map((name, i) => [cellSql(source, name), `c${i}`] as const), ...more]);

/** Rows of the data grouped by their cells: k0, k1, … for the keys (k0_0, k0_1, … for those of a joint one), a0, a1, … for the countings. */
export interface GroupedRows {
  readonly sql: string;
  /** Names of the grouping expressions. */
  readonly by: readonly string[];
}

/** Grouping of the rows of several countings over the same rows and keys. */
export class Grouping {
  readonly row: RowSql;
  readonly #of: RowSource;
  readonly #binder: Binder;
  readonly #countings: readonly Counting[];
  readonly #derived: readonly DerivedColumn[];

  constructor(of: RowSource, binder: Binder, countings: readonly Counting[]) {
    this.#of = of;
    this.#binder = binder;
    this.#countings = countings;
    this.#derived = countings[0]!.derived ?? [];
    const alias = new Map([
      ...this.#names().map((name, i) => [name, `c${i}`] as const),
      ...this.#derived.map(({ name }, i) => [name, `d${i}`] as const),
    ]);
    this.row = new RowSql(of, binder, alias, this.#derived);
  }

  /** Sums over the rows in each group. Places of whole numbers are computed per group, not per row (`positionProxy`). */
  summed(): GroupedRows {
    const { filter, keys } = this.#countings[0]!;
    const added = summedColumn(this.#countings);
    const number = added === undefined ? undefined : this.#addend(added);
    const inner = this.#keys();
    const sums = this.#countings.map(({ value }, j) => `${number ? number.sum(value) : this.#sum(value, filter)} AS a${j}`);
    const by = keys.length > 0 ? ` GROUP BY ${inner.map((_, i) => i + 1).join(', ')}` : '';
    const rows = `(${this.#rows()}) AS read`;
    const from = number ? `(SELECT *, ${number.expression} AS added FROM ${rows}) AS added_up` : rows;
    const list = [...inner.map(([expression, name]) => `${expression} AS ${name}`), ...sums];
    return {
      sql: `SELECT ${list.join(', ')} FROM ${from}${this.#where(number && added)}${by}`,
      by: inner.map(([, name]) => name),
    };
  }

  /** Every value that is counted once in each group, as a0. */
  distinctValues(): GroupedRows {
    const { value } = this.#countings[0]!;
    const inner = this.#keys();
    const place = 'column' in value && value.column !== undefined ? this.row.placeOf(value.column) : 'who';
    const list = [...inner, [place, 'a0'] as const].map(([expression, name]) => `${expression} AS ${name}`);
    return {
      sql: `SELECT DISTINCT ${list.join(', ')} FROM (${this.#rows()}) AS read${this.#where()}`,
      by: inner.map(([, name]) => name),
    };
  }

  #names(): readonly string[] {
    return [...new Set(this.#countings.flatMap(columnsOf))];
  }

  #rows(): string {
    const { value } = this.#countings[0]!;
    const ofPersons = value.kind === 'distinct' && value.column === undefined;
    const kept = cellsOfRows(this.#of, this.#binder, this.#names(), ofPersons ? [[this.#person(), 'who']] : []);
    return withDerivedPlaces(this.#of.dialect, kept, this.#derived, {
      placeOf: (column) => this.row.placeOf(column),
      passes: (test) => this.row.passes(test),
    });
  }

  /** SQL for the person of a row. */
  #person(): string {
    return personExpression(this.#of.dialect, this.#of.columns, this.#of.policy.protect.unit!);
  }

  #keys(): readonly (readonly [expression: string, name: string])[] {
    const by = (key: Exclude<GroupKey, { kind: 'joint' }>) =>
      this.row.positionProxy(key, this.row.raw(key.column))?.by ?? this.row.groupedBy(key);
    return this.#countings[0]!.keys.flatMap((key, i): (readonly [string, string])[] =>
      key.kind === 'joint' ? key.keys.map(({ column }, c) => [this.row.raw(column), `k${i}_${c}`]) : [[by(key), `k${i}`]],
    );
  }

  /** Filter of the rows. Rows without the summed number add nothing, and those without a group are dropped, so neither is filtered first. */
  #where(added?: string): string {
    const { filter, keys } = this.#countings[0]!;
    const without = new Set([added, ...keys.flatMap((key) => (key.kind === 'grid' ? [key.column] : []))]);
    const tests = filter
      .filter((test) => !(test.kind === 'missing' && test.negate && without.has(test.column)))
      .map((test) => this.row.passes(test));
    return tests.length > 0 ? ` WHERE ${tests.join(' AND ')}` : '';
  }

  #sum(value: RowValue, filter: readonly RowTest[]): string {
    if (value.kind === 'one') return 'count(*)';
    if (value.kind === 'distinct') throw new RangeError('different values are counted, not added up');
    const units = (column: string, origin: bigint): string => {
      const grid = this.#grid(column);
      const start = grid.lowUnits - origin;
      const { present, position } = this.row.number(column);
      // The filter of a mean or sum already keeps out rows without the number.
      const known = impliesPresent(filter, column);
      const place = known ? position : `CASE WHEN ${present} THEN ${position} END`;
      const scaled = grid.stride === 1n ? place : `${place} * ${grid.stride}`;
      return start === 0n ? scaled : `(${scaled} + (${start}))`;
    };
    const total = (x: string) => sumSql(this.#of, x);
    if (value.kind === 'weight') return total(units(value.weight, 0n));
    const number = units(value.column, value.origin);
    const power = value.power === 1 ? number : `${number} * ${number}`;
    const shifted = value.shift === 0n ? power : `(${power} - ${value.shift})`;
    return total(value.weight === undefined ? shifted : `${shifted} * ${units(value.weight, 0n)}`);
  }

  /** Sums and counts of a number in the column `added`, shifted after summation by what is the same for every row. */
  #addend(column: string): { readonly expression: string; readonly sum: (value: RowValue) => string } {
    const { dialect, rows = Number.POSITIVE_INFINITY } = this.#of;
    const { lowUnits, stride } = this.#grid(column);
    const { expression, base, most, total: own, having = 'count(added)', short } = this.row.number(column).addend(rows);
    const sum = dialect.wide(own?.('added') ?? sumSql(this.#of, 'added', most * rows));
    const added = short === undefined ? sum : `(${sum} + ${short})`;
    return {
      expression,
      sum: (value) => {
        if (value.kind !== 'number') return having;
        const each = lowUnits - value.origin - value.shift - stride * BigInt(base);
        const total = stride === 1n ? added : `${added} * ${stride}`;
        return each === 0n ? total : `${total} + ${dialect.wide(having)} * (${each})`;
      },
    };
  }

  #grid(column: string) {
    return columnGrid(withDerived(this.#of.policy, this.#derived), column);
  }
}

/** The sum of whole numbers. */
export const sumSql = ({ dialect }: RowSource, x: string, most = Number.POSITIVE_INFINITY): string =>
  dialect.total?.(x, most) ?? `sum(${x})`;

/** Number that all countings sum or count, in rows identified by having it; undefined where they need more. */
function summedColumn(countings: readonly Counting[]): string | undefined {
  const [column, ...others] = new Set(countings.flatMap(({ value }) => (value.kind === 'number' ? [value.column] : [])));
  const plain = countings.every(
    ({ value }) => value.kind === 'one' || (value.kind === 'number' && value.power === 1 && value.weight === undefined),
  );
  if (column === undefined || others.length > 0 || !plain) return undefined;
  const counted = countings.some(({ value }) => value.kind === 'one');
  // Counting rows by their number is right only if every counted row has it.
  return !counted || impliesPresent(countings[0]!.filter, column) ? column : undefined;
}
