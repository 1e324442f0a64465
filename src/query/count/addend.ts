import type { BlockArithmetic, Dialect } from '../../data/engine/dialect.js';
import { firstBeyond, type GridPlaces } from '../../policy/grid.js';

/**
 * Summand whose total gives the sum of grid positions over the rows that have the number, each with `base` added
 * (read-column.proof.md, Sums).
 */
export interface Addend {
  /** Summand of one row; its absolute value is at most `most`. */
  readonly expression: string;
  readonly base: number;
  readonly most: number;
  /** Total of the summands over rows; absent where it is a plain integer sum. */
  readonly total?: (added: string) => string;
  /** Amount by which the total over rows falls short of the sum; absent where it does not. */
  readonly short?: string;
  /** Number of rows that have the number; absent where those are the rows whose expression is not NULL. */
  readonly having?: string;
}

/** Of whole numbers on a grid of whole numbers. */
export function wholeAddend(
  dialect: Dialect,
  { from, top, missing }: Pick<GridPlaces, 'from' | 'top' | 'missing'>,
  x: string,
): Addend {
  const codes = missing.filter(Number.isInteger);
  const answer = codes.length > 0 ? `CASE WHEN ${x} NOT IN (${codes.join(', ')}) THEN ${x} END` : x;
  const common = { base: from, most: Math.max(Math.abs(from), Math.abs(top)) };
  const having = `count(${answer})`;
  if (dialect.blocks) {
    const absent = dialect.wide(`count(*) - ${having}`);
    return {
      ...common,
      having,
      expression: dialect.blocks.clamp(answer, from, top),
      ...(from !== 0 && { short: `${absent} * (${-from})` }),
    };
  }
  const counted = codes.length === 0 && { having };
  if (dialect.byRow) {
    const held = clampByCases(x, from, top);
    return {
      ...common,
      ...counted,
      expression: codes.length > 0 ? `CASE WHEN ${x} NOT IN (${codes.join(', ')}) THEN ${held} END` : held,
    };
  }
  const within = codes.filter((m) => m >= from && m <= top);
  const expression = byCases(`${x} BETWEEN ${from} AND ${top}${notIn(x, within.map(String))}`, x, [
    ...(codes.length > 0 ? [[`${x} IN (${codes.join(', ')})`, 'NULL'] as const] : []),
    [`${x} < ${from}`, `${from}`],
    [`${x} > ${top}`, `${top}`],
  ]);
  return { ...common, ...counted, expression };
}

/** Whole number clamped to these ends; NULL stays. */
export const clampByCases = (x: string, from: number, top: number): string =>
  `CASE WHEN ${x} < ${from} THEN ${from} WHEN ${x} > ${top} THEN ${top} ELSE ${x} END`;

/** Of doubles. `orNull`: their position, or NULL. */
export function doubleAddend(dialect: Dialect, grid: GridPlaces, y: string, rows: number, orNull: string): Addend {
  if (dialect.blocks) return doublesInBlocks(dialect, dialect.blocks, grid, y);
  // Whole numbers add up exactly in doubles, in any order, as long as no sum can leave 2^53.
  const asDoubles = rows * grid.last < 2 ** 53 ? dialect.realPlaceIn?.(clamped(dialect, grid, y), grid) : undefined;
  if (asDoubles !== undefined) return { base: 0, most: grid.last, expression: asDoubles };
  const own = dialect.addedPlaces?.(y, grid, rows);
  return { base: 0, most: grid.last, expression: own?.place ?? orNull, ...(own && { total: own.total }) };
}

/** Places that 64 bits do not hold are added as 0; of these only finite numbers above the grid have another one. */
function doublesInBlocks(
  dialect: Dialect,
  { clamp, unboundedPlace, countWhere }: BlockArithmetic,
  grid: GridPlaces,
  y: string,
): Addend {
  const { constant: real, wide } = dialect;
  const answer = grid.missing.length > 0 ? `CASE WHEN ${y} NOT IN (${grid.missing.map(real).join(', ')}) THEN ${y} END` : y;
  const beyond = firstBeyond(grid, 2 ** 63);
  // NaN is above every number.
  const endlessly = countWhere(`${answer} > ${real(Number.MAX_VALUE)}`);
  return {
    base: 0,
    most: grid.last,
    expression: clamp(unboundedPlace(answer, grid), 0, grid.last),
    having: `count(${answer}) - ${endlessly} - ${countWhere(`${answer} < ${real(-Number.MAX_VALUE)}`)}`,
    short: `${wide(`${countWhere(`${answer} >= ${real(beyond)}`)} - ${endlessly}`)} * ${grid.last}`,
  };
}

const notIn = (x: string, list: readonly string[]): string => (list.length > 0 ? ` AND ${x} NOT IN (${list.join(', ')})` : '');

/** Double clamped to the ends of its grid, NULL where it is not present. */
function clamped({ constant: real }: Dialect, grid: GridPlaces, y: string): string {
  const [from, top, lowest, highest] = [grid.from, grid.top, -Number.MAX_VALUE, Number.MAX_VALUE].map(real);
  const within = grid.missing.filter((m) => m >= grid.from && m <= grid.top);
  return byCases(`${y} BETWEEN ${from} AND ${top}${notIn(y, within.map(real))}`, y, [
    ...(grid.missing.length > 0 ? [[`${y} IN (${grid.missing.map(real).join(', ')})`, 'NULL'] as const] : []),
    [`${y} < ${from} AND ${y} >= ${lowest}`, `${from}`],
    [`${y} > ${top} AND ${y} <= ${highest}`, `${top}`],
  ]);
}

/** Nearly every number lies within its bounds, and a database that finds a whole block in the first case looks at no other. */
const byCases = (inside: string, value: string, rest: readonly (readonly [test: string, value: string])[]): string =>
  `CASE WHEN ${inside} THEN ${value} ELSE CASE ${rest.map(([test, then]) => `WHEN ${test} THEN ${then}`).join(' ')} END END`;
