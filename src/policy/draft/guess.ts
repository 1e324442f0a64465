import { codeText } from '../code.js';

/** What is known of one column of the data when a policy is drafted. */
export interface ColumnSummary {
  readonly name: string;
  readonly stored: 'text' | 'integer' | 'real' | 'boolean';
  readonly rows: number;
  /** Cells that are not empty; different values among them; cells that are finite numbers, and fractions among those. */
  readonly filled: number;
  readonly distinct: number;
  readonly numbers: number;
  readonly fractions: number;
  readonly range?: readonly [number, number];
  readonly longest: number;
  readonly dates: number;
  /** Every value, when there are few (`distinct` is then exact; for a column of many values it is an estimate). */
  readonly codes?: readonly string[];
  /** What seems to stand between several answers in one cell, and those answers. */
  readonly separator?: string;
  readonly options?: readonly string[];
  /** The smallest and largest numbers. */
  readonly extremes: readonly number[];
}

/** What a column seems to be. `out` says why it is left out. */
export type Guess =
  | { readonly type: 'category'; readonly values: readonly string[]; readonly missing: readonly string[] }
  | {
      readonly type: 'multi';
      readonly values: readonly string[];
      readonly separator: string;
      readonly missing: readonly string[];
    }
  | {
      readonly type: 'integer' | 'number' | 'weight';
      readonly bounds: readonly [number, number];
      readonly missing: readonly string[];
    }
  | { readonly type: 'out'; readonly why: string };

const mostNumericCodes = 12;
const mostTextCodes = 60;
const mostOptions = 40;
const idName = /id$|^id_|uuid|guid|serial|^case|respondent/i;
const surelyId = /^id$|_id$|^id_|uuid|guid|^case_?id$/i;
const weightName = /weight|^wt|_wt|wgt/i;
const missingWord = /^(na|n\/a|nan|null|\?|\.|-|missing|inapplicable|refused|don'?t know|no answer)$/i;
/** "None" is an answer to many questions, but no number. */
const noNumber = (code: string) => missingWord.test(code) || /^none$/i.test(code);
const sentinel = /^-\d{1,3}$|^(9?9[7-9]|9?99[7-9]|9999[7-9]?|88|888|77|777|66|666)$/;

export function guess(column: ColumnSummary): Guess {
  const { filled, distinct, numbers, codes } = column;
  if (filled === 0) return { type: 'out', why: 'empty' };
  if (distinct <= 1) return { type: 'out', why: 'always the same' };
  const names = { type: 'out', why: 'names a person or a row' } as const;
  if (idName.test(column.name) && distinct > filled / 2) return names;
  if (surelyId.test(column.name) && distinct > mostTextCodes) return names;
  // Whole numbers that never repeat count people, not anything about them.
  if (column.numbers === filled && column.fractions === 0 && filled > 20 && distinct > 0.98 * filled) return names;
  // A word for "no answer" among numbers does not make them text.
  const words = codes?.filter(noNumber).length ?? 0;
  const numeric =
    numbers > 0 &&
    (numbers === filled || (codes ? codes.length - words === codes.filter(isNumber).length : numbers > 0.98 * filled));
  if (numeric && (column.stored === 'real' || column.fractions > 0) && weightName.test(column.name) && column.range![0] >= 0)
    return { type: 'weight', bounds: rounded(column.range!, false), missing: [] };
  if (numeric && distinct - words > mostNumericCodes) return guessNumber(column);
  if (
    column.separator !== undefined &&
    column.options &&
    column.options.length <= mostOptions &&
    !numeric &&
    distinct > column.options.length
  )
    return { type: 'multi', separator: column.separator, values: column.options.map(codeText), missing: [] };
  if (codes && codes.length <= mostTextCodes && (numeric || distinct <= Math.max(12, filled / 5))) return guessCategory(codes);
  if (column.dates > 0.9 * filled) return { type: 'out', why: 'a date or time' };
  return { type: 'out', why: distinct > filled / 2 ? 'free text, or names a person or a row' : 'free text' };
}

const isNumber = (code: string) => code !== '' && Number.isFinite(Number(code));

function guessCategory(codes: readonly string[]): Guess {
  const spelled = [...new Set(codes.map(codeText))];
  const isMissing = (c: string) => missingWord.test(c) || /^-\d{1,3}$/.test(c);
  const values = spelled.filter((c) => !isMissing(c));
  if (values.length === 0) return { type: 'category', values: inOrder(spelled), missing: [] };
  return { type: 'category', values: inOrder(values), missing: inOrder(spelled.filter(isMissing)) };
}

const inOrder = (codes: readonly string[]) =>
  codes.every(isNumber) ? [...codes].sort((a, b) => Number(a) - Number(b)) : [...codes].sort((a, b) => (a < b ? -1 : 1));

/** Codes for "no answer" stand apart from the numbers: negative where the rest is not, or far above the rest. */
function guessNumber(column: ColumnSummary): Guess {
  const ends = column.codes ? column.codes.filter(isNumber).map(Number) : column.extremes;
  const plain = ends.filter((x) => !sentinel.test(String(x)));
  const top = Math.max(...plain);
  const negativeOnlyCodes = ends.every((x) => x >= 0 || sentinel.test(String(x))) && ends.filter((x) => x < 0).length <= 9;
  const apart = (x: number) => sentinel.test(String(x)) && (x < 0 ? negativeOnlyCodes : x > 1.05 * top + 1 && x >= 66);
  const whole = column.fractions === 0;
  const missing = plain.length > 0 && whole ? ends.filter(apart) : [];
  const rest = ends.filter((x) => !missing.includes(x));
  const words = column.codes?.filter(noNumber) ?? [];
  const bounds = rounded([Math.min(...rest), Math.max(...rest)], whole);
  return {
    type: whole ? 'integer' : 'number',
    bounds,
    missing: [...new Set(missing)]
      .sort((a, b) => a - b)
      .map(String)
      .concat(words),
  };
}

/** Outward to a round number, so that no one's exact value becomes a bound. */
function rounded([low, high]: readonly [number, number], whole: boolean): readonly [number, number] {
  const width = Math.max(high - low, Math.abs(high) * 1e-9, Number.MIN_VALUE * 1e6);
  const unit = 10 ** Math.floor(Math.log10(width)) / 2;
  const step = whole ? Math.max(1, Math.round(unit)) : unit;
  const tidy = (x: number) => Number(x.toPrecision(12));
  const bottom = tidy(Math.floor(low / step) * step);
  const least = low >= 0 ? Math.max(0, bottom) : bottom;
  const most = tidy(Math.ceil(high / step) * step);
  return most > least ? [least, most] : [least, tidy(least + step)];
}
