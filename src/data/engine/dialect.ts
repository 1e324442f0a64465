import type { DecimalMark } from '../../policy/number-text.js';
import type { SourceColumn, Statement } from './engine.js';
import type { PlaceGrid } from './source.js';

/**
 * What databases write differently: the one place besides its adapter where an engine's own words may stand (test/rooms.test.ts). Expressions in, expressions
 * out; none of them can fail on data, whatever else a database evaluates first. Everything else is SQL that all of them read: every subquery has a name,
 * whole numbers are divided by `quotient`, nothing is divided by data and no fractions are added up.
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
  /** The sum of whole numbers, which no number of rows makes fail; `most`: it is no farther from 0 than this. Absent where `sum` is one. */
  readonly total?: (x: string, most: number) => string;
  /** This very double. */
  constant(x: number): string;
  /** The number in a cell: whole where the column shows one, else a double; NULL when there is none. */
  numberIn(cell: string, type: SourceColumn['type']): string;
  /** The number in a text by the grammar of policy/number-text.ts, else NULL. */
  numberInText(text: string, mark?: DecimalMark): string;
  /** Days since 1970-01-01 of the date that a text says by the grammar of policy/date-text.ts, else NULL. */
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
  /** Whether a double has a place on a grid. */
  presentIn(real: string, grid: PlaceGrid): string;
  /** The place of a double that has one. */
  placeIn(real: string, grid: PlaceGrid): string;
  /**
   * For adding up places as doubles: the place of a double between the ends of a grid as the nearest whole double, halves to even. Absent where a database may
   * fail at such arithmetic, or gains nothing.
   */
  readonly realPlaceIn?: (real: string, grid: PlaceGrid) => string;
  /**
   * The place of a double, NULL where it has none, in the least whole numbers whose sum over so many rows stays exact. Absent where nothing is gained over
   * `presentIn` and `placeIn`.
   */
  readonly placeOrNull?: (real: string, grid: PlaceGrid, rows: number) => string;
  /** For adding up the places of so many rows, where a type of its own does it in fewer steps. Absent, or undefined for a grid, where nothing is gained. */
  readonly addedPlaces?: (real: string, grid: PlaceGrid, rows: number) => AddedPlaces | undefined;
  /** Where arithmetic on blocks of rows costs less than cases, for adding up. */
  readonly blocks?: Blocks;
  /** How often a whole number above 0 goes into one of at least 0. */
  quotient(whole: string, divisor: number): string;
  /** A double below 2^52, rounded to a whole number of 64 bits, halves away from zero. */
  rounded(real: string): string;
  /** The trimmed parts of a text as a list; an empty list for NULL. */
  parts(text: string, separator: string): string;
  hasAny(list: string, items: readonly string[]): string;
  /**
   * What follows FROM for a row with the number `cell` for each of these whole numbers of every row of a query, which is read once however many they are. Absent
   * where rows are near: they are counted here.
   */
  readonly eachOf?: (query: string, numbers: readonly string[]) => string;
  /** A whole number of 64 bits for every double: the bits it is made of, the same in every database. One for both zeros; NULL for NaN. */
  bits(real: string): string;
  /** Cases are looked at row by row, not in blocks: what counts is the number of comparisons. */
  readonly byRow?: true;
  /**
   * A named query that is worked out once, however often it is read. Absent where a database works it out every time, or joins rows that are the same with their NULLs by trying all of them.
   */
  readonly once?: (name: string, query: string) => string;
  /** Behind a subquery whose columns are to be worked out once; absent where a database does so by itself. */
  readonly fence?: string;
  /** The bytes of a text in UTF-8, two small hexadecimal digits each. */
  bytes(text: string): string;
  /** 32 letters of a text that nobody can foresee; sorted alike everywhere. */
  digest(text: string): string;
  /** The name in a cell (name.ts). */
  name(cell: string, type: SourceColumn['type']): string;
}

export interface AddedPlaces {
  /** The place of a double, NULL where it has none. */
  readonly place: string;
  /** The sum of these, as a whole number. */
  readonly total: (place: string) => string;
}

export interface Blocks {
  /** A whole number held to these ends; the lower one for NULL. */
  held(whole: string, low: number, high: number): string;
  /** The place that a double would have if its grid had no ends; NULL where 64 bits do not hold it, as for NaN and the infinities. */
  endless(real: string, grid: PlaceGrid): string;
  /** How many rows pass. */
  many(test: string): string;
}

/** Collects the values bound to a statement. */
export class Binder {
  readonly values: Statement['values'][number][];
  readonly #dialect: Dialect;
  /** Behind others that are bound already. */
  constructor(dialect: Dialect, bound: Statement['values'] = []) {
    this.#dialect = dialect;
    this.values = [...bound];
  }
  text(value: string): string {
    this.values.push(value);
    return this.#dialect.text(`$${this.values.length}`);
  }
}
