import { type Expr, type ExprCall, toSql } from 'pgsql-ast-parser';
import { Fault } from '../../base/errors.js';
import type { Expression } from '../form.js';
import { dateLiteral, datePart, daysIn, isDateType } from './dates.js';
import { referencedColumn, refuse, refusePerson, type SqlText } from './refuse.js';
import { conditionOf } from './where.js';

/** The columns a statement derives, by name. */
export class DerivedExpressions {
  readonly columns: Record<string, Expression> = {};
  readonly #sql: SqlText;
  constructor(sql: SqlText) {
    this.#sql = sql;
  }
  /** Column name of an expression: a column itself, or a derived column, named by its alias or its text. */
  named(expr: Expr, alias?: string): string {
    if (expr.type === 'ref') return referencedColumn(this.#sql, expr);
    const expression = this.expression(expr);
    if (typeof expression === 'string') return expression;
    const same = Object.entries(this.columns).find(([, known]) => JSON.stringify(known) === JSON.stringify(expression));
    if (same && alias === undefined) return same[0];
    const name = alias !== undefined && !this.#sql.isColumn(alias) ? alias : expressionText(this.#sql, expr);
    if (Object.hasOwn(this.columns, name) && JSON.stringify(this.columns[name]) !== JSON.stringify(expression))
      throw new Fault(
        'QUERY_INVALID',
        `"${name}" would mean two things (${this.#sql.at(expr)}).`,
        'Give each its own name: AS other.',
      );
    this.columns[name] = expression;
    return name;
  }

  expression(expr: Expr): Expression {
    const sql = this.#sql;
    const own = (part: Expr) => this.expression(part);
    const ofDate = daysIn(sql, expr) ?? datePart(expr, own);
    if (ofDate !== undefined) return ofDate;
    switch (expr.type) {
      case 'ref':
        refusePerson(sql, expr);
        return referencedColumn(sql, expr);
      case 'integer':
      case 'numeric':
        return expr.value;
      case 'string':
        return { text: expr.value };
      case 'null':
        return null;
      case 'unary':
        if (expr.op === '-') return { op: '*', of: [-1, own(expr.operand)] };
        if (expr.op === '+') return own(expr.operand);
        break;
      case 'cast': {
        if (isDateType(expr.to)) return own(expr.operand);
        if (/^(float|double|real|numeric|decimal)/i.test(typeName(expr.to))) return own(expr.operand);
        if (isWholeType(expr.to)) return { op: 'round', of: [own(expr.operand)] };
        break;
      }
      case 'binary': {
        const { op } = expr;
        // The difference of two dates is a number of days, not a date.
        if (op === '-' && dateLiteral(expr.right) !== undefined)
          return { op: '*', of: [1, { op, of: [own(expr.left), own(expr.right)] }] };
        if (op === '+' || op === '-' || op === '*' || op === '/' || op === '%')
          return { op, of: [own(expr.left), own(expr.right)] };
        break;
      }
      case 'case': {
        const cases = expr.whens.map(({ when, value }) => {
          const test: Expr = expr.value ? { type: 'binary', op: '=', left: expr.value, right: when } : when;
          return { when: conditionOf(sql, test, this), value: own(value) };
        });
        return { cases, ...(expr.else && { otherwise: own(expr.else) }) };
      }
      case 'call': {
        const computed = this.#call(expr);
        if (computed !== undefined) return computed;
        break;
      }
    }
    throw refuse(
      sql,
      expr.type === 'call' ? `function ${expr.function.name.toUpperCase()} of a column` : 'this expression',
      expr,
      "Columns are computed with + - * / %, FLOOR, CEIL, ROUND, COALESCE, CASE WHEN … THEN … ELSE … END, and of dates EXTRACT(YEAR FROM day), DATE_TRUNC('month', day), DATE_DIFF('day', a, b), day + INTERVAL '30 days'.",
    );
  }

  /** Scalar function of columns; undefined for one that is not supported. */
  #call(expr: ExprCall): Expression | undefined {
    const sql = this.#sql;
    const own = (part: Expr) => this.expression(part);
    const word = expr.function.name.toLowerCase();
    const [first, second, third] = expr.args;
    if (first && !second && (word === 'floor' || word === 'ceil' || word === 'ceiling'))
      return { op: word === 'floor' ? 'floor' : 'ceil', of: [own(first)] };
    if (first && word === 'round' && (!second || second.type === 'integer'))
      return { op: 'round', of: [own(first)], ...(second?.type === 'integer' && { digits: second.value }) };
    if (first && second && word === 'mod') return { op: '%', of: [own(first), own(second)] };
    if (first && second && word === 'coalesce') {
      const cases = expr.args
        .slice(0, -1)
        .map((part) => ({ when: { column: this.named(part), op: 'present' as const }, value: own(part) }));
      return { cases, otherwise: own(expr.args.at(-1)!) };
    }
    if (first && second && third && (word === 'if' || word === 'iif'))
      return { cases: [{ when: conditionOf(sql, first, this), value: own(second) }], otherwise: own(third) };
    return undefined;
  }
}

export const isWholeType = (to: { readonly kind?: string | undefined; readonly name?: string }): boolean =>
  /^(int|integer|int[248]|bigint|smallint)$/i.test(typeName(to));
const typeName = (to: { readonly kind?: string | undefined; readonly name?: string }): string => to.name ?? '';

/** Expression in one spelling, for names: columns are resolved, so equal names in two tables stay distinct. */
export function expressionText(sql: SqlText, expr: Expr): string {
  const own = (part: Expr) => expressionText(sql, part);
  const inside = (part: Expr) => (part.type === 'binary' || part.type === 'ternary' ? `(${own(part)})` : own(part));
  switch (expr.type) {
    case 'ref':
      return expr.name === '*' ? expr.name : sql.named(expr.name, expr.table?.name);
    case 'integer':
    case 'numeric':
      return `${expr.value}`;
    case 'string':
      return `'${expr.value}'`;
    case 'binary':
      return `${inside(expr.left)} ${expr.op} ${inside(expr.right)}`;
    case 'unary':
      return /^[A-Z]/.test(expr.op) ? `${inside(expr.operand)} ${expr.op}` : `${expr.op}${inside(expr.operand)}`;
    case 'list':
      return `(${expr.expressions.map(own).join(', ')})`;
    case 'call': {
      const { args, distinct, filter, over, withinGroup } = expr;
      const within = withinGroup ? ` within (${own(withinGroup.by)} ${withinGroup.order ?? ''})` : '';
      return `${expr.function.name.toLowerCase()}(${distinct ? `${distinct} ` : ''}${args.map(own).join(', ')})${within}${filter ? ` where ${own(filter)}` : ''}${over ? ' over ()' : ''}`;
    }
    case 'case': {
      const cases = expr.whens.map(({ when, value }) => `when ${own(when)} then ${own(value)}`);
      const rest = expr.else ? ` else ${own(expr.else)}` : '';
      return `case ${expr.value ? `${own(expr.value)} ` : ''}${cases.join(' ')}${rest} end`;
    }
    case 'extract':
      return `extract(${expr.field.name.toLowerCase()} from ${own(expr.from)})`;
    case 'cast':
      if (expr.operand.type === 'string' && /^interval$/i.test(typeName(expr.to))) return expr.operand.value;
      return toSql.expr(expr).replace(/\s+/g, ' ').trim();
    default:
      return toSql.expr(expr).replace(/\s+/g, ' ').trim();
  }
}
