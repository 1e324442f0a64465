import { datePattern } from '../../../policy/date-text.js';
import { type DecimalMark, numberPatterns } from '../../../policy/number-text.js';
import { plainReal } from '../codes.js';
import { type Dialect, presentOn } from '../dialect.js';
import type { SourceColumn } from '../engine.js';
import { blankLetters, brokenNumber, negativeZero, wholeNumber } from '../name.js';
import { longestText } from '../shown-table.js';
import type { PlaceGrid } from '../source.js';
import { oneOf, quoteText } from '../structure.js';

/**
 * Casts of text and 64-bit sums fail where others give NULL or widen:
 * every operand is checked before a cast, and sums use a wide type.
 */
const text = (x: string): string => `CAST(${x} AS VARCHAR)`;
const real = (x: string): string => `CAST(${x} AS DOUBLE)`;
const whole = (x: string): string => `CAST(${x} AS BIGINT)`;
const wide = (x: string): string => `CAST(${x} AS DECIMAL(38,0))`;
const constant = (x: number): string => `CAST('${x}' AS DOUBLE)`;

/** Letters by their numbers: what they look like, and whether they are text at all, plays no part. */
const letters = (all: string): string =>
  `U&'${Array.from(all, (c) => `\\${c.codePointAt(0)!.toString(16).padStart(4, '0')}`).join('')}'`;
/** Measures the bytes of a text without copying it. */
const short = (x: string): string => `CASE WHEN length(to_utf8(${x})) <= ${longestText} THEN ${x} END`;
const trimmedOf = (x: string, all: string): string => `trim(BOTH ${letters(all)} FROM ${x})`;
const blanks = ' \t\r\n';

/** \v means something else in some regular expressions. */
const pattern = (mark: DecimalMark): string => `'\\A${numberPatterns[mark].replaceAll('\\v', '\\x0B')}\\z'`;

/** A cast alone reads more: "1d", "0x1p3". What the grammar admits, it turns into the nearest double, or an infinity. */
function numberInText(cell: string, mark: DecimalMark = '.'): string {
  const pointed = mark === ',' ? `replace(${cell}, ',', '.')` : cell;
  return `CASE WHEN regexp_like(${short(cell)}, ${pattern(mark)}) THEN TRY_CAST(${pointed} AS DOUBLE) END`;
}

/** TRY_CAST knows how many days a month has. */
function dayInText(cell: string): string {
  const date = trimmedOf(short(cell), blanks);
  const day = `TRY_CAST(substr(${date}, 1, 10) AS DATE)`;
  return `CASE WHEN regexp_like(${date}, '\\A${datePattern}\\z') THEN date_diff('day', DATE '1970-01-01', ${day}) END`;
}

const presentIn = presentOn(constant);

/** A cast would round halves away from zero; adding 2^52 removes the fraction, and rounds as every addition does: to even. */
function realPlaceIn(y: string, { from, rate }: PlaceGrid): string {
  const above = `(${y}${from === 0 ? '' : ` - ${constant(from)}`}) * ${constant(rate)}`;
  return `(${above} + ${constant(2 ** 52)}) - ${constant(2 ** 52)}`;
}

function placeIn(y: string, grid: PlaceGrid): string {
  const [from, top] = [constant(grid.from), constant(grid.top)];
  return `CASE WHEN ${y} < ${from} THEN ${whole('0')} WHEN ${y} < ${top} THEN ${whole(realPlaceIn(y, grid))} ELSE ${whole(String(grid.last))} END`;
}

/** Two comparisons for nearly every number. NaN is neither below nor above anything, and has no place. */
function placeOrNull(y: string, grid: PlaceGrid): string {
  const [from, top, least, most] = [grid.from, grid.top, -Number.MAX_VALUE, Number.MAX_VALUE].map(constant);
  const below = `CASE WHEN ${y} >= ${from} THEN ${whole(realPlaceIn(y, grid))} WHEN ${y} >= ${least} THEN ${whole('0')} END`;
  const place = `CASE WHEN ${y} < ${top} THEN ${below} WHEN ${y} <= ${most} THEN ${whole(String(grid.last))} END`;
  return grid.missing.length > 0 ? `CASE WHEN ${y} NOT IN (${grid.missing.map(constant).join(', ')}) THEN ${place} END` : place;
}

/** The same as `nameText` of what the cell reads; the first case is a short cut. */
function nameInText(cell: string): string {
  const shown = trimmedOf(`normalize(replace(${cell}, chr(0), ''), NFC)`, blankLetters().replace('\0', ''));
  const numbered = `regexp_replace(regexp_replace(${shown}, '${wholeNumber}', '$1$2'), '${brokenNumber}', '$1$2.$3')`;
  const plain = `regexp_replace(${numbered}, '${negativeZero}', '0')`;
  const simple = `regexp_like(${cell}, '\\A([0-9]+|[A-Za-z_]([A-Za-z0-9_-]*[A-Za-z0-9_])?)\\z')`;
  return `CASE WHEN length(to_utf8(${cell})) <= ${longestText} THEN CASE WHEN ${simple} THEN ${cell} ELSE nullif(${plain}, '') END END`;
}

/** A whole double in full digits up to 2^124: a cast to a decimal would keep 17 of them. */
function digitsOf(x: string): string {
  const [edge, part] = [constant(2 ** 63), constant(2 ** 62)];
  const high = `truncate(${x} / ${part})`;
  const parts = `${wide(whole(high))} * ${2n ** 62n} + ${wide(whole(`${x} - ${high} * ${part}`))}`;
  return `CASE WHEN abs(${x}) < ${edge} THEN ${text(whole(x))} WHEN abs(${x}) < ${constant(2 ** 124)} THEN ${text(parts)} ELSE ${shortest(x)} END`;
}

/** The shortest digits of a double, which is written 1.25E-7 here, as C writes them: 0.000125, 1.25e-07. */
function shortest(x: string): string {
  const written = text(`abs(${x})`);
  const sign = `CASE WHEN ${x} < 0 THEN '-' ELSE '' END`;
  const mantissa = `regexp_replace(split_part(${written}, 'E', 1), '\\.0$', '')`;
  const digits = `replace(${mantissa}, '.', '')`;
  const power = `TRY_CAST(split_part(${written}, 'E', 2) AS INTEGER)`;
  const exponent = `CASE WHEN ${power} < 0 THEN 'e-' ELSE 'e+' END || CASE WHEN abs(${power}) < 10 THEN '0' ELSE '' END || ${text(`abs(${power})`)}`;
  const small = `'0.' || substr('000', 1, -1 - ${power}) || ${digits}`;
  const plain = `substr(${digits}, 1, ${power} + 1) || '.' || substr(${digits}, ${power} + 2)`;
  return `${sign} || CASE WHEN ${power} BETWEEN -4 AND -1 THEN ${small} WHEN ${power} BETWEEN 0 AND 15 THEN ${plain} ELSE ${mantissa} || ${exponent} END`;
}

function name(cell: string, type: SourceColumn['type']): string {
  if (type === 'text') return nameInText(cell);
  if (type !== 'real') return text(cell);
  const odd = `WHEN is_nan(${cell}) THEN NULL WHEN is_infinite(${cell}) THEN CASE WHEN ${cell} > 0 THEN 'inf' ELSE '-inf' END`;
  return `(CASE ${odd} WHEN ${cell} = truncate(${cell}) THEN ${digitsOf(cell)} ELSE ${shortest(cell)} END)`;
}

const maxListed = 200;
const nothing = `CAST(ARRAY[] AS ARRAY(VARCHAR))`;

export const trino: Dialect = {
  text,
  real,
  whole,
  wide,
  total: (x, most) => (most < 2 ** 62 ? `sum(${x})` : `sum(${wide(x)})`),
  constant,
  numberIn: (cell, type) => {
    if (type === 'text') return numberInText(cell);
    return type === 'boolean' ? real(cell) : cell;
  },
  numberInText,
  dayInText,
  wholeInText: (cell) =>
    `CASE WHEN regexp_like(${trimmedOf(short(cell), ' ')}, '\\A-?[0-9]{1,15}\\z') THEN ${whole(trimmedOf(cell, ' '))} END`,
  short,
  trimmed: (cell) => trimmedOf(short(cell), blanks),
  // The text is mentioned once: what a cluster compiles for a thousand columns has a limit. So has what is written as one list.
  codeIn: (cell, codes) => {
    const [read, list] = [trimmedOf(short(cell), blanks), `ARRAY[${codes.map(quoteText).join(', ')}]`];
    return codes.length > maxListed ? oneOf(read, codes) : `element_at(MAP(${list}, ${list}), ${read})`;
  },
  plainDigits: (x) => `CASE WHEN ${x} = truncate(${x}) AND abs(${x}) < ${constant(plainReal)} THEN ${text(whole(x))} END`,
  presentIn,
  placeIn,
  realPlaceIn,
  placeOrNull,
  quotient: (x, divisor) => `(${x}) / ${divisor}`,
  // The fraction is exact; adding a half first would round values just below it.
  rounded: (x) =>
    whole(`CASE WHEN abs(${x} - truncate(${x})) >= ${constant(0.5)} THEN truncate(${x}) + sign(${x}) ELSE truncate(${x}) END`),
  parts: (list, separator) =>
    `coalesce(transform(split(${short(list)}, ${separator}), fugu_part -> ${trimmedOf('fugu_part', blanks)}), ${nothing})`,
  hasAny: (list, items) => (items.length === 0 ? 'false' : `arrays_overlap(${list}, ARRAY[${items.join(', ')}])`),
  eachOf: (query, numbers) => `(${query}) AS fugu_rows CROSS JOIN UNNEST(ARRAY[${numbers.join(', ')}]) AS fugu_cells(cell)`,
  bits: (x) => `CASE WHEN NOT is_nan(${x}) THEN from_big_endian_64(to_ieee754_64(${x} + ${constant(0)})) END`,
  bytes: (x) => `lower(to_hex(to_utf8(${x})))`,
  digest: (x) => `lower(to_hex(md5(to_utf8(${x}))))`,
  name,
};
