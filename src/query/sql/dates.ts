import type { Expr, ExprCall } from 'pgsql-ast-parser';
import { daysOf } from '../../policy/date-text.js';
import { type DatePart, type DateStretch, dateStretches } from '../calendar.js';
import type { Expression } from '../form.js';

/** What databases call the parts of a date. Sunday is 0 for those who ask for DOW. */
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

const textIn = (expr: Expr | undefined): string | undefined =>
  expr?.type === 'string' ? expr.value.toLowerCase() : expr?.type === 'ref' ? expr.name.toLowerCase() : undefined;

/** EXTRACT(YEAR FROM d), YEAR(d), DATE_PART('year', d), DATE_TRUNC('month', d), DATE_DIFF('day', a, b); undefined where it is nothing of the kind. */
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
  if (!third && word === 'date_trunc' && dateStretches.includes(unit as DateStretch))
    return { op: 'trunc', to: unit as DateStretch, of: [own(second)] } as const;
  if (third && (word === 'date_diff' || word === 'datediff') && unit === 'day')
    return { op: '-', of: [own(third), own(second)] } as const;
  return undefined;
}

/** DATE '2024-12-31', as text. */
export const dateLiteral = (expr: Expr): string | undefined =>
  expr.type === 'cast' && expr.operand.type === 'string' && isDateType(expr.to) && daysOf(expr.operand.value) !== undefined
    ? expr.operand.value
    : undefined;
export const isDateType = (to: { readonly kind?: string | undefined; readonly name?: string }): boolean =>
  /^(date|timestamp)$/i.test(to.name ?? '');
