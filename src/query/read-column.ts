import type { SourceColumn } from '../engine/engine.js';
import { Fault } from '../errors.js';
import type { Column, Policy } from '../policy/policy.js';
import { didYouMean } from '../policy/suggest.js';
import { type CodeTables, codeTables, plainReal } from './codes.js';
import type { Binder, Dialect } from './dialect.js';
import { codesOf, isCoded } from './domain.js';
import { type Grid, gridOf } from './grid.js';

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

/** Grid position of the number x, NULL when missing: positionOf of grid.ts, written so that no row can make it fail. */
export function positionExpression(binder: Binder, source: SourceColumn, grid: Grid, x: string): string {
  if (source.type === 'integer' && grid.by === 1 && Number.isSafeInteger(grid.from)) {
    const missing = grid.missing.filter((code) => Number.isSafeInteger(code));
    const skip = missing.length > 0 ? `WHEN ${x} IN (${missing.join(', ')}) THEN NULL ` : '';
    return `CASE ${skip}WHEN ${x} < ${grid.from} THEN 0 WHEN ${x} < ${grid.top} THEN TRY_CAST(${x} AS BIGINT) - (${grid.from}) WHEN ${x} >= ${grid.top} THEN ${grid.last} END`;
  }
  const { real } = binder;
  const y = source.type === 'integer' ? `CAST(${x} AS DOUBLE)` : x;
  const skip = grid.missing.length > 0 ? `WHEN ${y} IN (${grid.missing.map(real).join(', ')}) THEN NULL ` : '';
  const quantised = `TRY_CAST(floor((${y} - ${real(grid.from)}) / ${real(grid.by)} + ${real(0.5)}) AS BIGINT)`;
  // NaN sorts above every number, so the last bound keeps out NaN and +infinity, the first -infinity.
  return `CASE ${skip}WHEN ${y} < ${real(grid.from)} THEN CASE WHEN ${y} >= ${real(-Number.MAX_VALUE)} THEN 0 END WHEN ${y} < ${real(grid.top)} THEN ${quantised} WHEN ${y} <= ${real(Number.MAX_VALUE)} THEN ${grid.last} END`;
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
