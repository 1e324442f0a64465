import type { Expr } from 'pgsql-ast-parser';
import { Fault } from '../../errors.js';
import type { Condition } from '../query.js';
import { columnName, refuse, type SqlText } from './refuse.js';

type Literal = string | number;
const literalOf = (expr: Expr): Literal | undefined => {
  if (expr.type === 'string' || expr.type === 'integer' || expr.type === 'numeric') return expr.value;
  return expr.type === 'boolean' ? String(expr.value) : undefined;
};
const isColumn = (expr: Expr): boolean => expr.type === 'ref' && expr.name !== '*';

const flipped = { '=': '=', '!=': '!=', '<': '>', '<=': '>=', '>': '<', '>=': '<=' } as const;
type Op = keyof typeof flipped;
const isOp = (op: string): op is Op => op in flipped;

function literal(sql: SqlText, expr: Expr): Literal {
  const value = literalOf(expr);
  if (value !== undefined) return value;
  if (expr.type === 'null')
    throw new Fault('QUERY_INVALID', `Nothing equals NULL (${sql.at(expr)}).`, 'Write IS NULL or IS NOT NULL.');
  throw refuse(
    sql,
    expr.type === 'select'
      ? 'subselect'
      : expr.type === 'call'
        ? `function ${expr.function.name.toUpperCase()} in WHERE`
        : isColumn(expr)
          ? 'comparing two columns'
          : 'an expression in WHERE',
    expr,
  );
}

/** Conditions joined by AND. */
export function conditionsOf(sql: SqlText, expr: Expr): readonly Condition[] {
  if (expr.type === 'unary') {
    if (expr.op === 'IS NULL') return [{ column: columnName(sql, expr.operand), op: 'missing' }];
    if (expr.op === 'IS NOT NULL') return [{ column: columnName(sql, expr.operand), op: 'present' }];
    throw refuse(sql, expr.op, expr);
  }
  if (expr.type === 'ternary') {
    if (expr.op !== 'BETWEEN') throw refuse(sql, expr.op, expr);
    const column = columnName(sql, expr.value);
    return [
      { column, op: '>=', value: literal(sql, expr.lo) },
      { column, op: '<=', value: literal(sql, expr.hi) },
    ];
  }
  if (expr.type === 'call') throw refuse(sql, `function ${expr.function.name.toUpperCase()} in WHERE`, expr);
  if (expr.type === 'select') throw refuse(sql, 'subselect', expr);
  if (expr.type !== 'binary') throw refuse(sql, `"${expr.type}" as a condition`, expr);
  const { left, right, op } = expr;
  if (op === 'AND') return [...conditionsOf(sql, left), ...conditionsOf(sql, right)];
  if (op === 'OR') throw refuse(sql, 'OR', expr, 'Use IN for several values of one column, or ask two queries.');
  if (op === 'IN' || op === 'NOT IN') {
    // The parser hands a list of one over as the item itself.
    const values = (right.type === 'list' ? right.expressions : [right]).map((item) => literal(sql, item));
    return [{ column: columnName(sql, left), op: op === 'IN' ? 'in' : 'not in', values }];
  }
  if (!isOp(op)) throw refuse(sql, op, expr);
  if (literalOf(left) !== undefined && isColumn(right))
    return [{ column: columnName(sql, right), op: flipped[op], value: literal(sql, left) }];
  if (!isColumn(left) && left.type === 'call') throw refuse(sql, `function ${left.function.name.toUpperCase()} in WHERE`, left);
  return [{ column: columnName(sql, left), op, value: literal(sql, right) }];
}
