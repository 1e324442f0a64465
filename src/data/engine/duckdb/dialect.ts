import { datePattern } from '../../../policy/date-text.js';
import { type DecimalMark, numberPatterns } from '../../../policy/number-text.js';
import { plainReal } from '../codes.js';
import { type Dialect, presentOn } from '../dialect.js';
import type { SourceColumn } from '../engine.js';
import { brokenNumber, nameEnds, negativeZero, wholeNumber } from '../name.js';
import type { PlaceGrid } from '../source.js';
import { quoteText } from '../structure.js';

const text = (x: string): string => `CAST(${x} AS VARCHAR)`;
/** Doubles go through text: a literal such as 0.1 would be read as a decimal. */
const constant = (x: number): string => `CAST('${x}' AS DOUBLE)`;

/** A cast alone reads more: "1_000", "nan", "inf". */
const numberInText = (cell: string, mark: DecimalMark = '.'): string => {
  const pointed = mark === ',' ? `replace(${cell}, ',', '.')` : cell;
  return `CASE WHEN regexp_full_match(${cell}, '${numberPatterns[mark]}') THEN TRY_CAST(${pointed} AS DOUBLE) END`;
};

/** TRY_CAST knows how many days a month has. */
const dayInText = (cell: string): string => {
  const date = `trim(${cell}, ${blanks})`;
  return `CASE WHEN regexp_full_match(${date}, '${datePattern}') THEN CAST(TRY_CAST(left(${date}, 10) AS DATE) - DATE '1970-01-01' AS BIGINT) END`;
};

const presentIn = presentOn(constant);

const above = (y: string, { from, rate }: PlaceGrid): string =>
  `(${y}${from === 0 ? '' : ` - ${constant(from)}`}) * ${constant(rate)}`;

/** Place of a present double on the grid as a 64-bit integer: positionOf of policy/grid.ts. */
function placeIn(y: string, grid: PlaceGrid): string {
  const [from, top] = [constant(grid.from), constant(grid.top)];
  const clamped = `CASE WHEN ${y} < ${from} THEN ${from} WHEN ${y} < ${top} THEN ${y} ELSE ${top} END`;
  return `TRY_CAST(${above(clamped, grid)} AS BIGINT)`;
}

/** The place of a double in the least integer that holds all places, NULL where it has none. It cannot fail: a place lies between 0 and the last. */
export function storedPlace(y: string, grid: PlaceGrid): string {
  const type = grid.last < 2 ** 31 ? 'INTEGER' : 'BIGINT';
  return `CASE WHEN ${presentIn(y, grid)} THEN TRY_CAST(${placeIn(y, grid)} AS ${grid.last < 2 ** 15 ? 'SMALLINT' : type}) END`;
}

/** The same as `nameText` of what the cell reads; the first two cases are short cuts. nfc_normalize would stop at a NUL. */
const nameInText = (cell: string): string => {
  const shown = `regexp_replace(nfc_normalize(replace(${cell}, chr(0), '')), '${nameEnds('x')}', '', 'g')`;
  const numbered = `regexp_replace(regexp_replace(${shown}, '${wholeNumber}', '\\1\\2'), '${brokenNumber}', '\\1\\2.\\3')`;
  const plain = `regexp_replace(${numbered}, '${negativeZero}', '0')`;
  return `CASE WHEN regexp_full_match(${cell}, '[!-*/-~](?:[ -+\\-/-~]*[!-+\\-/-~])?') THEN ${cell} WHEN regexp_full_match(${cell}, '[0-9]+\\.0*') THEN split_part(${cell}, '.', 1) ELSE nullif(${plain}, '') END`;
};

function name(cell: string, type: SourceColumn['type']): string {
  if (type === 'integer' || type === 'boolean') return text(cell);
  if (type !== 'real') return nameInText(text(cell));
  const whole = text(`TRY_CAST(${cell} AS HUGEINT)`);
  // In full digits as far as every database has them.
  return `CASE WHEN isnan(${cell}) THEN NULL WHEN ${cell} = trunc(${cell}) AND abs(${cell}) < ${constant(2 ** 124)} THEN ${whole} ELSE ${text(cell)} END`;
}

const blanks = `' ' || chr(9) || chr(13) || chr(10)`;
const real = (x: string): string => `CAST(${x} AS DOUBLE)`;

export const duckdb: Dialect = {
  text,
  real,
  whole: (x) => `CAST(${x} AS BIGINT)`,
  wide: (x) => `CAST(${x} AS HUGEINT)`,
  constant,
  numberIn: (cell, type) => {
    if (type === 'text') return numberInText(cell);
    return type === 'boolean' ? real(cell) : cell;
  },
  numberInText,
  dayInText,
  wholeInText: (cell) => `CASE WHEN regexp_full_match(trim(${cell}), '-?[0-9]{1,15}') THEN TRY_CAST(trim(${cell}) AS BIGINT) END`,
  // Trimming takes many times as long as looking at both ends, and nearly every text has none to trim.
  trimmed: (cell) => `CASE WHEN ord(${cell}) > 32 AND ord(right(${cell}, 1)) > 32 THEN ${cell} ELSE trim(${cell}, ${blanks}) END`,
  // A cast is planned many times as fast as cases, of which a survey would have a thousand.
  codeIn: (cell, codes) => text(`TRY_CAST(trim(${cell}, ' \t\r\n') AS ENUM (${codes.map(quoteText).join(', ')}))`),
  plainDigits: (x) => `CASE WHEN ${x} = trunc(${x}) AND abs(${x}) < ${plainReal} THEN ${text(`TRY_CAST(${x} AS BIGINT)`)} END`,
  presentIn,
  placeIn,
  blocks: {
    // Neither looks at NULL.
    clamp: (whole, low, high) => `least(greatest(${whole}, ${low}), ${high})`,
    unboundedPlace: (real, grid) => `TRY_CAST(${above(real, grid)} AS BIGINT)`,
    // Of NULLs alone it is NULL.
    countWhere: (test) => `coalesce(count_if(${test}), 0)`,
  },
  quotient: (whole, divisor) => `${whole} // ${divisor}`,
  rounded: (x) => `CAST(ROUND(${x}) AS BIGINT)`,
  parts: (list, separator) =>
    `coalesce(list_transform(string_split(${list}, ${separator}), lambda part: trim(part, ${blanks})), CAST([] AS VARCHAR[]))`,
  hasAny: (list, items) => (items.length === 0 ? 'false' : `list_has_any(${list}, [${items.join(', ')}])`),
  once: (name, query) => `${name} AS MATERIALIZED (${query})`,
  bits: (x) => `CASE WHEN NOT isnan(${x}) THEN CAST(CAST(${x} + ${constant(0)} AS BIT) AS BIGINT) END`,
  bytes: (x) => `lower(hex(${x}))`,
  digest: (x) => `md5(${x})`,
  name,
};
