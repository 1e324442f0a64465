/**
 * What text is a number, for every reader of a cell: digits with at most one point among them, perhaps a sign before and a power of ten behind; blanks
 * around it do not count. JavaScript and the database match this very pattern, and both turn what it admits into the nearest double (number-text.test.ts),
 * so a text is the same number, or none, wherever it is read. Too large for a double is an infinity, which is no answer.
 */
export const numberPattern = '[ \\t\\n\\v\\f\\r]*[+-]?(?:[0-9]+(?:\\.[0-9]*)?|\\.[0-9]+)(?:[eE][+-]?[0-9]+)?[ \\t\\n\\v\\f\\r]*';

const whole = new RegExp(`^${numberPattern}$`);

/** The number a text says; NaN when it says none ("", "0x10", "1_000", "inf"). */
export const numberFromText = (text: string): number => (whole.test(text) ? Number(text) : Number.NaN);
