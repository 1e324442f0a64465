import type { Expr, ExprCall } from 'pgsql-ast-parser';
import { Fault } from '../../base/errors.js';
import { daysOf, isoDay } from '../../policy/date-text.js';
import { type DatePart, type DateUnit, dateUnits } from '../calendar.js';
import type { Expression } from '../form.js';
import { refuse, type SqlText } from './refuse.js';

/** Names of date parts in databases. DOW counts Sunday as 0. */
const parts: Readonly<Record<string, DatePart | 'dow'>> = {
  year: 'year',
  quarter: 'quarter',
  month: 'month',
  day: 'day',
  dayofmonth: 'day',
  dow: 'dow',
  dayofweek: 'dow',
  isodow: 'weekday',
  weekday: 'dow',
  doy: 'yearday',
  dayofyear: 'yearday',
};
export const dateWords = [...Object.keys(parts), 'date_part', 'datepart', 'date_trunc', 'date_diff', 'datediff'];

const partOf = (word: string, of: Expression): Expression | undefined => {
  if (!Object.hasOwn(parts, word)) return undefined;
  const op = parts[word]!;
  return op === 'dow' ? { op: '%', of: [{ op: 'weekday', of: [of] }, 7] } : { op, of: [of] };
};

function textIn(expr: Expr | undefined): string | undefined {
  if (expr?.type === 'string') return expr.value.toLowerCase();
  return expr?.type === 'ref' ? expr.name.toLowerCase() : undefined;
}

/** EXTRACT(YEAR FROM d), YEAR(d), DATE_PART('year', d), DATE_TRUNC('month', d), DATE_DIFF('day', a, b); undefined for other expressions. */
export function datePart(expr: Expr, own: (part: Expr) => Expression): Expression | undefined {
  if (expr.type === 'extract') return partOf(expr.field.name.toLowerCase(), own(expr.from));
  return expr.type === 'call' ? ofCall(expr, own) : undefined;
}

function ofCall({ function: { name }, args: [first, second, third] }: ExprCall, own: (part: Expr) => Expression) {
  const word = name.toLowerCase();
  if (first && !second) return partOf(word, own(first));
  const unit = textIn(first);
  if (unit === undefined || !second) return undefined;
  if (!third && (word === 'date_part' || word === 'datepart')) return partOf(unit, own(second));
  if (!third && word === 'date_trunc' && dateUnits.includes(unit as DateUnit))
    return { op: 'trunc', to: unit as DateUnit, of: [own(second)] } as const;
  if (third && (word === 'date_diff' || word === 'datediff') && unit === 'day')
    return { op: '-', of: [own(third), own(second)] } as const;
  return undefined;
}

/** DATE '2024-12-31', and so many days before or after it, as text. */
export function dateLiteral(expr: Expr): string | undefined {
  if (expr.type === 'cast' && isDateType(expr.to))
    return expr.operand.type === 'string' && daysOf(expr.operand.value) !== undefined
      ? expr.operand.value
      : dateLiteral(expr.operand);
  if (expr.type !== 'binary' || (expr.op !== '+' && expr.op !== '-')) return undefined;
  const moved = (from: Expr, by: number | undefined): string | undefined => {
    const date = by === undefined ? undefined : dateLiteral(from);
    return date === undefined ? undefined : isoDay(daysOf(date)! + by!);
  };
  const days = intervalDays(expr.right);
  if (expr.op === '-') return moved(expr.left, days === undefined ? undefined : -days);
  return days === undefined ? moved(expr.right, intervalDays(expr.left)) : moved(expr.left, days);
}

/** INTERVAL '30 days', INTERVAL '2 weeks' or a whole number; undefined for intervals without a fixed number of days. */
function intervalDays(expr: Expr): number | undefined {
  if (expr.type === 'integer') return expr.value;
  if (expr.type !== 'cast' || !isInterval(expr) || expr.operand.type !== 'string') return undefined;
  const [, count, unit] = /^\s*(\d{1,6})\s*(days?|weeks?)\s*$/i.exec(expr.operand.value) ?? [];
  return count === undefined ? undefined : Number(count) * (/^w/i.test(unit!) ? 7 : 1);
}
const isInterval = (expr: Expr): boolean => expr.type === 'cast' && /^interval$/i.test(nameOf(expr.to));
const nameOf = (to: { readonly kind?: string | undefined; readonly name?: string }): string => to.name ?? '';

/** Number of days of a date or interval in a calculation; a fault where the interval has none. Undefined for anything else. */
export function daysIn(sql: SqlText, expr: Expr): number | undefined {
  const date = dateLiteral(expr);
  if (date !== undefined) return daysOf(date);
  if (isInterval(expr)) {
    const days = intervalDays(expr);
    if (days !== undefined) return days;
    throw refuse(
      sql,
      'this INTERVAL',
      expr,
      "Write days or weeks: INTERVAL '30 days'. Months and years have no fixed number of days: DATE_TRUNC('month', day).",
    );
  }
  if (expr.type === 'cast' && isDateType(expr.to) && expr.operand.type === 'string')
    throw new Fault(
      'QUERY_INVALID',
      `DATE is followed by something that is no date (${sql.at(expr)}).`,
      "Write year, month and day: DATE '2024-12-31'.",
    );
  if (isNow(expr))
    throw refuse(
      sql,
      'the date of today',
      expr,
      "Write the date out, so that the same question has the same answer: DATE '2024-12-31'.",
    );
  return undefined;
}
const isNow = (expr: Expr): boolean =>
  (expr.type === 'keyword' && /^(current_date|current_timestamp|localtimestamp)$/i.test(expr.keyword)) ||
  (expr.type === 'call' && /^(now|today|current_date|getdate|current_timestamp|localtimestamp)$/i.test(expr.function.name));

export const isDateType = (to: { readonly kind?: string | undefined; readonly name?: string }): boolean =>
  /^(date|timestamp)$/i.test(to.name ?? '');
