import type { Expr, ExprBinary } from 'pgsql-ast-parser';
import { Fault } from '../../base/errors.js';
import type { RowCondition } from '../query.js';
import { dateLiteral } from './dates.js';
import type { DerivedExpressions } from './expression.js';
import { refuse, refusePerson, type SqlText } from './refuse.js';

type Literal = string | number;
export const literalOf = (expr: Expr): Literal | undefined => {
  if (expr.type === 'string' || expr.type === 'integer' || expr.type === 'numeric') return expr.value;
  if (expr.type === 'unary' && expr.op === '-') {
    const value = literalOf(expr.operand);
    return typeof value === 'number' ? -value : undefined;
  }
  return expr.type === 'boolean' ? String(expr.value) : dateLiteral(expr);
};

export const flipped = { '=': '=', '!=': '!=', '<': '>', '<=': '>=', '>': '<', '>=': '<=' } as const;
export type ComparisonOp = keyof typeof flipped;
export const isOp = (op: string): op is ComparisonOp => op in flipped;

function literal(sql: SqlText, expr: Expr): Literal {
  const value = literalOf(expr);
  if (value !== undefined) return value;
  if (expr.type === 'null')
    throw new Fault('QUERY_INVALID', `Nothing equals NULL (${sql.at(expr)}).`, 'Write IS NULL or IS NOT NULL.');
  throw refuse(sql, expr.type === 'select' ? 'subselect' : 'an expression in a list of values', expr, 'Write the values out.');
}

const existsHint =
  'Join one row for each person that has such rows: JOIN (SELECT person, COUNT(*) AS n FROM visits WHERE cost > 50 GROUP BY person) AS v USING (person); those without are LEFT JOIN … WHERE n IS NULL.';

/** Conditions joined by AND. */
export const conditionsOf = (sql: SqlText, expr: Expr, derived: DerivedExpressions): readonly RowCondition[] => {
  if (expr.type === 'boolean' && expr.value) return [];
  if (expr.type === 'binary' && expr.op === 'AND')
    return [...conditionsOf(sql, expr.left, derived), ...conditionsOf(sql, expr.right, derived)];
  const condition = conditionOf(sql, expr, derived);
  return 'all' in condition ? condition.all : [condition];
};

/** One condition; a row without the value passes no comparison, nor its NOT. */
export function conditionOf(sql: SqlText, expr: Expr, derived: DerivedExpressions): RowCondition {
  const own = (part: Expr) => conditionOf(sql, part, derived);
  const named = (part: Expr) => {
    refusePerson(sql, part);
    return derived.named(part);
  };
  if (expr.type === 'unary') {
    if (expr.op === 'NOT') return { not: own(expr.operand) };
    if (expr.op === 'IS NULL') return { column: named(expr.operand), op: 'missing' };
    if (expr.op === 'IS NOT NULL') return { column: named(expr.operand), op: 'present' };
    throw refuse(sql, expr.op, expr, "Compare with a declared value: active = 'true', active IS NULL.");
  }
  if (expr.type === 'ternary') {
    const column = named(expr.value);
    const between: RowCondition = {
      all: [
        { column, op: '>=', value: literal(sql, expr.lo) },
        { column, op: '<=', value: literal(sql, expr.hi) },
      ],
    };
    return expr.op === 'BETWEEN' ? between : { not: between };
  }
  if (expr.type === 'ref') return { column: named(expr), op: '=', value: 'true' };
  if (expr.type === 'call')
    throw refuse(
      sql,
      `function ${expr.function.name.toUpperCase()} as a condition`,
      expr,
      /^exists$/i.test(expr.function.name) ? existsHint : 'Compare it with a value: FLOOR(age / 10) = 3.',
    );
  if (expr.type === 'select') throw refuse(sql, 'subselect', expr, existsHint);
  if (expr.type !== 'binary')
    throw refuse(sql, `"${expr.type}" as a condition`, expr, 'Compare a column with a value: age > 30.');
  const { left, right, op } = expr;
  if (op === 'AND') return { all: conditionsOf(sql, expr, derived) };
  if (op === 'OR') return { any: [left, right].flatMap((part) => alternatives(own(part))) };
  if (op === 'IN' || op === 'NOT IN') {
    const values = listedValues(sql, left, right);
    return { column: named(left), op: op === 'IN' ? 'in' : 'not in', values };
  }
  return comparisonOf(sql, expr, named);
}

/** Values of an IN list. */
function listedValues(sql: SqlText, left: Expr, right: Expr): readonly Literal[] {
  if (right.type === 'select')
    throw refuse(
      sql,
      'subselect',
      right,
      left.type === 'ref' && sql.isPerson(left.name, left.table?.name) ? existsHint : 'Write the values out: region IN (1, 2).',
    );
  // The parser hands a list of one over as the item itself.
  return (right.type === 'list' ? right.expressions : [right]).map((item) => literal(sql, item));
}

/** Comparison of a column with a value, or of two columns by their difference. */
function comparisonOf(sql: SqlText, expr: ExprBinary, named: (part: Expr) => string): RowCondition {
  const { left, right, op } = expr;
  if (!isOp(op))
    throw refuse(
      sql,
      op,
      expr,
      /LIKE|~/.test(op)
        ? "Write out the declared values that are meant: party IN ('dem', 'rep')."
        : 'Use = != < <= > >=, IN, BETWEEN, IS NULL, AND, OR and NOT.',
    );
  if (left.type === 'null' || right.type === 'null') literal(sql, left.type === 'null' ? left : right);
  if (left.type === 'select' || right.type === 'select')
    throw refuse(
      sql,
      'subselect',
      left.type === 'select' ? left : right,
      'Ask for the number first, and write it out: age > 42.',
    );
  const [first, second] = [literalOf(left), literalOf(right)];
  if (second !== undefined) return { column: named(left), op, value: second };
  if (first !== undefined) return { column: named(right), op: flipped[op], value: first };
  return { column: named({ type: 'binary', op: '-', left, right }), op, value: 0 };
}

const alternatives = (condition: RowCondition): readonly RowCondition[] => ('any' in condition ? condition.any : [condition]);
