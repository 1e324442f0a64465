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

export const rawCell = (dialect: Dialect, { name }: SourceColumn): string => dialect.identifier(name);

/** The number in a cell: an integer where the column shows one, else a double; NULL when there is none. Both ways of counting start from it. */
export const numberExpression = (dialect: Dialect, source: SourceColumn): string => {
  const raw = rawCell(dialect, source);
  if (source.type === 'text') return dialect.numberInText(raw);
  return source.type === 'boolean' ? `CAST(${raw} AS DOUBLE)` : raw;
};

/** What is asked of a number column in SQL, as expressions of the number x. None of them can fail on a row; all agree with positionOf (read-column.proof.md). */
export interface NumberReading {
  /** Neither NULL nor NaN nor infinite nor a missing code. */
  readonly present: string;
  /** x has a grid position of at least p. */
  readonly reaches: (p: number) => string;
  /** The grid position, for x that is present. */
  readonly position: string;
}
export function numberReading(dialect: Dialect, binder: Binder, source: SourceColumn, grid: Grid, x: string): NumberReading {
  return source.type === 'integer' && isWhole(grid) ? wholeReading(grid, x) : doubleReading(dialect, binder, source, grid, x);
}

/**
 * Whether integers can be compared as they are, without becoming doubles: an integer that a double cannot hold lies beyond the grid either way, and is
 * no missing code either way.
 */
const isWhole = ({ from, top, rate, missing }: Grid): boolean =>
  rate === 1 && Number.isSafeInteger(from) && Number.isSafeInteger(top) && missing.every((m) => Math.abs(m) < 2 ** 53);

function wholeReading({ from, top, last, missing }: Grid, x: string): NumberReading {
  const codes = missing.filter(Number.isInteger);
  return {
    present: codes.length > 0 ? `(${x} IS NOT NULL AND ${x} NOT IN (${codes.join(', ')}))` : `${x} IS NOT NULL`,
    reaches: (p) => `${x} >= ${from + p}`,
    position: `CASE WHEN ${x} < ${from} THEN 0 WHEN ${x} < ${top} THEN CAST(${x} AS BIGINT) - (${from}) ELSE ${last} END`,
  };
}

function doubleReading(dialect: Dialect, binder: Binder, source: SourceColumn, grid: Grid, x: string): NumberReading {
  const y = source.type === 'integer' ? `CAST(${x} AS DOUBLE)` : x;
  const [from, top] = [binder.real(grid.from), binder.real(grid.top)];
  // NaN sorts above every number, so the range keeps out NaN and both infinities.
  const finite = `${y} BETWEEN ${binder.real(-Number.MAX_VALUE)} AND ${binder.real(Number.MAX_VALUE)}`;
  const clamped = `CASE WHEN ${y} < ${from} THEN ${from} WHEN ${y} < ${top} THEN ${y} ELSE ${top} END`;
  return {
    present: grid.missing.length > 0 ? `(${finite} AND ${y} NOT IN (${grid.missing.map(binder.real).join(', ')}))` : finite,
    reaches: (p) => `${y} >= ${binder.real(firstAt(grid, p))}`,
    position: dialect.nearest(`(${clamped}${grid.from === 0 ? '' : ` - ${from}`}) * ${binder.real(grid.rate)}`),
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
