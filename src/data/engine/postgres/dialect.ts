import { datePattern } from '../../../policy/date-text.js';
import { firstAt } from '../../../policy/grid.js';
import { type DecimalMark, numberPatternWith } from '../../../policy/number-text.js';
import { plainReal } from '../codes.js';
import { type AddedPlaces, type Dialect, presentOn } from '../dialect.js';
import type { SourceColumn } from '../engine.js';
import { blankLetters, brokenNumber, negativeZero, wholeNumber } from '../name.js';
import { longestText } from '../shown-table.js';
import type { PlaceGrid } from '../source.js';
import { oneOf } from '../structure.js';

/**
 * PostgreSQL fails where others give NULL: casts of text that is no number, numbers outside the range of a double,
 * underflow. So every operand is checked inside one CASE first: conditions joined by AND are evaluated in any order.
 */
const text = (x: string): string => `CAST(${x} AS TEXT)`;
const real = (x: string): string => `CAST(${x} AS DOUBLE PRECISION)`;
const whole = (x: string): string => `CAST(${x} AS BIGINT)`;
const wide = (x: string): string => `CAST(${x} AS NUMERIC)`;
const constant = (x: number): string => `CAST('${x}' AS DOUBLE PRECISION)`;
/** By code point, whatever collation the database has. */
export const byLetters = (x: string): string => `(${x} COLLATE "C")`;

/** The length is stored with a text, however that is stored: nothing of a long one is fetched. */
const short = (x: string): string => `CASE WHEN octet_length(${x}) <= ${longestText} THEN ${x} END`;

/** So long a text of digits with so short a power of ten is far from all ends of a double. */
const shortNumber = 40;
/** Longer texts are parsed as decimals, which hold all of these. Texts beyond this length are no numbers. */
const longNumber = 1100;
/** Half of the least double, and the least number that is nearer to infinity than to the largest: rounded up in the last digits. */
const vanishing = '2.4703282292062328e-324';
const beyond = '1.797693134862315807938e308';

function numberInText(cell: string, mark: DecimalMark = '.'): string {
  const pointed = mark === ',' ? `replace(${cell}, ',', '.')` : cell;
  const is = (most: number, power: string) => `length(${cell}) <= ${most} AND ${cell} ~ '^${numberPatternWith(mark, power)}$'`;
  const exact = wide(pointed);
  const infinite = `CASE WHEN ${cell} ~ '^[^0-9.]*-' THEN ${constant(-Infinity)} ELSE ${constant(Infinity)} END`;
  const long = `CASE WHEN abs(${exact}) >= ${beyond} THEN ${infinite} WHEN abs(${exact}) < ${vanishing} THEN ${constant(0)} ELSE ${real(exact)} END`;
  // A power of ten of five digits and more leaves nothing or infinity, but for zero.
  const gone = `CASE WHEN ${cell} ~ '[eE]-' OR ${cell} ~ '^[^1-9eE]*[eE]' THEN ${constant(0)} ELSE ${infinite} END`;
  return `CASE WHEN ${is(shortNumber, '[0-9]{1,2}')} THEN ${real(pointed)} WHEN ${is(longNumber, '0*[0-9]{1,4}')} THEN ${long} WHEN ${is(longNumber, '[0-9]+')} THEN ${gone} END`;
}

/** Every month has a first day; the day in the text lies in the same month, or does not exist. */
function dayInText(cell: string): string {
  const date = trimmed(cell);
  const first = `CAST(left(${date}, 8) || '01' AS DATE)`;
  const day = `CAST(substr(${date}, 9, 2) AS INTEGER) - 1`;
  const there = `to_char(${first} + ${day}, 'MM') = substr(${date}, 6, 2)`;
  return `CASE WHEN ${date} ~ '^${datePattern}$' THEN CASE WHEN ${there} THEN ${whole(`${first} - DATE '1970-01-01' + ${day}`)} END END`;
}

const presentIn = presentOn(constant);

/** Number of grid steps above the first place; operations without effect are omitted. */
function stepsAbove(y: string, { from, rate }: PlaceGrid): string {
  const above = from === 0 ? y : `(${y} - ${constant(from)})`;
  return rate === 1 ? above : `${above} * ${constant(rate)}`;
}

/**
 * Below the first place above 0 there is no arithmetic, because underflow
 * is an error. NaN gets the last place; callers exclude it beforehand.
 */
function placeIn(y: string, grid: PlaceGrid): string {
  const [first, top] = [constant(firstAt(grid, 1)), constant(grid.top)];
  const inner =
    grid.last > 0
      ? `WHEN ${y} < ${first} THEN 0 WHEN ${y} < ${top} THEN ${whole(stepsAbove(y, grid))} `
      : `WHEN ${y} < ${top} THEN 0 `;
  return `CASE ${inner}WHEN ${y} >= ${top} THEN ${whole(String(grid.last))} END`;
}

/**
 * Two comparisons for nearly every number. NaN sorts above every number, so it fails the last comparison and has no place;
 * underflow is possible only below the first place above 0. `above`: place of an inner number; `at`: a fixed place.
 */
function placeByCases(y: string, grid: PlaceGrid, above: string, at: (place: number) => string): string {
  const { last, missing } = grid;
  const [first, top, least, most] = [firstAt(grid, 1), grid.top, -Number.MAX_VALUE, Number.MAX_VALUE].map(constant);
  const below = `CASE WHEN ${y} >= ${least} THEN ${at(0)} END`;
  const inner =
    last > 0 ? `WHEN ${y} < ${first} THEN ${below} WHEN ${y} < ${top} THEN ${above}` : `WHEN ${y} < ${top} THEN ${below}`;
  const place = `CASE ${inner} WHEN ${y} <= ${most} THEN ${at(last)} END`;
  return missing.length > 0 ? `CASE WHEN ${y} NOT IN (${missing.map(constant).join(', ')}) THEN ${place} END` : place;
}

function placeOrNull(y: string, grid: PlaceGrid, rows: number): string {
  const held = grid.last < 2 ** 31 - 1 && staysWithin(grid, rows) ? 'INTEGER' : 'BIGINT';
  return placeByCases(y, grid, `CAST(${stepsAbove(y, grid)} AS ${held})`, (place) => `CAST(${place} AS ${held})`);
}

/** True if no sum of the places of `rows` rows exceeds 64 bits. */
const staysWithin = ({ last }: PlaceGrid, rows: number): boolean => last * rows < 2 ** 62;

/**
 * Money is a 64-bit integer, and a double times money is rounded to an integer with halves to even: one
 * step per row instead of a product and a cast. Its decimals are fixed for every connection (lc_monetary).
 */
function addedPlaces(y: string, grid: PlaceGrid, rows: number): AddedPlaces | undefined {
  const { rate } = grid;
  if (!Number.isSafeInteger(rate) || rate === 1 || !staysWithin(grid, rows)) return undefined;
  const above = `${stepsAbove(y, { ...grid, rate: 1 })} * ${money(rate)}`;
  return { place: placeByCases(y, grid, above, money), total: (place) => `trunc(${wide(`sum(${place})`)} * 100)` };
}
function money(units: number): string {
  const digits = String(units).padStart(3, '0');
  return `CAST('${digits.slice(0, -2)}.${digits.slice(-2)}' AS MONEY)`;
}

const blanks = String.raw`E' \t\r\n'`;
const trimmed = (cell: string): string => `btrim(${short(cell)}, ${blanks})`;
const escaped = (letters: string): string =>
  `E'${Array.from(letters, (c) => `\\u${c.codePointAt(0)!.toString(16).padStart(4, '0')}`).join('')}'`;

/** The same as `nameText` of what the cell reads; the first case is a short cut. A text holds no NUL here. */
function nameInText(cell: string): string {
  const shown = `btrim(normalize(${cell}, NFC), ${escaped(blankLetters().replace('\0', ''))})`;
  const numbered = `regexp_replace(regexp_replace(${shown}, '${wholeNumber}', '\\1\\2'), '${brokenNumber}', '\\1\\2.\\3')`;
  const plain = `regexp_replace(${numbered}, '${negativeZero}', '0')`;
  const simple = `${cell} ~ '^([0-9]+|[A-Za-z_]([A-Za-z0-9_-]*[A-Za-z0-9_])?)$'`;
  return `CASE WHEN octet_length(${cell}) <= ${longestText} THEN CASE WHEN ${simple} THEN ${cell} ELSE nullif(${plain}, '') END END`;
}

/** A whole double in full digits up to 2^124: a cast to a decimal would keep 15 of them. */
function digitsOf(x: string): string {
  const [edge, part] = [constant(2 ** 63), constant(2 ** 62)];
  const high = `trunc(${x} / ${part})`;
  const parts = `${wide(whole(high))} * ${2n ** 62n} + ${wide(whole(`${x} - ${high} * ${part}`))}`;
  return `CASE WHEN abs(${x}) < ${edge} THEN ${text(whole(x))} WHEN abs(${x}) < ${constant(2 ** 124)} THEN ${text(parts)} ELSE ${text(x)} END`;
}

function name(cell: string, type: SourceColumn['type']): string {
  if (type === 'text') return byLetters(nameInText(cell));
  if (type !== 'real') return byLetters(text(cell));
  const is = (special: string) => `${cell} = CAST('${special}' AS DOUBLE PRECISION)`;
  const odd = `WHEN ${is('NaN')} THEN NULL WHEN ${is('Infinity')} THEN 'inf' WHEN ${is('-Infinity')} THEN '-inf'`;
  return byLetters(`(CASE ${odd} WHEN ${cell} = trunc(${cell}) THEN ${digitsOf(cell)} ELSE ${text(cell)} END)`);
}

export const postgres: Dialect = {
  text,
  real,
  whole,
  wide,
  constant,
  numberIn: (cell, type) => {
    if (type === 'text') return numberInText(cell);
    return type === 'boolean' ? real(`CAST(${cell} AS INTEGER)`) : cell;
  },
  numberInText,
  dayInText,
  wholeInText: (cell) => `CASE WHEN btrim(${short(cell)}) ~ '^-?[0-9]{1,15}$' THEN ${whole(`btrim(${cell})`)} END`,
  short,
  trimmed,
  codeIn: (cell, codes) => oneOf(trimmed(cell), codes),
  plainDigits: (x) => `CASE WHEN ${x} = trunc(${x}) AND abs(${x}) < ${plainReal} THEN ${text(whole(x))} END`,
  presentIn,
  placeIn,
  placeOrNull,
  addedPlaces,
  quotient: (x, divisor) => `(${x}) / ${divisor}`,
  // The fraction is exact; adding a half first would round values just below it.
  rounded: (x) => whole(`CASE WHEN abs(${x} - trunc(${x})) >= 0.5 THEN trunc(${x}) + sign(${x}) ELSE trunc(${x}) END`),
  parts: (list, separator) =>
    `ARRAY(SELECT btrim(fugu_part, ${blanks}) FROM unnest(string_to_array(${short(list)}, ${separator})) AS fugu_parts(fugu_part))`,
  hasAny: (list, items) => (items.length === 0 ? 'false' : `(${list} && ARRAY[${items.join(', ')}])`),
  // OFFSET 0 keeps the query separate: if inlined, its expressions would be evaluated for every number that refers to them.
  eachOf: (query, numbers) =>
    `(${query} OFFSET 0) AS fugu_rows CROSS JOIN UNNEST(ARRAY[${numbers.join(', ')}]) AS fugu_cells(cell)`,
  bits: (x) =>
    `CASE WHEN ${x} <> ${constant(Number.NaN)} THEN CAST(CAST('x' || encode(float8send(${x} + ${constant(0)}), 'hex') AS BIT(64)) AS BIGINT) END`,
  byRow: true,
  fence: ' OFFSET 0',
  bytes: (x) => byLetters(`encode(convert_to(${x}, 'UTF8'), 'hex')`),
  digest: (x) => byLetters(`md5(${x})`),
  name,
};
