import type { Expr, SelectFromStatement, Statement } from 'pgsql-ast-parser';
import { Fault } from '../../base/errors.js';
import type { Arrangement } from '../arrange.js';
import { parseBatch } from '../parse.js';
import type { Batch, Query, RowCondition } from '../query.js';
import { holdsAggregate, queryOf } from './aggregate.js';
import { arrangementOf } from './arrangement.js';
import { dateWords } from './dates.js';
import { DerivedExpressions, expressionText } from './expression.js';
import { type CommonTables, readFrom, type SqlPolicy, withCommonTables } from './from.js';
import { refuse, refuseAll, SqlText } from './refuse.js';
import { sqlStatements } from './statements.js';
import { conditionsOf, literalOf } from './where.js';

/**
 * Compiles SQL to the JSON form, never runs it: SELECT keys and aggregates FROM … [WHERE] [GROUP BY] [HAVING] [ORDER BY] [LIMIT],
 * one batch for several statements. All else is refused, with the construct's name and place and an alternative.
 */
export const parseSql = (text: string, policy: SqlPolicy): Batch => readSql(text, policy).batch;

/** The same, with a sentence for everything that is answered by a substitute. */
export function readSql(text: string, policy: SqlPolicy): { readonly batch: Batch; readonly instead: readonly string[] } {
  const { secret, unit } = policy.protect ?? {};
  const sql = new SqlText(text, policy.columns.keys(), secret === 'person' ? unit : undefined);
  const queries: Query[] = [];
  const arrange: Arrangement[] = [];
  for (const statement of parsed(sql)) {
    const { select, named } = withCommonTables(sql, statement);
    if (select.type !== 'select') throw refuse(sql, describe(select), select);
    const selected = selectQueries(sql, select, { policy, named }, queries.length);
    queries.push(...selected.queries);
    if (selected.arrange) arrange.push(selected.arrange);
  }
  return { batch: parseBatch({ queries, ...(arrange.length > 0 && { arrange }) }), instead: [...sql.instead] };
}

interface SyntaxFault {
  readonly message: string;
  readonly token?: { readonly value?: string; readonly offset?: number };
}
/** Common spellings that the parser does not know. */
const unknownWords = /^(window|qualify|pivot|unpivot|sample|tablesample|fetch|except|intersect)$/i;

function parsed(sql: SqlText): Statement[] {
  try {
    return sqlStatements(sql.text);
  } catch (error) {
    if (error instanceof Fault) throw error;
    const { token } = error as SyntaxFault;
    const word = token?.value ?? '';
    const at = token?.offset ?? sql.text.length;
    if (/\bselect\s+top\s+\d+\b/i.test(sql.text.slice(0, at + word.length + 20)))
      throw refuse(sql, 'TOP', { _location: { start: at, end: at } }, 'Write LIMIT 5 at the end of the statement.');
    if (unknownWords.test(word)) throw refuse(sql, word.toUpperCase(), { _location: { start: at, end: at } });
    throw new Fault(
      'QUERY_INVALID',
      `The SQL text cannot be read${word ? ` from "${word.slice(0, 40)}" on` : ''} (${sql.where(at)}).`,
      'Write SELECT party, COUNT(*), AVG(age) FROM survey WHERE age > 30 GROUP BY party.',
    );
  }
}

const clauses = {
  distinct: ['DISTINCT', 'Write GROUP BY with the columns: every declared value has a row of its own.'],
  for: ['FOR UPDATE', undefined],
  skip: ['SKIP LOCKED', undefined],
} as const;

/** Queries of a statement, and their arrangement; tables are numbered from `first` on. */
function selectQueries(
  sql: SqlText,
  select: SelectFromStatement,
  among: { readonly policy: SqlPolicy; readonly named: CommonTables },
  first: number,
): Selected {
  for (const [clause, [construct, hint]] of Object.entries(clauses)) refuseAll(sql, select, { [clause]: construct }, { hint });
  const { from, where: handed } = readFrom({ sql, ...among, conditions: (expr) => plainConditions(sql, expr) }, select);
  const derived = new DerivedExpressions(sql);
  const columns = select.columns ?? [];
  const { by, keyOf } = groupKeys(sql, select, derived);
  const where = [...handed, ...(select.where ? conditionsOf(sql, select.where, derived) : [])];
  const context = { where, by, derived };
  const aggregates = columns.filter(({ expr }) => !isKey(expr));
  if (aggregates.length === 0)
    throw new Fault('QUERY_INVALID', 'The SQL text asks for no aggregate.', 'Ask for COUNT(*), SUM, AVG, VARIANCE or MEDIAN.');
  const all: Query[] = aggregates.map(({ expr, alias }) => queryOf(sql, expr, alias?.name, context));
  const queries = all.filter((query, i) => query.kind !== 'regression' || all.findIndex((q) => sameQuery(q, query)) === i);
  const texts = aggregates.map(({ expr }) => expressionText(sql, expr));
  /** Index of the table with a number: one of the selected tables, or one that is added. */
  const tableOf = (expr: Expr): number => {
    const named =
      expr.type === 'ref'
        ? aggregates.findIndex(({ alias }) => alias?.name === expr.name)
        : texts.indexOf(expressionText(sql, expr));
    if (named >= 0) return first + queries.findIndex((query) => sameQuery(query, all[named]!));
    texts.push(expressionText(sql, expr));
    return first + queries.push(queryOf(sql, expr, undefined, context)) - 1;
  };
  const isAggregate = (expr: Expr): boolean =>
    holdsAggregate(expr) || (expr.type === 'ref' && aggregates.some(({ alias }) => alias?.name === expr.name));
  const shown = arrangementOf(sql, select, { isAggregate, tableOf, keyOf, by, columns });
  const tablesShown = queries.map((_, i) => first + i);
  // Derived columns of later parts are declared for all queries.
  const derive = Object.keys(derived.columns).length > 0 ? { derive: derived.columns } : {};
  return {
    queries: queries.map((query) => ({ ...query, ...derive, ...(from !== undefined && { from }) })),
    ...(shown && { arrange: { tables: tablesShown, ...shown } }),
  };
}

/** Conditions of a place where nothing can be calculated. */
function plainConditions(sql: SqlText, expr: Expr): readonly RowCondition[] {
  const own = new DerivedExpressions(sql);
  const conditions = conditionsOf(sql, expr, own);
  if (Object.keys(own.columns).length > 0)
    throw refuse(
      sql,
      'a calculation in WHERE of a sub-select, or in ON,',
      expr,
      "Compare columns with values there: cost > 50, day >= '2023-01-01' AND day <= '2023-12-31'. Outside of sub-selects conditions may be calculated.",
    );
  return conditions;
}

/** Group keys of a statement, and the names of expressions among them. Refuses selected columns that are neither key nor aggregate. */
function groupKeys(sql: SqlText, select: SelectFromStatement, derived: DerivedExpressions) {
  const columns = select.columns ?? [];
  const aliases = new Map(
    columns.filter(({ expr }) => isKey(expr)).flatMap(({ expr, alias }) => (alias ? [[alias.name, expr] as const] : [])),
  );
  const aliasOf = (expr: Expr) =>
    columns.find((column) => isKey(column.expr) && expressionText(sql, column.expr) === expressionText(sql, expr))?.alias?.name;
  const keyOf = (expr: Expr): string => {
    const meant =
      expr.type === 'ref' && !expr.table && aliases.has(expr.name) && !sql.isColumn(expr.name) ? aliases.get(expr.name)! : expr;
    return derived.named(meant, aliasOf(meant));
  };
  const by = (select.groupBy ?? []).map((expr) => {
    const found = expr.type === 'integer' ? columns[expr.value - 1] : undefined;
    // An unknown function is no key; the refusal names the function, not the position.
    if (expr.type === 'integer' && (!found || (!isKey(found.expr) && holdsAggregate(found.expr))))
      throw refuse(sql, `GROUP BY ${expr.value}`, expr, 'Name a column of the SELECT list that is no aggregate.');
    refusePersons(sql, found?.expr ?? expr);
    return keyOf(found?.expr ?? expr);
  });
  for (const { expr } of columns) {
    if (expr.type === 'ref' && expr.name === '*')
      throw refuse(sql, '*', expr, 'Single rows are never shown: ask for aggregates.');
    if (!isKey(expr)) continue;
    if (literalOf(expr) !== undefined) throw refuse(sql, 'a constant as a column', expr, 'Leave it out.');
    const name = keyOf(expr);
    if (!by.includes(name))
      throw new Fault(
        'QUERY_INVALID',
        `Column "${name}" is selected but is no group key: single rows are never shown.`,
        `Add GROUP BY ${name}, or aggregate it, as in AVG(${name}).`,
      );
  }
  return { by, keyOf };
}

const isKey = (expr: Expr): boolean => !holdsAggregate(expr) && !isUnknownFunction(expr);

/** Refuses a group per person, which would be a row per person. */
function refusePersons(sql: SqlText, expr: Expr): void {
  if (expr.type !== 'ref' || !sql.isOnlyPerson(expr.name, expr.table?.name)) return;
  throw refuse(
    sql,
    `GROUP BY ${expr.name}, which names persons,`,
    expr,
    `No release is about single persons. Put it into a sub-select: SELECT AVG(n) FROM (SELECT ${expr.name}, COUNT(*) AS n FROM … GROUP BY ${expr.name}) AS each.`,
  );
}

const sameQuery = (a: Query, b: Query): boolean => JSON.stringify(a) === JSON.stringify(b);

interface Selected {
  readonly queries: readonly Query[];
  readonly arrange?: Arrangement;
}
/** Known scalar functions; unknown ones go to the aggregates, which refuse them by name. */
const scalarFunctions = new Set(['floor', 'ceil', 'ceiling', 'round', 'mod', 'coalesce', 'if', 'iif', ...dateWords]);
const isUnknownFunction = (expr: Expr): boolean => expr.type === 'call' && !scalarFunctions.has(expr.function.name.toLowerCase());

const statementNames: Readonly<Record<string, string>> = { union: 'UNION', 'union all': 'UNION' };
const describe = ({ type }: { readonly type: string }): string => statementNames[type] ?? type.toUpperCase();
