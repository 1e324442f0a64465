import type { Expr, SelectFromStatement } from 'pgsql-ast-parser';
import type { Arrangement, HavingCondition } from '../arrange.js';
import { refuse, type SqlText } from './refuse.js';
import { type ComparisonOp, flipped, isOp, literalOf } from './where.js';

export interface SelectList {
  /** True for a number of an answer, false for a key. */
  readonly isAggregate: (expr: Expr) => boolean;
  readonly tableOf: (expr: Expr) => number;
  readonly keyOf: (expr: Expr) => string;
  readonly by: readonly string[];
  readonly columns: NonNullable<SelectFromStatement['columns']>;
}

/** HAVING, ORDER BY and LIMIT: post-processing of the noisy answer. */
export function arrangementOf(
  sql: SqlText,
  select: SelectFromStatement,
  selectList: SelectList,
): Omit<Arrangement, 'tables'> | undefined {
  const order = (select.orderBy ?? []).map(({ by, order, nulls }) => {
    if (nulls) throw refuse(sql, `NULLS ${nulls}`, by, 'Leave it out: missing and unreleased values come last.');
    const descending = order === 'DESC' && { descending: true };
    const expr = by.type === 'integer' ? selectList.columns[by.value - 1]?.expr : by;
    if (!expr) throw refuse(sql, 'this position in ORDER BY', by, 'Count the columns of the SELECT list from 1.');
    return {
      ...(selectList.isAggregate(expr) ? { table: selectList.tableOf(expr) } : { key: keyIn(sql, expr, selectList) }),
      ...descending,
    };
  });
  const whole = (expr: Expr | null | undefined, clause: string): number | undefined => {
    if (!expr) return undefined;
    const value = literalOf(expr);
    if (typeof value === 'number' && Number.isInteger(value) && value >= 0) return value;
    throw refuse(sql, `this ${clause}`, expr, `Write ${clause} with a whole number.`);
  };
  const [limit, offset] = [whole(select.limit?.limit, 'LIMIT'), whole(select.limit?.offset, 'OFFSET')];
  const having = select.having ? havingConditionOf(sql, select.having, selectList) : undefined;
  if (!having && order.length === 0 && limit === undefined && offset === undefined) return undefined;
  return {
    ...(having && { having }),
    ...(order.length > 0 && { order }),
    ...(limit !== undefined && { limit }),
    ...(offset !== undefined && { offset }),
  };
}

function keyIn(sql: SqlText, expr: Expr, { keyOf, by }: SelectList): string {
  const key = keyOf(expr);
  if (by.includes(key)) return key;
  throw refuse(sql, `"${key}" after the groups are made`, expr, 'Name a group key, an aggregate, or its alias.');
}

function havingConditionOf(sql: SqlText, expr: Expr, selectList: SelectList): HavingCondition {
  const own = (part: Expr) => havingConditionOf(sql, part, selectList);
  if (expr.type === 'unary' && expr.op === 'NOT') return { not: own(expr.operand) };
  if (expr.type === 'binary' && expr.op === 'AND') return { all: [own(expr.left), own(expr.right)] };
  if (expr.type === 'binary' && expr.op === 'OR') return { any: [own(expr.left), own(expr.right)] };
  if (expr.type === 'ternary') {
    const between: HavingCondition = {
      all: [
        comparison(sql, { op: '>=', left: expr.value, right: expr.lo }, selectList),
        comparison(sql, { op: '<=', left: expr.value, right: expr.hi }, selectList),
      ],
    };
    return expr.op === 'BETWEEN' ? between : { not: between };
  }
  if (expr.type === 'binary' && (expr.op === 'IN' || expr.op === 'NOT IN') && !selectList.isAggregate(expr.left)) {
    const items = expr.right.type === 'list' ? expr.right.expressions : [expr.right];
    const values = items.map((item) => String(literalOf(item)));
    return { key: keyIn(sql, expr.left, selectList), op: expr.op === 'IN' ? 'in' : 'not in', values };
  }
  if (expr.type === 'binary' && isOp(expr.op))
    return literalOf(expr.left) !== undefined
      ? comparison(sql, { op: flipped[expr.op], left: expr.right, right: expr.left }, selectList)
      : comparison(sql, { op: expr.op, left: expr.left, right: expr.right }, selectList);
  throw refuse(sql, 'this condition in HAVING', expr, 'Compare aggregates with numbers: HAVING COUNT(*) > 100.');
}

function comparison(
  sql: SqlText,
  { op, left, right }: { readonly op: ComparisonOp; readonly left: Expr; readonly right: Expr },
  selectList: SelectList,
): HavingCondition {
  const value = literalOf(right);
  if (selectList.isAggregate(left)) {
    if (typeof value === 'number') return { table: selectList.tableOf(left), op, value };
    if (value === undefined) return { table: selectList.tableOf({ type: 'binary', op: '-', left, right }), op, value: 0 };
  } else if (value !== undefined && (op === '=' || op === '!='))
    return { key: keyIn(sql, left, selectList), op: op === '=' ? 'in' : 'not in', values: [String(value)] };
  throw refuse(sql, 'this comparison in HAVING', left, 'Compare aggregates with numbers; conditions on rows belong into WHERE.');
}
