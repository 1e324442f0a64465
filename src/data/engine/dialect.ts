import type { DecimalMark } from '../../policy/number-text.js';
import type { SourceColumn } from './engine.js';
import type { PlaceGrid } from './source.js';

/**
 * SQL that differs between databases; only adapters may use an engine's own syntax (test/rooms.test.ts). No expression fails on data,
 * in any order of evaluation. Portable SQL names every subquery, divides with `quotient`, never by data, and adds no fractions.
 */
export interface Dialect {
  /** As text; NULL stays. */
  text(x: string): string;
  /** A whole number, or a double, as the nearest double. */
  real(x: string): string;
  /** A whole number, or a double that is one, of 64 bits. */
  whole(x: string): string;
  /** A whole number that no sum over rows can leave. */
  wide(x: string): string;
  /** Sum of whole numbers that fails for no number of rows; `most`: its largest absolute value. Absent if `sum` is safe. */
  readonly total?: (x: string, most: number) => string;
  constant(x: number): string;
  /** The number in a cell: whole where the column shows one, else a double; NULL when there is none. */
  numberIn(cell: string, type: SourceColumn['type']): string;
  /** The number in a text by the grammar of policy/number-text.ts, else NULL. */
  numberInText(text: string, mark?: DecimalMark): string;
  /** Days since 1970-01-01 of the date in a text, by the grammar of policy/date-text.ts, else NULL. */
  dayInText(text: string): string;
  /** The whole number of up to 15 digits that a text spells, else NULL. */
  wholeInText(text: string): string;
  /** The text, NULL where it is longer than any that is read (short-text.ts). Absent where a text of any length can be worked with. */
  readonly short?: (text: string) => string;
  /** Text without the blanks that codes ignore. */
  trimmed(text: string): string;
  /** The code in a text: the text without those blanks where it is one of these, of which there is one at least; else NULL. */
  codeIn(text: string, codes: readonly string[]): string;
  /** The digits of a double that is a plain whole number (data/engine/codes.ts), else NULL. */
  plainDigits(real: string): string;
  /** True if a double has a place on the grid. */
  presentIn(real: string, grid: PlaceGrid): string;
  /** The place of a double that has one. */
  placeIn(real: string, grid: PlaceGrid): string;
  /**
   * Sums places as doubles: the place of a double within the grid as the nearest whole double,
   * halves to even. Absent if the database may fail at this arithmetic, or is no faster.
   */
  readonly realPlaceIn?: (real: string, grid: PlaceGrid) => string;
  /**
   * Place of a double, NULL if it has none, in the smallest integer type whose sum over
   * `rows` rows stays exact. Absent if it is no faster than `presentIn` and `placeIn`.
   */
  readonly placeOrNull?: (real: string, grid: PlaceGrid, rows: number) => string;
  /** Sum of the places of `rows` rows, if a special type needs fewer steps. Absent, or undefined for a grid, if it is no faster. */
  readonly addedPlaces?: (real: string, grid: PlaceGrid, rows: number) => AddedPlaces | undefined;
  /** Branch-free arithmetic for sums, where it costs less on blocks of rows than CASE expressions. */
  readonly blocks?: BlockArithmetic;
  /** Quotient, rounded down, of a whole number of at least 0 and a divisor above 0. */
  quotient(whole: string, divisor: number): string;
  /** A double below 2^52, rounded to a whole number of 64 bits, halves away from zero. */
  rounded(real: string): string;
  /** The trimmed parts of a text as a list; an empty list for NULL. */
  parts(text: string, separator: string): string;
  hasAny(list: string, items: readonly string[]): string;
  /**
   * FROM clause that yields one row with the number `cell` for each of these whole numbers in every row of
   * a query, which is read once. Absent for databases in this process: there the rows are counted here.
   */
  readonly eachOf?: (query: string, numbers: readonly string[]) => string;
  /** A whole number of 64 bits for every double: the bits it is made of, the same in every database. One for both zeros; NULL for NaN. */
  bits(real: string): string;
  /** CASE expressions are evaluated row by row, not in blocks: the number of comparisons determines the cost. */
  readonly byRow?: true;
  /**
   * A named query that is evaluated once, however often it is referenced. Absent if the
   * database evaluates it each time, or joins equal rows with NULLs by comparing all pairs.
   */
  readonly once?: (name: string, query: string) => string;
  /** Suffix of a subquery that forces its columns to be evaluated once; absent if the database does so by itself. */
  readonly fence?: string;
  /** The bytes of a text in UTF-8, two small hexadecimal digits each. */
  bytes(text: string): string;
  /** Digest of a text in 32 letters, unpredictable and sorted alike in every database. */
  digest(text: string): string;
  name(cell: string, type: SourceColumn['type']): string;
}

export interface AddedPlaces {
  /** The place of a double, NULL where it has none. */
  readonly place: string;
  /** The sum of these, as a whole number. */
  readonly total: (place: string) => string;
}

export interface BlockArithmetic {
  /** A whole number held to these ends; the lower one for NULL. */
  clamp(whole: string, low: number, high: number): string;
  /** The place that a double would have if its grid had no ends; NULL where 64 bits do not hold it, as for NaN and the infinities. */
  unboundedPlace(real: string, grid: PlaceGrid): string;
  /** Number of rows that satisfy the test. */
  countWhere(test: string): string;
}

/** Neither NULL nor NaN nor infinite nor a missing code: NaN is in no range, or above every number, so this one keeps it out with both infinities. */
export const presentOn =
  (constant: Dialect['constant']): Dialect['presentIn'] =>
  (y, { missing }) => {
    const finite = `${y} BETWEEN ${constant(-Number.MAX_VALUE)} AND ${constant(Number.MAX_VALUE)}`;
    return missing.length > 0 ? `(${finite} AND ${y} NOT IN (${missing.map(constant).join(', ')}))` : finite;
  };
