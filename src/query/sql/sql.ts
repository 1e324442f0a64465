import type { Expr, ExprCall, From, PGNode, SelectFromStatement, Statement } from 'pgsql-ast-parser';
import { Fault } from '../../errors.js';
import type { Policy } from '../../policy/policy.js';
import { parseBatch } from '../parse.js';
import type { Batch, Condition, Query } from '../query.js';
import { columnName, refuse, refuseAll, SqlText } from './refuse.js';
import { sqlStatements } from './statements.js';
import { isNamed, tableNames } from './table.js';
import { conditionsOf } from './where.js';

/**
 * SQL text to the JSON form: SELECT keys and aggregates FROM the policy's table [WHERE …] [GROUP BY keys]. The text is parsed and compiled to queries, never run.
 * Everything else is refused with the name and the place of the construct.
 */
export function parseSql(text: string, policy: Pick<Policy, 'data' | 'columns'>): Batch {
  const sql = new SqlText(text, policy.columns.keys());
  const statements = parsed(sql);
  const [statement] = statements;
  if (statements.length !== 1 || !statement) throw refuse(sql, 'several statements', statements[1]);
  if (statement.type !== 'select') throw refuse(sql, statement.type.toUpperCase(), statement);
  return parseBatch({ queries: selectQueries(sql, statement, tableNames(policy.data)) });
}

interface SyntaxFault {
  readonly message: string;
  readonly token?: { readonly value?: string; readonly offset?: number };
}
/** Words the parser does not know, but people write. */
const unknownWords = /^(having|window|qualify|pivot|unpivot|sample|tablesample|fetch|except|intersect)$/i;

function parsed(sql: SqlText): Statement[] {
  try {
    return sqlStatements(sql.text);
  } catch (error) {
    if (error instanceof Fault) throw error;
    const { token } = error as SyntaxFault;
    const word = token?.value ?? '';
    const at = token?.offset ?? sql.text.length;
    if (unknownWords.test(word)) throw refuse(sql, word.toUpperCase(), { _location: { start: at, end: at } });
    throw new Fault(
      'QUERY_INVALID',
      `The SQL text cannot be read${word ? ` from "${word.slice(0, 40)}" on` : ''} (${sql.where(at)}).`,
      'Write SELECT party, COUNT(*), AVG(age) FROM survey WHERE age > 30 GROUP BY party.',
    );
  }
}

const clauses = {
  distinct: 'DISTINCT',
  having: 'HAVING',
  orderBy: 'ORDER BY',
  limit: 'LIMIT',
  for: 'FOR UPDATE',
  skip: 'SKIP LOCKED',
} as const;

function selectQueries(sql: SqlText, select: SelectFromStatement, tables: readonly string[]): readonly Query[] {
  refuseAll(sql, select, clauses);
  checkFrom(sql, select.from ?? [], select, tables);
  const columns = select.columns ?? [];
  const aliases = new Map<string, string>();
  const shown: string[] = [];
  const aggregates: { call: ExprCall; name?: string }[] = [];
  for (const { expr, alias } of columns) {
    if (expr.type === 'ref') {
      const name = columnName(sql, expr);
      shown.push(name);
      if (alias) aliases.set(alias.name, name);
    } else if (expr.type === 'call') aggregates.push({ call: expr, ...(alias && { name: alias.name }) });
    else throw refuse(sql, describe(expr), expr);
  }
  const by = (select.groupBy ?? []).map((expr) => {
    if (expr.type === 'integer') {
      const found = columns[expr.value - 1]?.expr;
      if (found?.type === 'ref') return columnName(sql, found);
    }
    if (expr.type !== 'ref') throw refuse(sql, `GROUP BY ${describe(expr)}`, expr);
    const name = columnName(sql, expr);
    return aliases.get(name) ?? name;
  });
  const lone = shown.find((name) => !by.includes(name));
  if (lone !== undefined)
    throw new Fault(
      'QUERY_INVALID',
      `Column "${lone}" is selected but is no group key: single rows are never shown.`,
      `Add GROUP BY ${lone}, or aggregate it, as in AVG(${lone}).`,
    );
  if (aggregates.length === 0)
    throw new Fault('QUERY_INVALID', 'The SQL text asks for no aggregate.', 'Ask for COUNT(*), SUM, AVG, VARIANCE or MEDIAN.');
  const where = select.where ? conditionsOf(sql, select.where) : [];
  return aggregates.map(({ call, name }) => aggregateQuery(sql, call, { name, where, by }));
}

function checkFrom(sql: SqlText, from: readonly From[], select: PGNode, tables: readonly string[]): void {
  const [table, other] = from;
  if (!table) throw refuse(sql, 'SELECT without FROM', select);
  if (table.type !== 'table') throw refuse(sql, table.type === 'statement' ? 'subselect' : 'function in FROM', table);
  // A join over declared relations is a pattern; the pattern compiler is its home.
  const joined = from.find((f) => f.join);
  if (joined ?? other)
    throw refuse(sql, 'JOIN', joined ?? other, 'Count tuples over relations with a pattern (fugu release --pattern).');
  if (table.lateral) throw refuse(sql, 'LATERAL', table);
  if (!isNamed(tables, table.name))
    throw new Fault(
      'QUERY_INVALID',
      `The policy has no table "${table.name.name.slice(0, 80)}" (${sql.at(table)}).`,
      `Write FROM ${tables.map((name) => (/^[a-z_][a-z0-9_]*$/i.test(name) ? name : `"${name}"`)).join(' or FROM ')}; relations are asked by joins and patterns.`,
    );
}

interface Shared {
  readonly name: string | undefined;
  readonly where: readonly Condition[];
  readonly by: readonly string[];
}
const numberKinds: Readonly<Record<string, (column: string) => Query>> = {
  sum: (column) => ({ kind: 'sum', column }),
  avg: (column) => ({ kind: 'mean', column }),
  mean: (column) => ({ kind: 'mean', column }),
  variance: (column) => ({ kind: 'variance', column }),
  var_samp: (column) => ({ kind: 'variance', column }),
  var_pop: (column) => ({ kind: 'variance', column, population: true }),
  median: (column) => ({ kind: 'quantile', column, at: [0.5] }),
};
const modifiers = { distinct: 'DISTINCT', orderBy: 'ORDER BY', filter: 'FILTER', over: 'window function' } as const;

function aggregateQuery(sql: SqlText, call: ExprCall, { name, where, by }: Shared): Query {
  const word = call.function.name.toLowerCase();
  refuseAll(sql, call, modifiers, ` in ${word.toUpperCase()}`);
  const extra = {
    ...(name !== undefined && { name }),
    ...(by.length > 0 && { by }),
  };
  const filtered = (conditions: readonly Condition[]) => (conditions.length > 0 ? { where: conditions } : {});
  const only = (): Expr => {
    const [argument, more] = call.args;
    if (!argument || more)
      throw new Fault(
        'QUERY_INVALID',
        `${word.toUpperCase()} takes one argument (${sql.at(call)}).`,
        `Write ${word.toUpperCase()}(age).`,
      );
    return argument;
  };
  if (word === 'count') {
    const argument = only();
    if (argument.type === 'ref' && argument.name === '*') return { kind: 'count', ...filtered(where), ...extra };
    const column = columnName(sql, argument);
    return { kind: 'count', ...filtered([...where, { column, op: 'present' }]), ...extra };
  }
  if (word === 'percentile_cont' || word === 'percentile_disc') {
    const share = only();
    if (!call.withinGroup || (share.type !== 'numeric' && share.type !== 'integer'))
      throw refuse(sql, `this form of ${word.toUpperCase()}`, call, 'Write PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY age).');
    if (call.withinGroup.order === 'DESC') throw refuse(sql, 'ORDER BY … DESC in WITHIN GROUP', call);
    const column = columnName(sql, call.withinGroup.by);
    return { kind: 'quantile', column, at: [share.value], ...filtered(where), ...extra };
  }
  const make = Object.hasOwn(numberKinds, word) ? numberKinds[word] : undefined;
  if (!make || call.withinGroup)
    throw refuse(
      sql,
      `function ${word.toUpperCase()}`,
      call,
      'Aggregates are COUNT, SUM, AVG, VARIANCE, VAR_POP, MEDIAN and PERCENTILE_CONT.',
    );
  return { ...make(columnName(sql, only())), ...filtered(where), ...extra };
}

const names: Readonly<Record<string, string>> = {
  select: 'subselect',
  union: 'UNION',
  'union all': 'UNION',
  case: 'CASE',
  cast: 'CAST',
  binary: 'arithmetic',
  ternary: 'BETWEEN as a value',
  extract: 'EXTRACT',
};
const describe = (expr: { readonly type: string }): string => names[expr.type] ?? `"${expr.type}" expression`;
