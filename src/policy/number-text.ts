/**
 * Pattern of a number, for every reader of a cell; blanks around it are ignored. JavaScript and databases share it and round to
 * the nearest double, so they agree (number-text.test.ts). Overflow is an infinity: no answer.
 */
const patternWith = (mark: string, power = '[0-9]+'): string =>
  `[ \\t\\n\\v\\f\\r]*[+-]?(?:[0-9]+(?:${mark}[0-9]*)?|${mark}[0-9]+)(?:[eE][+-]?${power})?[ \\t\\n\\v\\f\\r]*`;

/** Decimal mark. With a comma, a text that has a point is not a number, since the point may separate thousands. */
export type DecimalMark = '.' | ',';
export const numberPatterns: Readonly<Record<DecimalMark, string>> = { '.': patternWith('\\.'), ',': patternWith(',') };
/** The part of the grammar with powers of ten of this form. */
export const numberPatternWith = (mark: DecimalMark, power: string): string => patternWith(mark === '.' ? '\\.' : ',', power);

const whole = { '.': new RegExp(`^${numberPatterns['.']}$`), ',': new RegExp(`^${numberPatterns[',']}$`) } as const;

/** Number in a text; NaN if it is not one ("", "0x10", "1_000", "inf"). */
export const numberFromText = (text: string, mark: DecimalMark = '.'): number =>
  whole[mark].test(text) ? Number(mark === ',' ? text.replace(',', '.') : text) : Number.NaN;
