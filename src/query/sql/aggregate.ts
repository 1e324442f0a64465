import type { Expr, ExprCall } from 'pgsql-ast-parser';
import { Fault } from '../../base/errors.js';
import type { Calculation } from '../kinds/formula.js';
import type { Query, RowCondition } from '../query.js';
import { type DerivedExpressions, expressionText, isWholeType } from './expression.js';
import { refuse, refuseAll, type SqlText } from './refuse.js';
import { conditionsOf, literalOf } from './where.js';

type Part = Extract<Query, { kind: 'formula' }>['parts'][string];
/** An aggregate: part of a formula, or a quantile, which is a query of its own. */
type Aggregate =
  | { readonly part: Part }
  | { readonly quantile: number; readonly column: string; readonly where: readonly RowCondition[]; readonly label?: string }
  | { readonly statistic: Statistic; readonly where: readonly RowCondition[] };
/** Statistics of two numbers, each a query of its own. */
type Statistic =
  | { readonly kind: 'correlation'; readonly columns: readonly string[] }
  | { readonly kind: 'regression'; readonly outcome: string; readonly on: readonly string[] };
const statistics: Readonly<Record<string, (a: string, b: string) => Statistic>> = {
  corr: (a, b) => ({ kind: 'correlation', columns: [a, b] }),
  regr_slope: (y, x) => ({ kind: 'regression', outcome: y, on: [x] }),
  regr_intercept: (y, x) => ({ kind: 'regression', outcome: y, on: [x] }),
};
/** Hints for aggregates that are not supported. */
const otherwise: Readonly<Record<string, string>> = {
  covar_pop:
    'Ask for CORR(x, y) and VARIANCE of both: a covariance is the correlation times both deviations. Their sums of products are what {"kind": "correlation", "columns": ["x", "y"]} counts.',
  covar_samp:
    'Ask for CORR(x, y) and VARIANCE of both: a covariance is the correlation times both deviations. Their sums of products are what {"kind": "correlation", "columns": ["x", "y"]} counts.',
  regr_r2: 'Ask for CORR(x, y): its square is the share that is explained.',
  regr_count: 'Write COUNT(*) … WHERE x IS NOT NULL AND y IS NOT NULL.',
};

const parts: Readonly<Record<string, Omit<Part, 'column'>>> = {
  sum: { kind: 'sum' },
  avg: { kind: 'mean' },
  mean: { kind: 'mean' },
  variance: { kind: 'variance' },
  var: { kind: 'variance' },
  var_samp: { kind: 'variance' },
  var_pop: { kind: 'variance', population: true },
  stddev: { kind: 'variance', root: true },
  stddev_samp: { kind: 'variance', root: true },
  stddev_pop: { kind: 'variance', population: true, root: true },
  std: { kind: 'variance', root: true },
};
/** No release reveals anybody's extreme answer: MIN and MAX are answered by the 1 % and 99 % quantiles. */
const quantiles: Readonly<Record<string, readonly [share: number, shownAs?: string]>> = {
  median: [0.5],
  min: [0.01, '1 % quantile'],
  max: [0.99, '99 % quantile'],
};
const aggregates = new Set([
  ...Object.keys(parts),
  ...Object.keys(quantiles),
  'count',
  'percentile_cont',
  'percentile_disc',
  'quantile',
  ...Object.keys(statistics),
]);
const isAggregate = (expr: Expr): expr is ExprCall => expr.type === 'call' && isName(expr);
const isName = ({ function: { name } }: ExprCall): boolean => aggregates.has(name.toLowerCase());

/** True where an expression contains aggregates. */
export function holdsAggregate(expr: Expr): boolean {
  if (expr.type === 'call') return isName(expr) || expr.args.some(holdsAggregate);
  if (expr.type === 'binary') return holdsAggregate(expr.left) || holdsAggregate(expr.right);
  if (expr.type === 'unary') return holdsAggregate(expr.operand);
  if (expr.type === 'cast') return holdsAggregate(expr.operand);
  return false;
}

export interface AggregateContext {
  readonly where: readonly RowCondition[];
  readonly by: readonly string[];
  readonly derived: DerivedExpressions;
}

/** Query for an expression of aggregates: one aggregate by itself, or a formula. */
export function queryOf(sql: SqlText, expr: Expr, alias: string | undefined, context: AggregateContext): Query {
  const rounded = wholeCast(expr);
  if (rounded) return queryOf(sql, rounded, alias, context);
  const bare = uncast(expr);
  const shared = () => ({
    ...(context.by.length > 0 && { by: context.by }),
    ...(Object.keys(context.derived.columns).length > 0 && { derive: { ...context.derived.columns } }),
  });
  if (isAggregate(bare) && !bare.over) {
    const own = aggregateOf(sql, bare, context.derived);
    const extra = { ...(alias !== undefined && { name: alias }), ...shared() };
    if ('part' in own) {
      const { where = [], ...part } = own.part;
      const all = [...context.where, ...where];
      if (part.kind === 'count' && part.column !== undefined) all.push({ column: part.column, op: 'present' });
      const { column, ...rest } = part;
      return {
        ...(part.kind === 'count' ? { kind: 'count' } : { ...rest, column: column! }),
        ...(all.length > 0 && { where: all }),
        ...extra,
      } as Query;
    }
    const all = [...context.where, ...own.where];
    // One regression answers slope and intercept, so selecting both is paid once.
    if ('statistic' in own)
      return {
        ...own.statistic,
        ...(all.length > 0 && { where: all }),
        ...(own.statistic.kind === 'correlation' ? extra : shared()),
      } as Query;
    const name = own.label && `${alias ?? `${bare.function.name.toLowerCase()} of ${own.column}`} (${own.label})`;
    return {
      kind: 'quantile',
      column: own.column,
      at: [own.quantile],
      ...(all.length > 0 && { where: all }),
      ...extra,
      ...(name && { name }),
    };
  }
  const named: Record<string, Part> = {};
  const of = calculationOf(sql, expr, context.derived, named);
  return {
    kind: 'formula',
    parts: named,
    of,
    ...(context.where.length > 0 && { where: context.where }),
    ...(alias !== undefined && { name: alias }),
    ...shared(),
  };
}

/** A calculated number cast to an integer is rounded; counts, sums and quantiles of whole numbers are whole already. */
function wholeCast(expr: Expr): Expr | undefined {
  if (expr.type !== 'cast' || !isWholeType(expr.to)) return undefined;
  const of = uncast(expr.operand);
  const broken = of.type === 'binary' || (of.type === 'call' && !of.over && /^(avg|mean|var|std)/i.test(of.function.name));
  return broken
    ? { type: 'call', function: { name: 'round' }, args: [of], ...(expr._location && { _location: expr._location }) }
    : undefined;
}
const uncast = (expr: Expr): Expr => (expr.type === 'cast' ? uncast(expr.operand) : expr);

function calculationOf(sql: SqlText, expr: Expr, derived: DerivedExpressions, named: Record<string, Part>): Calculation {
  const own = (part: Expr) => calculationOf(sql, part, derived, named);
  const value = literalOf(expr);
  if (typeof value === 'number') return value;
  if (expr.type === 'cast') return own(expr.operand);
  if (expr.type === 'unary' && expr.op === '-') return { op: '*', of: [-1, own(expr.operand)] };
  if (expr.type === 'binary' && (expr.op === '+' || expr.op === '-' || expr.op === '*' || expr.op === '/'))
    return { op: expr.op, of: [own(expr.left), own(expr.right)] };
  if (expr.type === 'call') {
    const word = expr.function.name.toLowerCase();
    const [first, second] = expr.args;
    if (expr.over) return keep(sql, named, expr, totalOf(sql, expr, derived));
    if (isAggregate(expr)) {
      const found = aggregateOf(sql, expr, derived);
      if ('part' in found) return keep(sql, named, expr, found.part);
      throw refuse(
        sql,
        `calculating with ${'statistic' in found ? `a ${found.statistic.kind}` : 'a quantile'}`,
        expr,
        'Ask for MIN, MAX, MEDIAN, quantiles, CORR and REGR_SLOPE by themselves.',
      );
    }
    if (first && word === 'round' && (!second || second.type === 'integer'))
      return { op: 'round', of: [own(first)], ...(second?.type === 'integer' && { digits: second.value }) };
    if (first && !second && word === 'sqrt') return { op: 'sqrt', of: [own(first)] };
    if (first && second && word === 'power' && literalOf(second) === 2) return { op: '*', of: [own(first), own(first)] };
    // A quotient with denominator 0 is null in any case, so NULLIF(x, 0) is x.
    if (first && second && word === 'nullif' && literalOf(second) === 0) return own(first);
    throw refuse(
      sql,
      `function ${word.toUpperCase()}`,
      expr,
      otherwise[word] ??
        'Aggregates are COUNT, SUM, AVG, VARIANCE, STDDEV, MIN, MAX, MEDIAN, PERCENTILE_CONT, CORR, REGR_SLOPE and REGR_INTERCEPT; calculate with + - * /, ROUND, SQRT and NULLIF(x, 0).',
    );
  }
  throw refuse(
    sql,
    expr.type === 'ref' ? `column ${expr.name} beside aggregates` : 'this expression of aggregates',
    expr,
    'Calculate with aggregates and numbers: 100.0 * SUM(a) / SUM(b).',
  );
}

function keep(sql: SqlText, named: Record<string, Part>, expr: Expr, part: Part): string {
  const name = expressionText(sql, expr);
  named[name] = part;
  return name;
}

/** SUM(COUNT(*)) OVER (): of all groups together. */
function totalOf(sql: SqlText, call: ExprCall, derived: DerivedExpressions): Part {
  const [inner] = call.args;
  const over = call.over as { partitionBy?: unknown; orderBy?: unknown };
  if (call.function.name.toLowerCase() === 'sum' && inner && isAggregate(inner) && !over.partitionBy && !over.orderBy) {
    const found = aggregateOf(sql, inner, derived);
    if ('part' in found && (found.part.kind === 'count' || found.part.kind === 'sum')) return { ...found.part, total: true };
  }
  throw refuse(
    sql,
    'this window function',
    call,
    'Of all groups together there are SUM(COUNT(*)) OVER () and SUM(SUM(x)) OVER ().',
  );
}

const modifiers = { orderBy: 'ORDER BY', over: 'window function' } as const;

/** COUNT: of rows, of values, or of different values. */
function countOf(sql: SqlText, call: ExprCall, argument: Expr, derived: DerivedExpressions): Pick<Part, 'kind' | 'column'> {
  if (call.distinct === 'distinct') return { kind: 'distinct', column: derived.named(argument) };
  if ((argument.type === 'ref' && argument.name === '*') || literalOf(argument) !== undefined) return { kind: 'count' };
  // Every row that is kept names its person.
  if (argument.type === 'ref' && sql.isPerson(argument.name, argument.table?.name)) return { kind: 'count' };
  return { kind: 'count', column: derived.named(argument) };
}

function aggregateOf(sql: SqlText, call: ExprCall, derived: DerivedExpressions): Aggregate {
  const word = call.function.name.toLowerCase();
  refuseAll(sql, call, modifiers, { suffix: ` in ${word.toUpperCase()}` });
  const where = call.filter ? conditionsOf(sql, call.filter, derived) : [];
  const filtered = where.length > 0 ? { where } : {};
  const only = (): Expr => {
    const [argument, more] = call.args;
    if (argument && !more) return argument;
    throw new Fault(
      'QUERY_INVALID',
      `${word.toUpperCase()} takes one argument (${sql.at(call)}).`,
      `Write ${word.toUpperCase()}(age).`,
    );
  };
  if (word === 'count') return { part: { ...countOf(sql, call, only(), derived), ...filtered } };
  if (call.distinct === 'distinct')
    throw refuse(sql, `DISTINCT in ${word.toUpperCase()}`, call, 'Only COUNT(DISTINCT column) counts different values.');
  if (word === 'percentile_cont' || word === 'percentile_disc') {
    const share = only();
    if (!call.withinGroup || (share.type !== 'numeric' && share.type !== 'integer'))
      throw refuse(sql, `this form of ${word.toUpperCase()}`, call, 'Write PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY age).');
    const down = call.withinGroup.order === 'DESC';
    return {
      quantile: down ? Number((1 - share.value).toFixed(9)) : share.value,
      column: derived.named(call.withinGroup.by),
      where,
    };
  }
  if (word === 'quantile') {
    const [column, share] = call.args;
    const at = share && literalOf(share);
    if (!column || typeof at !== 'number') throw refuse(sql, 'this form of QUANTILE', call, 'Write QUANTILE(age, 0.5).');
    return { quantile: at, column: derived.named(column), where };
  }
  const statistic = Object.hasOwn(statistics, word) ? statistics[word]! : undefined;
  if (statistic) {
    const [a, b, more] = call.args;
    if (a && b && !more) return { statistic: statistic(derived.named(a), derived.named(b)), where };
    throw new Fault(
      'QUERY_INVALID',
      `${word.toUpperCase()} takes two columns (${sql.at(call)}).`,
      `Write ${word.toUpperCase()}(cost, age).`,
    );
  }
  const [at, label] = quantiles[word] ?? [];
  if (at !== undefined) {
    const column = derived.named(only());
    if (label !== undefined)
      sql.instead.add(
        `${word.toUpperCase()}(${column}) is answered by the ${label} of ${column}: the ${word === 'max' ? 'largest' : 'smallest'} value is that of one person, and no release tells it.`,
      );
    return { quantile: at, column, where, ...(label !== undefined && { label }) };
  }
  const argument = only();
  if (word === 'sum' && literalOf(argument) === 1) return { part: { kind: 'count', ...filtered } };
  return { part: { ...parts[word]!, column: derived.named(argument), ...filtered } as Part };
}
