/**
 * Pattern of a date, for every reader of a cell: an ISO 8601 calendar day; surrounding blanks and a time after it are ignored.
 * Databases match the same pattern, then check the day.
 */
const year = '([1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])';
export const datePattern = `${year}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])([ T][0-9:.,+Z -]{0,40})?`;

const whole = new RegExp(`^${datePattern}$`);
const oneDay = 86_400_000;

/** Days from 1970-01-01 to the date in a text; undefined if it is not a date. */
export function daysOf(text: string): number | undefined {
  const found = whole.exec(text.trim());
  if (!found) return undefined;
  const date = dayAt(Number(found[1]), Number(found[2]), Number(found[3]));
  return isoDay(date) === text.trim().slice(0, 10) ? date : undefined;
}

/** Day at a number of months and days after the beginning of a year, possibly beyond its end. */
export function dayAt(year: number, month = 1, day = 1): number {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date.getTime() / oneDay;
}

export const isoDay = (days: number): string => {
  const { year, month, day } = calendarOf(days);
  return `${`${year}`.padStart(4, '0')}-${two(month)}-${two(day)}`;
};
const two = (n: number): string => `${n}`.padStart(2, '0');

export function calendarOf(days: number): { readonly year: number; readonly month: number; readonly day: number } {
  const date = new Date(days * oneDay);
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() };
}
