import type { SourceColumn } from '../engine/engine.js';
import { Fault } from '../errors.js';
import type { Column, Policy } from '../policy/policy.js';
import { didYouMean } from '../policy/suggest.js';
import { type CodeTables, codeTables, plainReal } from './codes.js';
import type { Binder, Dialect } from './dialect.js';
import { codesOf, isCoded } from './domain.js';
import { firstAt, type Grid, gridOf } from './grid.js';

export function sourceColumn(source: readonly SourceColumn[], name: string): SourceColumn {
  const found = source.find((column) => column.name === name);
  if (found) return found;
  throw new Fault(
    'COLUMN_UNKNOWN',
    `The data has no column "${name}", though the policy declares it.`,
    didYouMean(
      name,
      source.map((column) => column.name),
      'Columns of the data',
    ),
  );
}

/** The cell as the engine should hand it out: types it cannot name come as text. */
export const rawCell = (dialect: Dialect, { name, type }: SourceColumn): string =>
  type === 'other' ? `CAST(${dialect.identifier(name)} AS VARCHAR)` : dialect.identifier(name);

/** The number in a cell: an integer where the column stores one, else a double; NULL when there is none. */
export const numberExpression = (dialect: Dialect, source: SourceColumn): string => {
  const raw = rawCell(dialect, source);
  if (source.type === 'integer') return raw;
  return source.type === 'text' || source.type === 'other' ? dialect.numberInText(raw) : `CAST(${raw} AS DOUBLE)`;
};

/** What is asked of a number column in SQL, as expressions of the number x. None of them can fail on a row; all agree with positionOf. */
export interface NumberReading {
  /** Neither NULL nor NaN nor infinite nor a missing code. */
  readonly present: string;
  /** x has a grid position of at least p. */
  readonly reaches: (p: number) => string;
  /** The grid position, for x that is present. */
  readonly position: string;
}
export function numberReading(dialect: Dialect, binder: Binder, source: SourceColumn, grid: Grid, x: string): NumberReading {
  const whole =
    source.type === 'integer' && Number.isSafeInteger(Math.floor(grid.from)) && Number.isSafeInteger(Math.ceil(grid.top));
  const y = source.type === 'integer' && !whole ? `CAST(${x} AS DOUBLE)` : x;
  const literal = (value: number): string => (whole ? `${Math.ceil(value)}` : binder.real(value));
  const missing = whole ? grid.missing.filter(Number.isSafeInteger) : grid.missing;
  // NaN sorts above every number, so the range keeps out NaN and both infinities.
  const finite = whole
    ? `${y} IS NOT NULL`
    : `${y} BETWEEN ${binder.real(-Number.MAX_VALUE)} AND ${binder.real(Number.MAX_VALUE)}`;
  const clamped = `CASE WHEN ${y} < ${binder.real(grid.from)} THEN ${binder.real(grid.from)} WHEN ${y} < ${binder.real(grid.top)} THEN ${y} ELSE ${binder.real(grid.top)} END`;
  return {
    present: missing.length > 0 ? `(${finite} AND ${y} NOT IN (${missing.map(literal).join(', ')}))` : finite,
    reaches: (p) => `${y} >= ${literal(firstAt(grid, p))}`,
    position:
      whole && grid.rate === 1
        ? `CASE WHEN ${y} < ${grid.from} THEN 0 WHEN ${y} < ${grid.top} THEN TRY_CAST(${y} AS BIGINT) - (${grid.from}) ELSE ${grid.last} END`
        : dialect.nearest(`(${clamped}${grid.from === 0 ? '' : ` - ${binder.real(grid.from)}`}) * ${binder.real(grid.rate)}`),
  };
}

/** How a coded cell is compared: an expression of the raw cell, and what cells with each declared code (by index) look like. */
export interface CodeReading {
  readonly expression: (raw: string) => string;
  readonly list: readonly (readonly [string | number, number])[];
}
export function codeReading(dialect: Dialect, source: SourceColumn, tables: CodeTables): CodeReading {
  if (source.type === 'real') return { expression: (raw) => `CAST(${raw} AS DOUBLE)`, list: [...tables.real] };
  return {
    expression: (raw) => dialect.trimmed(source.type === 'text' ? raw : `CAST(${raw} AS VARCHAR)`),
    list: [...(source.type === 'integer' ? tables.integer : tables.text)],
  };
}

/** The text of a multi-select cell. */
export const optionTextExpression = (source: SourceColumn, raw: string): string =>
  source.type === 'real'
    ? `CASE WHEN ${raw} = trunc(${raw}) AND abs(${raw}) < ${plainReal} THEN CAST(TRY_CAST(${raw} AS BIGINT) AS VARCHAR) END`
    : `CAST(${raw} AS VARCHAR)`;

export const tablesOf = (column: Column): CodeTables => {
  if (!isCoded(column)) throw new RangeError(`${column.name} has no codes`);
  return codeTables(codesOf(column));
};
export function columnGrid(policy: Policy, name: string): Grid {
  const column = policy.columns.get(name);
  if (!column || isCoded(column)) throw new RangeError(`${name} is no number`);
  return gridOf(column);
}
