import { Fault } from '../base/errors.js';
import { compare, floor, one, rational } from '../base/exact/rational.js';
import { calendarOf, dayAt, isoDay } from '../policy/date-text.js';
import type { IntegerExpression } from './count/derived.js';
import type { Quantity } from './quantity.js';
import * as quantity from './quantity.js';

export const dateParts = ['year', 'quarter', 'month', 'day', 'weekday', 'yearday'] as const;
export type DatePart = (typeof dateParts)[number];
export const dateUnits = ['year', 'quarter', 'month', 'week', 'day'] as const;
export type DateUnit = (typeof dateUnits)[number];

/** First days of the unit that holds a day and of the next unit; weeks begin on Monday. */
const unitStart: Readonly<Record<DateUnit, (day: number, later?: 0 | 1) => number>> = {
  year: (day, later = 0) => dayAt(calendarOf(day).year + later),
  quarter: (day, later = 0) => {
    const { year, month } = calendarOf(day);
    return dayAt(year, month - ((month - 1) % 3) + 3 * later);
  },
  month: (day, later = 0) => {
    const { year, month } = calendarOf(day);
    return dayAt(year, month + later);
  },
  week: (day, later = 0) => day - remainder(day + 3, 7) + 7 * later,
  day: (day, later = 0) => day + later,
};
const remainder = (x: number, by: number): number => ((x % by) + by) % by;

/** Most date units in one expression; with more, the statement would be as long as the data. */
const maxUnits = 5_000;

/** Whole number of days, and the first days of all units in which it may lie. */
function unitStarts(date: Quantity, by: DateUnit): { readonly firsts: readonly number[]; readonly offset: number } {
  const { offset, scale, low, high } = date;
  if (compare(scale, one) !== 0 || offset.den !== 1n)
    throw new Fault('QUERY_UNSUPPORTED', 'Only dates have parts of dates.', 'Name a column that is declared with type: date.');
  const at = (n: bigint) => Number(floor(offset) + n);
  const firsts: number[] = [];
  for (let first = unitStart[by](at(low)); first <= at(high); first = unitStart[by](first, 1)) {
    if (firsts.length === maxUnits)
      throw new Fault(
        'QUERY_UNSUPPORTED',
        `The bounds of this date hold more than ${maxUnits} times a ${by}.`,
        `Declare narrower bounds, or ask for a longer stretch than a ${by}.`,
      );
    firsts.push(first);
  }
  return { firsts, offset: Number(floor(offset)) };
}

/** Value for each day that depends on its date unit only. */
function valueByUnit(date: Quantity, by: DateUnit, value: (first: number, index: number) => number): IntegerExpression {
  const { firsts, offset } = unitStarts(date, by);
  const values = firsts.map(value);
  if (values.length === 1)
    return { kind: 'sum', of: [quantity.scaleQuantity(date, rational(0)).of, { kind: 'constant', value: values[0]! }] };
  return { kind: 'pick', of: date.of, edges: firsts.slice(1).map((first) => first - offset), values };
}

/** A part of a date: a whole number whose bounds follow from those of the date (query/count/derived.proof.md). */
export function extractDatePart(date: Quantity, part: DatePart): Quantity {
  const wholeNumber = (of: IntegerExpression, low: number, high: number): Quantity => ({
    of,
    offset: rational(0),
    scale: rational(1),
    low: BigInt(low),
    high: BigInt(high),
  });
  const { firsts, offset } = unitStarts(date, part === 'quarter' || part === 'month' ? part : 'year');
  switch (part) {
    case 'year': {
      const years = firsts.map((first) => calendarOf(first).year);
      return wholeNumber(
        valueByUnit(date, 'year', (first) => calendarOf(first).year),
        years[0]!,
        years.at(-1)!,
      );
    }
    case 'quarter':
      return wholeNumber(
        valueByUnit(date, 'quarter', (first) => Math.ceil(calendarOf(first).month / 3)),
        1,
        4,
      );
    case 'month':
      return wholeNumber(
        valueByUnit(date, 'month', (first) => calendarOf(first).month),
        1,
        12,
      );
    case 'weekday': {
      // 1970-01-01 was a Thursday; Monday is 1.
      const since = quantity.addQuantities(
        date,
        quantity.constantQuantity(rational(3 - 7 * Math.floor((offset + Number(date.low) + 3) / 7))),
      );
      return quantity.addQuantities(quantity.remainderQuantity(since, rational(7)), quantity.constantQuantity(rational(1)));
    }
    default: {
      // Day 1 to 31 of its month, or 1 to 366 of its year, whatever interval arithmetic gives for the sum.
      const before = valueByUnit(date, part === 'day' ? 'month' : 'year', (first) => 1 - (first - offset));
      return wholeNumber({ kind: 'sum', of: [date.of, before] }, 1, part === 'day' ? 31 : 366);
    }
  }
}

/** First day of the year, quarter, month or week of a date: one label each. */
export function truncateDate(
  date: Quantity,
  by: DateUnit,
  most: number,
): { readonly place: IntegerExpression; readonly labels: readonly string[] } {
  const { firsts } = unitStarts(date, by);
  if (firsts.length > most)
    throw new Fault(
      'QUERY_UNSUPPORTED',
      `The bounds of this date hold ${firsts.length} times a ${by}: more groups than ${most}.`,
      `Declare narrower bounds, or ask for a longer stretch than a ${by}.`,
    );
  return { place: valueByUnit(date, by, (_, index) => index), labels: firsts.map(isoDay) };
}
