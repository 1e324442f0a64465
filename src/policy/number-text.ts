/**
 * What text is a number, for every reader of a cell: digits with at most one point among them, perhaps a sign before and a power of ten behind; blanks
 * around it do not count. JavaScript and the database match this very pattern, and both turn what it admits into the nearest double (number-text.test.ts),
 * so a text is the same number, or none, wherever it is read. Too large for a double is an infinity, which is no answer.
 */
const patternWith = (mark: string, power = '[0-9]+'): string =>
  `[ \\t\\n\\v\\f\\r]*[+-]?(?:[0-9]+(?:${mark}[0-9]*)?|${mark}[0-9]+)(?:[eE][+-]?${power})?[ \\t\\n\\v\\f\\r]*`;

/** What stands before the fraction: where it is a comma, a text with a point is no number, because that point may stand between thousands. */
export type DecimalMark = '.' | ',';
export const numberPatterns: Readonly<Record<DecimalMark, string>> = { '.': patternWith('\\.'), ',': patternWith(',') };
/** The part of the grammar with powers of ten of this form. */
export const numberPatternWith = (mark: DecimalMark, power: string): string => patternWith(mark === '.' ? '\\.' : ',', power);

const whole = { '.': new RegExp(`^${numberPatterns['.']}$`), ',': new RegExp(`^${numberPatterns[',']}$`) } as const;

/** The number a text says; NaN when it says none ("", "0x10", "1_000", "inf"). */
export const numberFromText = (text: string, mark: DecimalMark = '.'): number =>
  whole[mark].test(text) ? Number(mark === ',' ? text.replace(',', '.') : text) : Number.NaN;
