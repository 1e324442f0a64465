import type { Dialect } from '../../data/engine/dialect.js';
import type { SourceColumn } from '../../data/engine/engine.js';
import { quoteName } from '../../data/engine/structure.js';
import { codesOf } from '../../policy/code.js';
import { declaredColumn, isCoded } from '../../policy/domain.js';
import type { Policy } from '../../policy/policy.js';
import type { Binder, RowSource } from './contribution-bound.js';
import { type DerivedColumn, withDerived } from './derived.js';
import type { Axis, CategoryKey, GroupKey } from './measure.js';
import {
  type CodeReading,
  codeReading,
  codeTablesOf,
  columnGrid,
  longestOptions,
  type NumberReading,
  numberExpression,
  numberReading,
  optionTextExpression,
  type PositionProxy,
  placeReading,
  placesIn,
  rawCell,
  sourceColumn,
} from './read-column.js';
import { foldTest, type LeafTest, type RowTest } from './row-test.js';

/** SQL of a column's cell in the form that the rest of the statement expects. */
export function cellSql({ dialect, policy, columns }: RowSource, name: string): string {
  const column = sourceColumn(columns, name);
  const declared = declaredColumn(policy, name);
  if (isCoded(declared)) return rawCell(column);
  const places = placesIn(column, columnGrid(policy, name));
  return places === undefined ? numberExpression(dialect, column, declared.decimal) : quoteName(places);
}

/** Position of a row that has no code of a key's groups. */
export const missingPlace = (key: CategoryKey): string => (key.missing === 'cell' ? `${key.size - 1}` : 'NULL');

/** SQL expressions over the cells of one row. `alias`: name under which a column's cell, or the place of a derived column, was read. */
export class RowSql {
  readonly #dialect: Dialect;
  readonly #binder: Binder;
  readonly #policy: Policy;
  readonly #columns: readonly SourceColumn[];
  readonly #derived: ReadonlySet<string>;
  readonly #alias: ReadonlyMap<string, string>;

  constructor(
    { dialect, policy, columns }: RowSource,
    binder: Binder,
    alias: ReadonlyMap<string, string>,
    derived: readonly DerivedColumn[] = [],
  ) {
    this.#dialect = dialect;
    this.#binder = binder;
    this.#policy = withDerived(policy, derived);
    this.#columns = columns;
    this.#derived = new Set(derived.map(({ name }) => name));
    this.#alias = alias;
  }

  /** The name of a column's cell. */
  raw(column: string): string {
    return this.#alias.get(column)!;
  }

  passes(test: RowTest): string {
    return foldTest(test, {
      leaf: (leaf) => this.#leaf(leaf),
      any: (parts) => (parts.length > 0 ? `(${parts.map((part) => `(${part})`).join(' OR ')})` : 'false'),
      all: (parts) => (parts.length > 0 ? `(${parts.map((part) => `(${part})`).join(' AND ')})` : 'true'),
    });
  }

  /** SQL that is true where the cell holds an answer. */
  answered(column: string, raw = this.raw(column)): string {
    if (isCoded(declaredColumn(this.#policy, column))) return this.#has(column, raw, this.#codes(column));
    return this.number(column, raw).present;
  }

  number(column: string, x = this.raw(column)): NumberReading {
    const grid = columnGrid(this.#policy, column);
    if (this.#derived.has(column)) return placeReading(this.#dialect, grid, x);
    return numberReading(this.#dialect, sourceColumn(this.#columns, column), grid, x);
  }

  /** The place of a column: of its code, or on its grid; NULL for none. */
  placeOf(column: string): string {
    const raw = this.raw(column);
    if (this.#derived.has(column)) return raw;
    if (!isCoded(declaredColumn(this.#policy, column))) {
      const { present, position } = this.number(column);
      return `CASE WHEN ${present} THEN ${position} END`;
    }
    const values = this.#values(column, () => true);
    if (values.length === 0) return this.#dialect.whole('NULL');
    const read = this.reading(column).expression(raw);
    return `CASE ${values.map(([value, i]) => `WHEN ${read} = ${value} THEN ${this.#dialect.whole(`${i}`)}`).join(' ')} END`;
  }

  /** Expression that rows are grouped by: the raw code, or the bin of a number. */
  groupedBy(key: Exclude<GroupKey, { kind: 'joint' }>): string {
    const raw = this.raw(key.column);
    if (key.kind === 'grid') {
      const { positionOrNull } = this.number(key.column);
      return key.width === 1 ? positionOrNull : this.#dialect.quotient(positionOrNull, key.width);
    }
    if (key.kind !== 'bin') return raw;
    const { present, reaches } = this.number(key.column);
    const steps = key.edges.map((edge, i) => `WHEN NOT (${reaches(edge)}) THEN ${i}`);
    return `CASE WHEN ${present} THEN ${steps.length > 0 ? `CASE ${steps.join(' ')} ELSE ${steps.length} END` : '0'} ELSE ${key.size - 1} END`;
  }

  /** Whole number clamped to its bounds, by which rows are grouped; its place is computed afterwards, once per group. */
  positionProxy(key: GroupKey, raw: string): PositionProxy | undefined {
    return key.kind === 'grid' && key.width === 1 ? this.number(key.column, raw).proxy : undefined;
  }

  /** The position of the row for a key, without a join. */
  position(key: Axis): string {
    if (key.kind !== 'code') return this.groupedBy(key);
    const raw = this.raw(key.column);
    if (this.isMulti(key.column)) return this.firstNamed(key, raw);
    const values = this.valuesIn(key);
    if (values.length === 0) return missingPlace(key);
    const cases = values.map(([value, position]) => `WHEN ${value} THEN ${position}`);
    return `CASE ${this.reading(key.column).expression(raw)} ${cases.join(' ')} ELSE ${missingPlace(key)} END`;
  }

  /** Cell values of a key's groups, each with the position of its group. */
  valuesIn(key: CategoryKey): readonly (readonly [value: string, position: number])[] {
    const group = new Map(key.groups.flatMap((codes, p) => codes.map((code) => [code, p] as const)));
    const codes = this.#codes(key.column);
    return this.#values(key.column, (code) => group.has(code)).map(([value, i]) => [value, group.get(codes[i]!)!] as const);
  }

  /** Comparison of the cells of a coded column. */
  reading(column: string): CodeReading {
    if (this.#derived.has(column)) return { expression: (raw) => raw, list: this.#codes(column).map((_, i) => [i, i] as const) };
    return codeReading(this.#dialect, sourceColumn(this.#columns, column), codeTablesOf(declaredColumn(this.#policy, column)));
  }

  isMulti(column: string): boolean {
    return declaredColumn(this.#policy, column).type === 'multi';
  }
  /** The options that a multi-select cell names. */
  parts(column: string, raw: string): string {
    const declared = declaredColumn(this.#policy, column);
    if (declared.type !== 'multi') throw new RangeError(`${column} has no options`);
    const text = optionTextExpression(this.#dialect, sourceColumn(this.#columns, column), raw, longestOptions(declared));
    return this.#dialect.parts(text, this.#binder.text(declared.separator));
  }
  /** First group with an option that a multi-select cell names. */
  firstNamed(key: CategoryKey, raw: string): string {
    const cases = key.groups.map((codes, p) => `WHEN ${this.#hasAny(key.column, raw, codes)} THEN ${p}`);
    return `CASE ${cases.join(' ')} ELSE ${missingPlace(key)} END`;
  }

  #codes(column: string): readonly string[] {
    const declared = declaredColumn(this.#policy, column);
    return isCoded(declared) ? codesOf(declared) : [];
  }
  /** Values that cells with one of these codes (indices into the domain) can have. */
  #values(column: string, wanted: (code: string) => boolean): readonly (readonly [string, number])[] {
    const codes = this.#codes(column);
    if (this.#derived.has(column)) return codes.flatMap((code, i) => (wanted(code) ? [[`${i}`, i] as const] : []));
    return this.reading(column)
      .list.filter(([, i]) => wanted(codes[i]!))
      .map(([value, i]) => [typeof value === 'number' ? this.#dialect.constant(value) : this.#binder.text(value), i] as const);
  }
  #hasAny(column: string, raw: string, codes: readonly string[]): string {
    if (codes.length === 0) return 'false';
    const parts = this.parts(column, raw);
    return this.#dialect.hasAny(
      parts,
      codes.map((code) => this.#binder.text(code)),
    );
  }
  /** SQL that is true where the cell has one of the codes; false for missing. */
  #has(column: string, raw: string, codes: readonly string[]): string {
    if (this.isMulti(column)) return this.#hasAny(column, raw, codes);
    const wanted = new Set(codes);
    const values = this.#values(column, (code) => wanted.has(code)).map(([value]) => value);
    if (values.length === 0) return 'false';
    return `coalesce(${this.reading(column).expression(raw)} IN (${values.join(', ')}), false)`;
  }

  #leaf(test: LeafTest): string {
    if (test.kind === 'missing')
      return test.negate ? this.answered(test.column) : `NOT coalesce(${this.answered(test.column)}, false)`;
    if (test.kind === 'range') {
      const { present, reaches, inside } = this.number(test.column);
      if (test.from > test.to) return test.negate ? present : 'false';
      const { last } = columnGrid(this.#policy, test.column);
      const from = Math.max(0, test.from);
      if (!test.negate) return inside(from, Math.min(last, test.to));
      const below = from > 0 ? [`NOT (${reaches(from)})`] : [];
      const above = test.to < last ? [reaches(test.to + 1)] : [];
      const outside = [...below, ...above];
      return outside.length > 0 ? `${present} AND (${outside.join(' OR ')})` : 'false';
    }
    const has = this.#has(test.column, this.raw(test.column), test.codes);
    return test.negate ? `(${this.answered(test.column)} AND NOT ${has})` : has;
  }
}
