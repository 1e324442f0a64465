import { Fault } from '../../base/errors.js';
import { type CodeTables, codeTables } from '../../data/engine/codes.js';
import type { Dialect } from '../../data/engine/dialect.js';
import type { SourceColumn } from '../../data/engine/engine.js';
import { gridText } from '../../data/engine/source.js';
import { quoteName } from '../../data/engine/structure.js';
import { codesOf } from '../../policy/code.js';
import { isCoded } from '../../policy/domain.js';
import { firstAt, gridOf, type NumberGrid } from '../../policy/grid.js';
import type { DecimalMark } from '../../policy/number-text.js';
import type { Column, MultiColumn, Policy } from '../../policy/policy.js';
import { didYouMean } from '../../policy/suggest.js';
import { type Addend, clampByCases, doubleAddend, wholeAddend } from './addend.js';

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

export const rawCell = ({ name }: SourceColumn): string => quoteName(name);

/**
 * Number in a cell: an integer where the column has integers, else a double; NULL where there is none. Both ways of counting use it.
 * `mark`: prefix of fractions where the column is shown as text because it is also a name.
 */
export const numberExpression = (dialect: Dialect, source: SourceColumn, mark?: DecimalMark): string =>
  source.type === 'text' && mark !== undefined
    ? dialect.numberInText(rawCell(source), mark)
    : dialect.numberIn(rawCell(source), source.type);

/** SQL expressions for a number column, over its number x. None can fail on a row; all agree with positionOf (read-column.proof.md). */
export interface NumberReading {
  /** Neither NULL nor NaN nor infinite nor a missing code. */
  readonly present: string;
  /** x has a grid position of at least p. */
  readonly reaches: (p: number) => string;
  /** x is present, its grid position is at least `from` and at most `to`. */
  readonly inside: (from: number, to: number) => string;
  /** The grid position, for x that is present. */
  readonly position: string;
  /** The grid position, or NULL where x is not present. */
  readonly positionOrNull: string;
  /** For adding up at most `rows` rows. */
  readonly addend: (rows: number) => Addend;
  /** Proxy for grouping that needs fewer operations per row; absent where there is none. */
  readonly proxy?: PositionProxy;
}
/** Expression that is NULL where x is not present, and otherwise one-to-one with its grid position. */
export interface PositionProxy {
  readonly by: string;
  /** Position of the proxy's value. */
  readonly place: (by: string) => string;
}
export function numberReading(dialect: Dialect, source: SourceColumn, grid: NumberGrid, x: string): NumberReading {
  if (placesIn(source, grid) !== undefined) return placeReading(dialect, grid, x);
  return source.type === 'integer' && isWhole(grid) ? wholeReading(dialect, grid, x) : doubleReading(dialect, source, grid, x);
}

/** Column of places that the engine stores for this very grid. */
export const placesIn = ({ places }: SourceColumn, grid: NumberGrid): string | undefined =>
  places?.grid === gridText(grid) ? places.column : undefined;

/** Places are whole numbers from 0 to the last, or NULL. */
export const placeReading = (dialect: Dialect, { last }: NumberGrid, x: string): NumberReading => ({
  ...wholeReading(dialect, { from: 0, top: last, last, missing: [] }, x),
  position: dialect.whole(x),
  positionOrNull: dialect.whole(x),
  addend: () => ({ base: 0, most: last, expression: x }),
  proxy: { by: x, place: dialect.whole },
});

const orNull = (present: string, position: string): string => `CASE WHEN ${present} THEN ${position} END`;

/**
 * True where integers can be compared without conversion to doubles: an integer that no double holds exactly
 * is beyond the grid and no missing code either way.
 */
const isWhole = ({ from, top, rate, missing }: NumberGrid): boolean =>
  rate === 1 && Number.isSafeInteger(from) && Number.isSafeInteger(top) && missing.every((m) => Math.abs(m) < 2 ** 53);

function wholeReading(
  dialect: Dialect,
  { from, top, last, missing }: Pick<NumberGrid, 'from' | 'top' | 'last' | 'missing'>,
  x: string,
): NumberReading {
  const codes = missing.filter(Number.isInteger);
  const notIn = (list: readonly number[]) => (list.length > 0 ? ` AND ${x} NOT IN (${list.join(', ')})` : '');
  const present = codes.length > 0 ? `(${x} IS NOT NULL${notIn(codes)})` : `${x} IS NOT NULL`;
  const ends = (least: number, most: number) => [
    ...(least > 0 ? [`${x} >= ${from + least}`] : []),
    ...(most < last ? [`${x} < ${from + most + 1}`] : []),
  ];
  const below = `CASE WHEN ${x} < ${from} THEN 0 WHEN ${x} < ${top} THEN ${dialect.whole(x)} - (${from})`;
  const position = `${below} ELSE ${last} END`;
  return {
    present,
    reaches: (p) => `${x} >= ${from + p}`,
    inside: (least, most) => {
      const tests = ends(least, most);
      return tests.length > 0 ? `${tests.join(' AND ')}${notIn(codes)}` : present;
    },
    position,
    // NULL is neither below nor above.
    positionOrNull: codes.length > 0 ? orNull(present, position) : `${below} WHEN ${x} >= ${top} THEN ${last} END`,
    ...(codes.length === 0 && {
      proxy: {
        by: clampByCases(x, from, top),
        place: (by) => `(${dialect.whole(by)} - (${from}))`,
      },
    }),
    addend: () => wholeAddend(dialect, { from, top, missing }, x),
  };
}

function doubleReading(dialect: Dialect, source: SourceColumn, grid: NumberGrid, x: string): NumberReading {
  const { constant: real } = dialect;
  const y = source.type === 'integer' ? dialect.real(x) : x;
  const [lowest, highest] = [-Number.MAX_VALUE, Number.MAX_VALUE].map(real);
  const notIn = (list: readonly number[]) => (list.length > 0 ? ` AND ${y} NOT IN (${list.map(real).join(', ')})` : '');
  const present = dialect.presentIn(y, grid);
  const position = dialect.placeIn(y, grid);
  const positionOrNull = (rows: number) => dialect.placeOrNull?.(y, grid, rows) ?? orNull(present, position);
  const reaches = (p: number) => `${y} >= ${real(firstAt(grid, p))}`;
  return {
    present,
    reaches,
    inside: (least, most) => {
      const low = least > 0 ? reaches(least) : `${y} >= ${lowest}`;
      const high = most < grid.last ? `${y} < ${real(firstAt(grid, most + 1))}` : `${y} <= ${highest}`;
      return `${low} AND ${high}${notIn(grid.missing)}`;
    },
    position,
    positionOrNull: positionOrNull(Number.POSITIVE_INFINITY),
    addend: (rows) => doubleAddend(dialect, grid, y, rows, positionOrNull(rows)),
  };
}

/** Comparison of a coded cell: an expression of the raw cell, and the value of cells with each declared code (by index). */
export interface CodeReading {
  readonly expression: (raw: string) => string;
  readonly list: readonly (readonly [string | number, number])[];
}
export function codeReading(dialect: Dialect, source: SourceColumn, tables: CodeTables): CodeReading {
  if (source.type === 'real') return { expression: dialect.real, list: [...tables.real] };
  return {
    expression: (raw) => (source.type === 'text' ? dialect.trimmed(raw) : dialect.text(raw)),
    list: [...(source.type === 'integer' ? tables.integer : tables.text)],
  };
}

/**
 * Limit on the length of a cell of options: four times what all names need. The time to split a cell must not depend on one
 * record's value.
 */
export function longestOptions(column: MultiColumn): number {
  const all = column.values.reduce((letters, value) => letters + [...value].length + [...column.separator].length, 0);
  return Math.max(4096, 4 * all);
}

/** Text of a multi-select cell, up to so many letters. */
export function optionTextExpression(dialect: Dialect, source: SourceColumn, raw: string, longest: number): string {
  if (source.type === 'real') return dialect.plainDigits(raw);
  return source.type === 'text' ? `CASE WHEN length(${raw}) <= ${longest} THEN ${raw} END` : dialect.text(raw);
}

export const codeTablesOf = (column: Column): CodeTables => {
  if (!isCoded(column)) throw new RangeError(`${column.name} has no codes`);
  return codeTables(codesOf(column));
};
export function columnGrid(policy: Policy, name: string): NumberGrid {
  const column = policy.columns.get(name);
  if (!column || isCoded(column)) throw new RangeError(`${name} is no number`);
  return gridOf(column);
}
