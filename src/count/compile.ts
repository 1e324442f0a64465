import { Binder, type Dialect } from '../engine/dialect.js';
import type { SourceColumn, Statement } from '../engine/engine.js';
import { quoteName } from '../engine/structure.js';
import { codesOf, longestOptions } from '../policy/code.js';
import { columnNamed, isCoded } from '../policy/domain.js';
import type { Policy } from '../policy/policy.js';
import { type DerivedColumn, withDerived } from './derived.js';
import { withPlaces } from './derived-sql.js';
import { keptRows } from './kept-rows.js';
import type { Axis, CodeKey, Counting, JointKey, RowKey, RowValue } from './measure.js';
import { cellCount, columnsOf } from './measure.js';
import {
  type CodeReading,
  codeReading,
  columnGrid,
  type Held,
  type NumberReading,
  numberExpression,
  numberReading,
  optionTextExpression,
  placeReading,
  placesIn,
  rawCell,
  sourceColumn,
  tablesOf,
} from './read-column.js';
import { foldTest, impliesPresent, type LeafTest, type RowTest } from './row-test.js';

/** The number that all of these add up or count the rows of, in rows that may be told by having it; undefined where more is asked. */
function addedUp(countings: readonly Counting[]): string | undefined {
  const [column, ...others] = new Set(countings.flatMap(({ value }) => (value.kind === 'number' ? [value.column] : [])));
  const plain = countings.every(
    ({ value }) => value.kind === 'one' || (value.kind === 'number' && value.power === 1 && value.weight === undefined),
  );
  if (column === undefined || others.length > 0 || !plain) return undefined;
  const counted = countings.some(({ value }) => value.kind === 'one');
  // Rows are counted by their number only where all that are asked for have it.
  return !counted || impliesPresent(countings[0]!.filter, column) ? column : undefined;
}

/** Groups beyond the declared cells that are still read and looked up here. */
export const spareGroups = 10_000;

const lastOf = (key: CodeKey): string => (key.missing === 'cell' ? `${key.size - 1}` : 'NULL');

export interface RowReader {
  /** What has to be read for a column. */
  readonly cell: (column: string) => string;
  readonly passes: (test: RowTest) => string;
  /** Whether the cell holds an answer; the place on its grid of a number that is one. */
  readonly answered: (column: string) => string;
  readonly position: (column: string) => string;
}

/** One statement about the rows: a binder of its own, so that it compiles one. */
export class Compiler {
  readonly #binder: Binder;
  readonly #dialect: Dialect;
  /** As it was declared; `#policy` knows the derived columns of the statement, too. */
  readonly #declared: Policy;
  #policy: Policy;
  #derived: readonly DerivedColumn[] = [];
  #alias: ReadonlyMap<string, string> = new Map();
  readonly #source: readonly SourceColumn[];
  readonly #rows: number;

  constructor(dialect: Dialect, policy: Policy, source: readonly SourceColumn[], rows: number, binder = new Binder(dialect)) {
    this.#dialect = dialect;
    this.#binder = binder;
    this.#declared = policy;
    this.#policy = policy;
    this.#source = source;
    this.#rows = rows;
  }

  groups(countings: readonly Counting[]): { statement: Statement; most: number } {
    const most = cellCount(countings[0]!) + spareGroups;
    const sql = `${this.#grouped(countings)}${countings[0]!.keys.length > 0 ? ` LIMIT ${most + 1}` : ''}`;
    return { statement: { sql, values: this.#binder.values }, most };
  }

  get values(): Statement['values'] {
    return this.#binder.values;
  }

  /** A row for each row that is kept: its place for every key as p0, p1, …, NULL where it has none, and whatever else is asked of it. */
  places(keys: readonly Axis[], more: readonly (readonly [expression: string, alias: string])[] = []): string {
    const names = [...new Set(keys.map(({ column }) => column))];
    const alias = new Map(names.map((name, i) => [name, `c${i}`]));
    const list = keys.map((key, i) => `${this.#place(key, alias.get(key.column)!)} AS p${i}`);
    return `SELECT ${[...list, ...more.map(([, own]) => own)].join(', ')} FROM (${this.#read(names, more)}) AS read`;
  }

  #read(names: readonly string[], more: readonly (readonly [expression: string, alias: string])[] = []): string {
    const coded = (name: string) => isCoded(columnNamed(this.#policy, name));
    const at = (name: string) => sourceColumn(this.#source, name);
    return keptRows(this.#dialect, this.#binder, this.#declared, this.#source, [
      ...names.map((name, i) => [coded(name) ? rawCell(at(name)) : this.#numberIn(at(name)), `c${i}`] as const),
      ...more,
    ]);
  }

  /** Rows -> filtered groups by raw codes and bins. `later`: the places of numbers are told from groups, not from rows. */
  #grouped(countings: readonly Counting[], later = false): string {
    const { filter, keys, value } = countings[0]!;
    this.#derived = countings[0]!.derived ?? [];
    this.#policy = withDerived(this.#declared, this.#derived);
    const names = [...new Set(countings.flatMap(columnsOf))];
    const alias = new Map(names.map((name, i) => [name, `c${i}`]));
    this.#derived.forEach(({ name }, i) => {
      alias.set(name, `d${i}`);
    });
    this.#alias = alias;
    const ofPersons = value.kind === 'distinct' && value.column === undefined;
    const kept = this.#read(names, ofPersons ? [[this.#person(), 'who']] : []);
    const read = withPlaces(this.#dialect, kept, this.#derived, {
      placeOf: (column) => this.#placeOf(column),
      passes: (test) => this.#test(test),
    });

    const added = addedUp(countings);
    const number = added && this.#addend(added, alias.get(added)!);
    // Where the number is added up, rows without it add nothing and need not be left out first; nor those that have no group for want of it.
    const without = new Set([...(number ? [added] : []), ...keys.flatMap((key) => (key.kind === 'grid' ? [key.column] : []))]);
    const tests = filter
      .filter((test) => !(test.kind === 'missing' && test.negate && without.has(test.column)))
      .map((test) => this.#test(test));
    const inner = keys.flatMap((key, i) =>
      key.kind === 'joint'
        ? key.keys.map(({ column }, c) => `${alias.get(column)!} AS k${i}_${c}`)
        : [`${(later && this.#held(key, alias.get(key.column)!)?.by) || this.#groupedBy(key, alias.get(key.column)!)} AS k${i}`],
    );
    if (value.kind === 'distinct') {
      const told = ofPersons ? 'who' : this.#placeOf(value.column!);
      const where = tests.length > 0 ? ` WHERE ${tests.join(' AND ')}` : '';
      return `SELECT DISTINCT ${[...inner, `${told} AS a0`].join(', ')} FROM (${read}) AS read${where}`;
    }
    const sums = countings.map(({ value }, j) => `${number ? number.sum(value) : this.#sum(value, alias, filter)} AS a${j}`);
    const where = tests.length > 0 ? ` WHERE ${tests.join(' AND ')}` : '';
    const by = keys.length > 0 ? ` GROUP BY ${inner.map((_, i) => i + 1).join(', ')}` : '';
    const from = number ? `(SELECT *, ${number.expression} AS added FROM (${read}) AS read) AS added_up` : `(${read}) AS read`;
    return `SELECT ${[...inner, ...sums].join(', ')} FROM ${from}${where}${by}`;
  }

  #numberIn(column: SourceColumn): string {
    const places = placesIn(column, columnGrid(this.#policy, column.name));
    return places === undefined ? numberExpression(this.#dialect, column) : quoteName(places);
  }

  /** Sums and counts of a number that the rows have in a column `added`, moved by what is the same for every row after they are added up. */
  #addend(column: string, x: string): { readonly expression: string; readonly sum: (value: RowValue) => string } {
    const { lowUnits, stride } = columnGrid(this.#policy, column);
    const { expression, base, most, counted = 'added' } = this.#number(column, x).addend(this.#rows);
    const having = `count(${counted})`;
    const added = this.#dialect.wide(this.#total('added', most * this.#rows));
    return {
      expression,
      sum: (value) => {
        if (value.kind !== 'number') return having;
        const each = lowUnits - value.origin - value.shift - stride * BigInt(base);
        const total = stride === 1n ? added : `${added} * ${stride}`;
        return each === 0n ? total : `${total} + ${this.#dialect.wide(having)} * (${each})`;
      },
    };
  }

  /** Groups -> cells. Codes are looked up once per distinct code, not once per row. */
  statement(countings: readonly Counting[]): Statement {
    const { keys, value } = countings[0]!;
    const grouped = this.#grouped(countings, true);
    // One group is the one cell.
    if (keys.length === 0 && value.kind !== 'distinct')
      return { sql: `SELECT ${this.#dialect.whole('0')} AS cell, g.* FROM (${grouped}) AS g`, values: this.#binder.values };
    const joins: string[] = [];
    const positions = keys.map((key, i) => this.#position(key, `${i}`, joins));
    let radix = 1;
    const terms = keys
      .map((_, i) => i)
      .reverse()
      .map((i) => {
        const term = `${positions[i]} * ${radix}`;
        radix *= keys[i]!.size;
        return term;
      });
    const cell = terms.length > 0 ? terms.join(' + ') : '0';
    const totals = countings.map(({ value }, j) => (value.kind === 'distinct' ? 'count(DISTINCT a0)' : this.#total(`a${j}`)));
    // Said of groups, because a test of cells would be made of every row, by a database that thinks it gains by that.
    const sql = `SELECT ${this.#dialect.whole('cell')} AS cell, ${totals.join(', ')} FROM (SELECT ${cell} AS cell, ${countings.map((_, j) => `a${j}`).join(', ')} FROM (${grouped}) AS g${joins.join('')}) AS cells GROUP BY 1 HAVING count(cell) > 0`;
    return { sql, values: this.#binder.values };
  }

  #total(x: string, most = Number.POSITIVE_INFINITY): string {
    return this.#dialect.total?.(x, most) ?? `sum(${x})`;
  }

  /** For whoever reads rows for another purpose: cells in the form in which the rest takes them, by the names they have there. */
  reader(alias: ReadonlyMap<string, string>): RowReader {
    this.#alias = alias;
    const raw = (column: string) => alias.get(column)!;
    return {
      cell: (name) => {
        const column = sourceColumn(this.#source, name);
        return isCoded(columnNamed(this.#policy, name)) ? rawCell(column) : this.#numberIn(column);
      },
      passes: (test) => this.#test(test),
      answered: (column) => this.#answered(column, raw(column)),
      position: (column) => this.#number(column, raw(column)).position,
    };
  }

  #isDerived(column: string): boolean {
    return this.#derived.some(({ name }) => name === column);
  }
  /** Who a row is of. */
  #person(): string {
    const owner = sourceColumn(this.#source, this.#declared.protect.unit!);
    // Whole numbers are told apart as they are.
    return owner.type === 'integer' ? rawCell(owner) : this.#dialect.name(rawCell(owner), owner.type);
  }
  /** The place of a column: of its code, or on its grid; NULL for none. */
  #placeOf(column: string): string {
    const raw = this.#alias.get(column)!;
    if (this.#isDerived(column)) return raw;
    if (!isCoded(columnNamed(this.#policy, column))) {
      const { present, position } = this.#number(column, raw);
      return `CASE WHEN ${present} THEN ${position} END`;
    }
    const values = this.#values(column, () => true);
    if (values.length === 0) return this.#dialect.whole('NULL');
    const read = this.#reading(column).expression(raw);
    return `CASE ${values.map(([value, i]) => `WHEN ${read} = ${value} THEN ${this.#dialect.whole(`${i}`)}`).join(' ')} END`;
  }
  #reading(column: string): CodeReading {
    if (this.#isDerived(column)) return { expression: (raw) => raw, list: this.#codes(column).map((_, i) => [i, i] as const) };
    return codeReading(this.#dialect, sourceColumn(this.#source, column), tablesOf(columnNamed(this.#policy, column)));
  }
  /** Values that cells with one of these codes (indices into the domain) can have. */
  #values(column: string, wanted: (code: string) => boolean): readonly (readonly [string, number])[] {
    const codes = this.#codes(column);
    const binder = this.#binder;
    if (this.#isDerived(column)) return codes.flatMap((code, i) => (wanted(code) ? [[`${i}`, i] as const] : []));
    return this.#reading(column)
      .list.filter(([, i]) => wanted(codes[i]!))
      .map(([value, i]) => [typeof value === 'number' ? this.#dialect.constant(value) : binder.text(value), i] as const);
  }
  #codes(column: string): readonly string[] {
    const declared = columnNamed(this.#policy, column);
    return isCoded(declared) ? codesOf(declared) : [];
  }
  #isMulti(column: string): boolean {
    return columnNamed(this.#policy, column).type === 'multi';
  }
  #parts(column: string, raw: string): string {
    const declared = columnNamed(this.#policy, column);
    if (declared.type !== 'multi') throw new RangeError(`${column} has no options`);
    const text = optionTextExpression(this.#dialect, sourceColumn(this.#source, column), raw, longestOptions(declared));
    return this.#dialect.parts(text, this.#binder.text(declared.separator));
  }
  #hasAny(column: string, raw: string, codes: readonly string[]): string {
    if (codes.length === 0) return 'false';
    const parts = this.#parts(column, raw);
    return this.#dialect.hasAny(
      parts,
      codes.map((code) => this.#binder.text(code)),
    );
  }
  /** Whether the cell has one of the codes; false for missing. */
  #has(column: string, raw: string, codes: readonly string[]): string {
    if (this.#isMulti(column)) return this.#hasAny(column, raw, codes);
    const wanted = new Set(codes);
    const values = this.#values(column, (code) => wanted.has(code)).map(([value]) => value);
    if (values.length === 0) return 'false';
    return `coalesce(${this.#reading(column).expression(raw)} IN (${values.join(', ')}), false)`;
  }
  #number(column: string, x: string): NumberReading {
    if (this.#isDerived(column)) return placeReading(this.#dialect, columnGrid(this.#policy, column), x);
    return numberReading(this.#dialect, sourceColumn(this.#source, column), columnGrid(this.#policy, column), x);
  }
  #answered(column: string, raw: string): string {
    const codes = this.#codes(column);
    return isCoded(columnNamed(this.#policy, column)) ? this.#has(column, raw, codes) : this.#number(column, raw).present;
  }

  #test(test: RowTest): string {
    return foldTest(test, {
      leaf: (leaf) => this.#leaf(leaf, this.#alias.get(leaf.column)!),
      any: (parts) => (parts.length > 0 ? `(${parts.map((part) => `(${part})`).join(' OR ')})` : 'false'),
      all: (parts) => (parts.length > 0 ? `(${parts.map((part) => `(${part})`).join(' AND ')})` : 'true'),
    });
  }

  #leaf(test: LeafTest, raw: string): string {
    if (test.kind === 'missing')
      return test.negate ? this.#answered(test.column, raw) : `NOT coalesce(${this.#answered(test.column, raw)}, false)`;
    if (test.kind === 'range') {
      const { present, reaches, inside } = this.#number(test.column, raw);
      if (test.from > test.to) return test.negate ? present : 'false';
      const { last } = columnGrid(this.#policy, test.column);
      const from = Math.max(0, test.from);
      if (!test.negate) return inside(from, Math.min(last, test.to));
      const below = from > 0 ? [`NOT (${reaches(from)})`] : [];
      const above = test.to < last ? [reaches(test.to + 1)] : [];
      const outside = [...below, ...above];
      return outside.length > 0 ? `${present} AND (${outside.join(' OR ')})` : 'false';
    }
    const has = this.#has(test.column, raw, test.codes);
    return test.negate ? `(${this.#answered(test.column, raw)} AND NOT ${has})` : has;
  }

  /** What rows are grouped by: raw codes, or the bin of a number. */
  #groupedBy(key: Exclude<RowKey, { kind: 'joint' }>, raw: string): string {
    if (key.kind === 'grid') {
      const { positionOrNull } = this.#number(key.column, raw);
      return key.width === 1 ? positionOrNull : this.#dialect.quotient(positionOrNull, key.width);
    }
    if (key.kind !== 'bin') return raw;
    const { present, reaches } = this.#number(key.column, raw);
    const steps = key.edges.map((edge, i) => `WHEN NOT (${reaches(edge)}) THEN ${i}`);
    return `CASE WHEN ${present} THEN ${steps.length > 0 ? `CASE ${steps.join(' ')} ELSE ${steps.length} END` : '0'} ELSE ${key.size - 1} END`;
  }

  /** A whole number that is grouped by as it is, held to its bounds: its place is told afterwards, once for a group. */
  #held(key: RowKey, raw: string): Held | undefined {
    return key.kind === 'grid' && key.width === 1 ? this.#number(key.column, raw).held : undefined;
  }

  /** The position of one row, without a join. */
  #place(key: Axis, raw: string): string {
    if (key.kind !== 'code') return this.#groupedBy(key, raw);
    if (this.#isMulti(key.column)) return this.#firstNamed(key, raw);
    const values = this.#valuesIn(key);
    if (values.length === 0) return lastOf(key);
    const cases = values.map(([value, position]) => `WHEN ${value} THEN ${position}`);
    return `CASE ${this.#reading(key.column).expression(raw)} ${cases.join(' ')} ELSE ${lastOf(key)} END`;
  }
  /** What cells of a key's groups look like, and where each group stands. */
  #valuesIn(key: CodeKey): readonly (readonly [value: string, position: number])[] {
    const group = new Map(key.groups.flatMap((codes, p) => codes.map((code) => [code, p] as const)));
    const codes = this.#codes(key.column);
    return this.#values(key.column, (code) => group.has(code)).map(([value, i]) => [value, group.get(codes[i]!)!] as const);
  }
  #firstNamed(key: CodeKey, raw: string): string {
    const cases = key.groups.map((codes, p) => `WHEN ${this.#hasAny(key.column, raw, codes)} THEN ${p}`);
    return `CASE ${cases.join(' ')} ELSE ${lastOf(key)} END`;
  }

  /** Position of a group's raw key; adds the joins it needs. */
  #position(key: RowKey, i: string, joins: string[]): string {
    const raw = `g.k${i}`;
    if (key.kind === 'joint') return this.#joint(key, i, joins);
    if (key.kind === 'grid' || key.kind === 'bin') return this.#held(key, raw)?.place(raw) ?? raw;
    if (key.kind === 'options') {
      const items = key.codes.map((code, p) => `(${p}, ${this.#binder.text(code)})`);
      items.push(`(${key.codes.length}, NULL)`);
      const named = this.#dialect.hasAny(this.#parts(key.column, raw), [`o${i}.code`]);
      const none = `NOT ${this.#answered(key.column, raw)}`;
      joins.push(
        ` JOIN (VALUES ${items.join(', ')}) AS o${i}(position, code) ON CASE WHEN o${i}.code IS NULL THEN ${none} ELSE ${named} END`,
      );
      return `o${i}.position`;
    }
    if (this.#isMulti(key.column)) return this.#firstNamed(key, raw);
    const last = lastOf(key);
    const values = this.#valuesIn(key);
    if (values.length === 0) return last;
    const items = values.map(([value, position]) => `(${value}, ${position})`);
    joins.push(
      ` LEFT JOIN (VALUES ${items.join(', ')}) AS d${i}(code, position) ON ${this.#reading(key.column).expression(raw)} = d${i}.code`,
    );
    return `coalesce(d${i}.position, ${last})`;
  }

  /** Each column's position first, then the combination of positions among those allowed. */
  #joint(key: JointKey, i: string, joins: string[]): string {
    const places = key.keys.map((part, c) => this.#position(part, `${i}_${c}`, joins));
    const items = key.support.map((combination, position) => `(${[...combination, position].join(', ')})`);
    const names = places.map((_, c) => `p${c}`);
    const equal = places.map((place, c) => `s${i}.p${c} = ${place}`);
    joins.push(
      ` LEFT JOIN (VALUES ${items.join(', ')}) AS s${i}(${[...names, 'position'].join(', ')}) ON ${equal.join(' AND ')}`,
    );
    return `coalesce(s${i}.position, ${key.size - 1})`;
  }

  #sum(value: RowValue, alias: ReadonlyMap<string, string>, filter: readonly RowTest[]): string {
    if (value.kind === 'one' || value.kind === 'distinct') return 'count(*)';
    const units = (column: string, origin: bigint): string => {
      const grid = columnGrid(this.#policy, column);
      const start = grid.lowUnits - origin;
      const { present, position } = this.#number(column, alias.get(column)!);
      // The filter of a mean or sum already keeps out rows without the number.
      const known = impliesPresent(filter, column);
      const place = known ? position : `CASE WHEN ${present} THEN ${position} END`;
      const scaled = grid.stride === 1n ? place : `${place} * ${grid.stride}`;
      return start === 0n ? scaled : `(${scaled} + (${start}))`;
    };
    if (value.kind === 'weight') return this.#total(units(value.weight, 0n));
    const number = units(value.column, value.origin);
    const power = value.power === 1 ? number : `${number} * ${number}`;
    const shifted = value.shift === 0n ? power : `(${power} - ${value.shift})`;
    return this.#total(value.weight === undefined ? shifted : `${shifted} * ${units(value.weight, 0n)}`);
  }
}
