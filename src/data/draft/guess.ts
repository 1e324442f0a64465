import { codeText } from '../../policy/code.js';
import { isDesignName, isDeviceName, isIdName, isPersonalName, isTimingName } from '../../policy/column-name.js';
import { type DecimalMark, numberFromText } from '../../policy/number-text.js';
import { guessDate } from './date.js';
import { isFreeText, isPeople, type Texts } from './free-text.js';
import { foundGroups } from './groups.js';
import { isMissingWord } from './missing-word.js';

export interface ColumnSummary {
  readonly name: string;
  readonly stored: 'text' | 'integer' | 'real' | 'boolean';
  readonly rows: number;
  /** Cells that are not empty; different values among them; cells that are finite numbers, and fractions among those. */
  readonly filled: number;
  readonly distinct: number;
  /** Values that occur in one cell only, and the cells of the most frequent value. */
  readonly once: number;
  readonly most: number;
  /** Stretches of equal cells, from top to bottom. */
  readonly runs: number;
  readonly numbers: number;
  readonly fractions: number;
  readonly range?: readonly [number, number];
  readonly longest: number;
  /** Most words in a cell that is not a number. */
  readonly wordiest: number;
  readonly dates: number;
  /** Cells that are days as a policy writes them, and the first and the last of these. */
  readonly days?: { readonly cells: number; readonly first: number; readonly last: number };
  /** Cells that are addresses or names of machines, or of people: IP, mail, web, a browser, an operating system. */
  readonly addresses: number;
  /** Cells with telephones, accounts, postcodes, streets: texts that identify a person or a place. */
  readonly personal: number;
  /** Form of its whole numbers: the length that nearly all share, how many begin with a zero, how many are years. */
  readonly numbering: { readonly length?: number; readonly noughts: number; readonly years: number };
  /** Cells that are numbers with four or more decimals. */
  readonly precise: number;
  /** Decimal mark with which its texts were parsed. */
  readonly mark?: DecimalMark;
  /** Cells that are numbers with a comma for a point. */
  readonly commas: number;
  /** Those whose comma cannot stand between thousands; and cells whose point can. */
  readonly plainCommas: number;
  readonly thousands: number;
  /** Cells that are numbers with commas or blanks between thousands, a currency or a percent sign. */
  readonly dressed: number;
  /**
   * For few different whole numbers: gaps between frequent values, and the share
   * of rows with a multiple of five, which people prefer when they estimate.
   */
  readonly spacing?: { readonly holes: number; readonly fives: number };
  /** Every value, when there are few (`distinct` is then exact; for a column of many values it is an estimate). */
  readonly codes?: readonly string[];
  readonly texts?: Texts;
  /** Likely separator of several answers in one cell, and those answers. */
  readonly separator?: string;
  readonly options?: readonly string[];
  readonly optionTexts?: Texts;
  readonly extremes: readonly number[];
}

/** Guessed role of a column. `out` gives the reason for leaving it out. */
export type Guess =
  | {
      readonly type: 'category';
      readonly values: readonly string[];
      readonly missing: readonly string[];
      readonly unlisted?: number;
      /** Many whole numbers that were taken for codes: the bounds they would have as a measure. */
      readonly orBounds?: readonly [number, number];
    }
  | {
      readonly type: 'multi';
      readonly values: readonly string[];
      readonly separator: string;
      readonly missing: readonly string[];
      /** Free-text values, which are not listed. */
      readonly unlisted?: number;
    }
  | {
      readonly type: 'integer' | 'number' | 'weight';
      readonly bounds: readonly [number, number];
      readonly missing: readonly string[];
    }
  | { readonly type: 'date'; readonly bounds: readonly [string, string]; readonly missing: readonly [] }
  | { readonly type: 'out'; readonly is: LeftOutReason; readonly why: string };

export type LeftOutReason =
  | 'empty'
  | 'id'
  | 'group'
  | 'timing'
  | 'device'
  | 'design'
  | 'date'
  | 'person'
  | 'free text'
  | 'commas'
  | 'dressed'
  | 'not asked for';

/** Knowledge that overrides guesses. */
export interface DraftKnowledge {
  /** Codes that mean "no answer" in every column; no others do. */
  readonly missing?: ReadonlySet<string>;
  /** Columns requested by name: a requested timing is a number, a requested non-unique key is an answer. */
  readonly wanted?: ReadonlySet<string>;
  /** Numeric columns that look like survey weights but are not. */
  readonly noWeights?: ReadonlySet<string>;
  /** Body weights, by their names or by a body height among the columns. */
  readonly bodies?: ReadonlySet<string>;
  /** Other columns have decimal commas, so that a point may stand between thousands. */
  readonly commas?: boolean;
  /** Columns that are parts of a date of birth, and what they are together. */
  readonly born?: ReadonlyMap<string, string>;
  /** Latitudes and longitudes, found as pairs of columns. */
  readonly coordinates?: ReadonlySet<string>;
}

const maxNumericCodes = 12;
const maxTextCodes = 60;
const maxOptions = 40;
/** A policy has no more steps between bounds (columns.ts). */
const maxSteps = 2 ** 31;
const idName = /id$|^id_|uuid|guid|serial|^case|respondent/i;
/** A name that ends or begins as names of identifiers do; `paid` does, too. */
export const isIdLike = (name: string): boolean => idName.test(name) && !/(paid|said|avoid|covid|aid|android|valid)$/i.test(name);
const weightName = /weight|^wt|_wt|wgt|^w\d*$|^(db090|rb050|pw|[hp]hrf|hrf)$|(^|_)gew(icht(ung)?)?$/i;
/** Of whole numbers: a weight in kilograms is an answer. */
const wholeWeightName = /wgt/i;
const bodyName = /(^|[_.\s-])(body|birth|k(ilo)?gs?|lbs?|pounds?|k(ö|oe)rper|geburts)/i;
const bodyCompanion =
  /(^|[_.\s-])(height|bmi|waist|body|k(ö|oe)rper\w*|gr(ö|oe)(ß|ss)e|taille)([_.\s-]?(cm|m|in))?([_.\s-]|\d|$)/i;

/**
 * A body weight is an answer; a survey weight, which often has the same
 * name, is not. A survey that measures body weight also measures height.
 */
export function bodiesIn(columns: readonly ColumnSummary[]): ReadonlySet<string> {
  const measured = columns.some(({ name, range }) => bodyCompanion.test(name) && range !== undefined);
  const plain = /^(body[_.\s-]?)?(weight|gewicht)([_.\s-]?(kgs?|lbs?|\d))?$/i;
  const isBody = ({ name, range }: ColumnSummary) =>
    weightName.test(name) && (bodyName.test(name) || (measured && plain.test(name) && range !== undefined && range[0] >= 1));
  return new Set(columns.filter(isBody).map(({ name }) => name));
}

/** "None" is an answer to many questions, but no number. */
const noNumber = (code: string) => isMissingWord(code) || /^none$/i.test(code);
const sentinel = /^-\d{1,3}$|^(9?9[7-9]|9?99[7-9]|9999[7-9]?|88|888|77|777|66|666)$/;

const out = (is: LeftOutReason, why: string): Guess => ({ type: 'out', is, why });

/**
 * True if the data uses decimal commas: some column does, and none has points that cannot separate thousands,
 * so no number would be misread. If points may separate thousands, a comma that may do so too is no evidence.
 */
export const hasDecimalCommas = (columns: readonly ColumnSummary[]): boolean =>
  hasCommas(columns) &&
  columns.every(({ stored, fractions, thousands }) => stored !== 'text' || fractions <= thousands) &&
  (columns.every(({ thousands }) => thousands === 0) ||
    columns.some((column) => column.plainCommas > 0 && isCommas(guess(column))));
export const hasCommas = (columns: readonly ColumnSummary[]): boolean =>
  columns.some((column) => (column.mark === ',' && column.fractions > 0) || isCommas(guess(column)));
const isCommas = (result: Guess): boolean => result.type === 'out' && result.is === 'commas';

/** A column at first sight: whether it was asked for and is numeric, and how many words for "no answer" are among its codes. */
interface Sight {
  readonly wanted: boolean;
  readonly numeric: boolean;
  readonly words: number;
}

export function guess(column: ColumnSummary, known: DraftKnowledge = {}): Guess {
  const { name, filled, distinct, numbers, codes } = column;
  if (filled === 0) return out('empty', 'empty');
  if (distinct <= 1) return out('empty', 'always the same');
  const wanted = known.wanted?.has(name) === true;
  // A word for "no answer" among numbers does not make them text.
  const words = codes?.filter(noNumber).length ?? 0;
  const numeric =
    numbers > 0 &&
    (numbers === filled ||
      (codes ? codes.length - words === codes.filter((c) => isNumberText(c, column.mark)).length : numbers > 0.98 * filled));
  const sight = { wanted, numeric, words };
  return guessRole(column, known, sight) ?? guessAnswers(column, known, sight);
}

/** Columns that say something other than an answer, by name or form. */
function guessRole(column: ColumnSummary, known: DraftKnowledge, { wanted, numeric, words }: Sight): Guess | undefined {
  const { name, filled, distinct, numbers } = column;
  if (numeric && !wanted && isTimingName(name) && (column.fractions > 0 || distinct - words > maxNumericCodes))
    return out('timing', 'a timing');
  if (!wanted && (isDeviceName(name) || column.addresses > filled / 2)) return out('device', 'about a device, or an address');
  const born = wanted ? undefined : known.born?.get(name);
  if (born !== undefined) return out('person', born);
  if (!wanted && isPersonalName(name) && distinct - words > maxNumericCodes)
    return out('person', 'says who or where somebody is');
  if (!wanted && isDesignName(name)) return out('design', 'how the sample was drawn');
  if (column.dressed > 0 && column.dressed + numbers > 0.9 * filled && distinct > maxNumericCodes)
    return out('dressed', 'numbers with signs between thousands, a currency or %: write 1234.5');
  const groups = wanted ? undefined : foundGroups(column);
  if (groups?.sure) return out('group', 'names a group of rows');
  if (isBetweenThousands(column, known))
    return out('commas', 'points that may stand between thousands, where others have decimal commas');
  if (groups && numeric && !isMeasure(column)) return out('group', 'may name a group of rows');
  const names = out('id', 'names a person or a row');
  if (idName.test(name) && distinct > filled / 2) return names;
  if ((isIdName(name) || (isIdLike(name) && column.fractions === 0 && !isMeasure(column))) && distinct > maxTextCodes)
    return names;
  // Whole numbers that never repeat count people, not anything about them.
  if (column.numbers === filled && column.fractions === 0 && filled > 20 && distinct > 0.98 * filled && !moneyName.test(name))
    return names;
  if (column.personal + column.addresses > filled / 20) return out('person', 'telephones, accounts, postcodes or addresses');
  if (!wanted && known.coordinates?.has(name)) return out('person', 'where somebody is');
  return undefined;
}

function guessAnswers(column: ColumnSummary, known: DraftKnowledge, { wanted, numeric, words }: Sight): Guess {
  const { name, filled, distinct, numbers, codes } = column;
  if (
    numeric &&
    (column.stored === 'real' || column.fractions > 0 ? weightName : wholeWeightName).test(name) &&
    distinct - words > 1 &&
    !known.noWeights?.has(name) &&
    !known.bodies?.has(name) &&
    column.range![0] >= 0
  )
    return { type: 'weight', bounds: rounded(column.range!, false), missing: [] };
  const isMany = distinct - words > maxNumericCodes;
  if (numeric && !wanted && isNumbering(column, isMany ? shortest : shortestOfFew))
    return out('person', 'numbers of one length, as postcodes, telephones and dates have');
  if (numeric && isMany) return hasHoles(column) ? guessCodes(column, known) : guessNumber(column, known);
  if (column.commas > 0.9 * (filled - numbers) && distinct > maxNumericCodes)
    return out('commas', 'numbers with decimal commas, where others have points or stand between thousands');
  if (
    column.separator !== undefined &&
    column.options &&
    column.options.length <= maxOptions &&
    !isFreeText(column.optionTexts!) &&
    !isPeople(column.optionTexts!) &&
    !numeric &&
    distinct > column.options.length
  )
    return { type: 'multi', separator: column.separator, missing: [], ...listed(column.options, column.optionTexts!) };
  if (column.dates > filled / 20) return guessDate(column, wanted);
  if (!wanted && column.texts && isPeople(column.texts)) return out('person', 'names of people');
  if (codes && codes.length <= maxTextCodes && (numeric || (distinct <= Math.max(12, filled / 5) && !isFreeText(column.texts!))))
    return guessCategory(codes, known, column.mark, numeric ? undefined : column.texts);
  return out('free text', distinct > filled / 2 ? 'free text, or names a person or a row' : 'free text');
}

const isNumberText = (code: string, mark: DecimalMark = '.') => Number.isFinite(numberFromText(code, mark));

function listed(
  codes: readonly string[],
  { own = [] }: Texts,
): { readonly values: readonly string[]; readonly unlisted?: number } {
  const values = [...new Set(codes.map(codeText))].filter((code) => !own.includes(code));
  return { values, ...(own.length > 0 && { unlisted: own.length }) };
}

/** `1.234` in a file with decimal commas is most likely a thousand, and never to be read as one and a bit. */
const isBetweenThousands = (
  { mark, thousands, fractions, filled, numbers }: ColumnSummary,
  { commas }: DraftKnowledge,
): boolean => thousands > 0 && (mark === ',' ? 2 * thousands >= filled - numbers : commas === true && thousands >= fractions);

/**
 * True for identifiers (postcodes, telephones, accounts, 19840523): numbers of one length, or with leading zeros.
 * Measures vary in length, are often multiples of ten, or are named as such; years and a few short numbers do not count.
 */
function isNumbering(column: ColumnSummary, fewest: number): boolean {
  const { length = 0, noughts, years } = column.numbering;
  if (column.fractions > 0 || column.longest < fewest || years > 0.8 * column.filled) return false;
  if (noughts > column.filled / 20) return true;
  return length >= fewest && (length >= 7 ? !isRound(column, 1000) : !isMeasure(column));
}
const [shortest, shortestOfFew] = [4, 5];

/** Anywhere in a file. */
const axisName = /(^|[_.\s-])[xy]([_.\s-]?(pos|coord\w*|wgs\w*|\d))?$|^(x|y)[_.\s-]?(pos|coord)/i;

/**
 * Two adjacent columns, or two called x and y, that may be latitude and longitude:
 * four decimals and more, within the globe, and not both near zero as scores are.
 */
export function coordinatesIn(columns: readonly ColumnSummary[]): ReadonlySet<string> {
  const found = new Set<string>();
  const within = ({ range }: ColumnSummary, most: number) => range![0] >= -most && range![1] <= most;
  const far = ({ range }: ColumnSummary) => Math.max(Math.abs(range![0]), Math.abs(range![1])) > 10;
  const isFine = (c: ColumnSummary) =>
    c.range !== undefined && c.numbers === c.filled && c.precise > 0.8 * c.filled && c.distinct > maxNumericCodes && !weightName.test(c.name) && !measureName.test(c.name); // biome-ignore format: one line
  const named = columns.filter((c) => axisName.test(c.name) && isFine(c));
  const adjacent = columns.flatMap((a, k) => (columns[k + 1] ? [[a, columns[k + 1]!] as const] : []));
  const axes = named.flatMap((a, k) => named.slice(k + 1).map((b) => [a, b] as const));
  for (const [a, b] of [...adjacent, ...axes]) {
    if (!isFine(a) || !isFine(b) || a.filled !== b.filled) continue;
    const globe = (within(a, 90) && within(b, 180)) || (within(a, 180) && within(b, 90));
    if (globe && (far(a) || far(b))) found.add(a.name).add(b.name);
  }
  return found;
}

const measureName =
  /age$|^age|alter|income|earn|salary|wage|pay|einkommen|gehalt|lohn|revenu|salaire|rent|miete|loyer|price|cost|amount|betrag|expens|spen[dt]|hours|minutes|days|stunden|year|jahr|score|steps|weight|height|size|wgt|calor|dist|km$/i;
/** Of incomes to the cent or the unit no two are alike. */
const moneyName =
  /(^|[_.\s-])(hh|pers)?(inc(ome)?|earnings?|salary|wages?|einkommen|gehalt|lohn|revenus?|salaire|rent|miete|price|costs?|amount)([_.\s-]|\d|$)/i;
/** By its name, or because it is counted in tens. */
const isMeasure = (column: ColumnSummary): boolean => measureName.test(column.name) || isRound(column, 10);
const isRound = ({ extremes }: ColumnSummary, unit: number): boolean =>
  extremes.filter((x) => !sentinel.test(String(x))).every((x) => x % unit === 0);

function guessCategory(
  codes: readonly string[],
  known: DraftKnowledge,
  mark: DecimalMark = '.',
  texts: Texts | undefined,
): Guess {
  const { values: spelled, unlisted } = texts ? listed(codes, texts) : { values: [...new Set(codes.map(codeText))] };
  const inOrder = orderBy(mark);
  // 77, 88 or 99 after answers that end at 7.
  const top = Math.max(...spelled.filter((c) => isNumberText(c, mark) && !sentinel.test(c)).map((c) => numberFromText(c, mark)));
  const isOutlier = (c: string) => sentinel.test(c) && Number(c) > 2 * top + 20;
  const isMissing = (c: string) => known.missing?.has(c) ?? (isMissingWord(c) || /^-\d{1,3}$/.test(c) || isOutlier(c));
  const values = spelled.filter((c) => !isMissing(c));
  if (values.length === 0) return { type: 'category', values: inOrder(spelled), missing: [] };
  return {
    type: 'category',
    values: inOrder(values),
    missing: inOrder(spelled.filter(isMissing)),
    ...(unlisted !== undefined && { unlisted }),
  };
}

/** True if frequent numbers have more gaps than a measure would by chance: hours of 38 and 40 never come without 39. */
const hasHoles = (column: ColumnSummary): boolean => {
  const { holes, fives } = column.spacing ?? { holes: 0, fives: 1 };
  return (
    holes >= Math.max(3, column.distinct / 15) && fives < 0.4 && column.numbering.years < column.filled / 2 && !isMeasure(column)
  );
};

function guessCodes(column: ColumnSummary, known: DraftKnowledge): Guess {
  const result = guessCategory(column.codes!, known, column.mark, undefined);
  const number = guessNumber(column, known);
  return result.type === 'category' && (number.type === 'integer' || number.type === 'number')
    ? { ...result, orBounds: number.bounds }
    : result;
}

const orderBy = (mark: DecimalMark) => (codes: readonly string[]) =>
  codes.every((code) => isNumberText(code, mark))
    ? [...codes].sort((a, b) => numberFromText(a, mark) - numberFromText(b, mark))
    : [...codes].sort((a, b) => (a < b ? -1 : 1));

/** Codes for "no answer" are separated from the numbers: negative if the rest is not, or far above the rest. */
function guessNumber(column: ColumnSummary, known: DraftKnowledge): Guess {
  const ends = column.codes?.map((code) => numberFromText(code, column.mark)).filter(Number.isFinite) ?? column.extremes;
  const plain = ends.filter((x) => !sentinel.test(String(x)));
  const top = Math.max(...plain);
  const negativeOnlyCodes = ends.every((x) => x >= 0 || sentinel.test(String(x))) && ends.filter((x) => x < 0).length <= 9;
  const isOutlier = (x: number) => sentinel.test(String(x)) && (x < 0 ? negativeOnlyCodes : x > 1.05 * top + 1 && x >= 66);
  const whole = column.fractions === 0;
  const isMissing = (x: number) => known.missing?.has(String(x)) ?? (plain.length > 0 && whole && isOutlier(x));
  const missing = ends.filter(isMissing);
  const kept = ends.filter((x) => !missing.includes(x));
  const rest = kept.length > 0 ? kept : ends;
  const words = column.codes?.filter(noNumber) ?? [];
  const bounds = rounded([Math.min(...rest), Math.max(...rest)], whole);
  // Telephones, articles, accounts: no integer of a policy is that wide.
  if (whole && bounds[1] - bounds[0] > maxSteps) return out('id', 'names a person or a thing');
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
