import type { Expr, ExprCall, From, JoinClause, PGNode, SelectFromStatement, Statement } from 'pgsql-ast-parser';
import { Fault } from '../../base/errors.js';
import type { Policy } from '../../policy/policy.js';
import type { FeatureForm, FromForm, JoinForm, PartForm, RowCondition } from '../form.js';
import { dataTable } from '../from.js';
import { aliasScope, nameScope } from './name-scope.js';
import { declaredSpelling, referencedColumn, refuse, refuseAll, type SqlText } from './refuse.js';
import { isNamed, tableNames } from './table.js';

export type SqlPolicy = Pick<Policy, 'data' | 'columns'> & Partial<Policy>;

/** Conditions of a sub-select, read in the scope of its names. */
export type ReadConditions = (expr: Expr) => readonly RowCondition[];

/** Tables named by WITH, each with those named before it: inside its own sub-select a name means the declared table. */
export type CommonTables = ReadonlyMap<string, { readonly select: SelectFromStatement; readonly before: CommonTables }>;

interface FromContext {
  readonly sql: SqlText;
  readonly policy: SqlPolicy;
  readonly named: CommonTables;
  readonly conditions: ReadConditions;
}

/** FROM clause of a statement in the JSON form, and conditions passed up by sub-selects without groups. */
export interface FromClause {
  readonly from?: FromForm;
  readonly where: readonly RowCondition[];
}

/** SELECT of a statement, with the tables that WITH names. */
export function withCommonTables(
  sql: SqlText,
  statement: Statement,
): { readonly select: Statement; readonly named: CommonTables } {
  if (statement.type !== 'with') return { select: statement, named: new Map() };
  let named: CommonTables = new Map();
  for (const { alias, statement: own } of statement.bind) {
    if (own.type !== 'select') throw refuse(sql, `${own.type.toUpperCase()} in WITH`, own);
    named = new Map([...named, [alias.name.toLowerCase(), { select: own, before: named }]]);
  }
  return { select: statement.in, named };
}

/** Reads FROM, and resolves the statement's names to its columns. */
export function readFrom(reading: FromContext, select: SelectFromStatement): FromClause {
  const { sql, policy } = reading;
  const items = select.from ?? [];
  const [first, ...more] = items;
  if (!first) throw refuse(sql, 'SELECT without FROM', select);
  sql.scope = undefined;
  sql.joined = new Set();
  const only = more.length === 0 ? subSelect(reading, first) : undefined;
  // A sub-select that only filters rows becomes its own FROM with an extra condition.
  if (only && !only.select.groupBy) {
    refuseOwn(sql, only.select);
    const inner = readFrom(only.reading, only.select);
    const where = only.select.where ? reading.conditions(only.select.where) : [];
    sql.scope = aliasScope(sql, only.as, sql.scope);
    return { ...inner, where: [...inner.where, ...where] };
  }
  const parts = items.map((item) => partOf(reading, item));
  const joined = more.map((item, i) => joinOf(reading, item, parts, i + 1));
  const joins = joined.map(({ form }) => form);
  const [base] = parts;
  const plain = more.length === 0 && base!.form.table === dataTable;
  const from = { ...base!.form, ...(joins.length > 0 && { join: joins }) };
  if (plain && base!.where.length === 0) {
    sql.scope = aliasScope(sql, base!.form.as);
    return { where: [] };
  }
  sql.scope = nameScope(sql, policy as Policy, from);
  const where = parts.flatMap(({ where: own, form }) => {
    const outer = sql.scope!;
    return own.flatMap((expr) => {
      sql.scope = (name) => outer(name, form.as);
      const conditions = reading.conditions(expr);
      sql.scope = outer;
      return conditions;
    });
  });
  return { ...(!plain && { from }), where: [...where, ...joined.flatMap(({ where: own }) => own.flatMap(reading.conditions))] };
}

interface ReadPart {
  readonly form: PartForm & { readonly as: string };
  /** Conditions of a sub-select without groups. */
  readonly where: readonly Expr[];
}

/** Sub-select of an item, inline or by name, with the names in its scope. */
function subSelect(
  reading: FromContext,
  item: From,
): { readonly select: SelectFromStatement; readonly as: string; readonly reading: FromContext } | undefined {
  const { sql, named } = reading;
  refuseRenamed(sql, item);
  if (item.type === 'statement') {
    if (item.statement.type !== 'select') throw refuse(sql, `${item.statement.type.toUpperCase()} in FROM`, item);
    return { select: item.statement, as: item.alias, reading };
  }
  if (item.type !== 'table') return undefined;
  const known = item.name.schema === undefined ? named.get(item.name.name.toLowerCase()) : undefined;
  return known && { select: known.select, as: item.name.alias ?? item.name.name, reading: { ...reading, named: known.before } };
}

/** `AS v(a, b)`: columns by their place. */
function refuseRenamed(sql: SqlText, item: From): void {
  const table = item.type === 'table' ? item.name : undefined;
  const names = item.type === 'statement' ? item.columnNames : table?.columnNames;
  if (names?.[0])
    throw refuse(
      sql,
      'a list of column names in FROM',
      names[0],
      'Name columns where they are made: SELECT person, COUNT(*) AS n.',
    );
}

function partOf(reading: FromContext, item: From): ReadPart {
  const { sql, policy } = reading;
  if (item.type === 'call') throw refuse(sql, 'function in FROM', item);
  if (item.lateral) throw refuse(sql, 'LATERAL', item);
  const inner = subSelect(reading, item);
  if (inner?.select.groupBy) return { form: { perPerson: personRows(inner.reading, inner.select), as: inner.as }, where: [] };
  if (inner) {
    refuseOwn(sql, inner.select);
    const [only, other] = inner.select.from ?? [];
    if (!only || other)
      throw refuse(
        sql,
        'a join inside a joined sub-select',
        item,
        'Join its tables in the outer FROM, or group it by the person.',
      );
    const part = partOf(inner.reading, only);
    return { form: { ...part.form, as: inner.as }, where: [...part.where, ...(inner.select.where ? [inner.select.where] : [])] };
  }
  if (item.type !== 'table') throw refuse(sql, 'function in FROM', item);
  const table = tableNamed(sql, policy, item);
  return { form: { table, as: item.name.alias ?? item.name.name }, where: [] };
}

function tableNamed(sql: SqlText, policy: SqlPolicy, item: From & { readonly type: 'table' }): string {
  const declaredTables = [...(policy.tables?.keys() ?? [])];
  const own = item.name.schema === undefined ? declaredTables.find((name) => isNamed([name], item.name)) : undefined;
  if (own !== undefined) return own;
  const tables = tableNames(policy.data);
  if (isNamed(tables, item.name)) return dataTable;
  const quoted = (name: string) => (/^[a-z_][a-z0-9_]*$/i.test(name) ? name : `"${name}"`);
  throw new Fault(
    'QUERY_INVALID',
    `The policy has no table "${item.name.name.slice(0, 80)}" (${sql.at(item)}).`,
    `Write FROM ${[...tables, ...declaredTables].map(quoted).join(' or FROM ')}; other tables are declared under tables:, and relations are counted by joins and patterns.`,
  );
}

/** A sub-select without groups keeps rows and columns as they are. */
function refuseOwn(sql: SqlText, select: SelectFromStatement): void {
  refuseClauses(sql, select);
  for (const { expr, alias } of select.columns ?? [])
    if (expr.type !== 'ref' || (alias && alias.name !== expr.name))
      throw refuse(
        sql,
        'a column of another name or value in a sub-select without groups',
        expr,
        'Write SELECT *, and the expression outside; or GROUP BY the person for one row each.',
      );
}
function refuseClauses(sql: SqlText, select: SelectFromStatement): void {
  const clauses = { distinct: 'DISTINCT', having: 'HAVING', orderBy: 'ORDER BY', limit: 'LIMIT' };
  refuseAll(sql, select, clauses, { suffix: ' in a sub-select' });
}

/** Join, and the conditions of its ON clause that may move to WHERE. */
function joinOf(
  reading: FromContext,
  item: From,
  parts: readonly ReadPart[],
  at: number,
): { readonly form: JoinForm; readonly where: readonly Expr[] } {
  const { sql } = reading;
  const { form, where } = parts[at]!;
  const { join } = item;
  if (!join || join.type === 'CROSS JOIN')
    throw refuse(sql, 'JOIN without a condition', item, 'Write JOIN people USING (person).');
  if (join.type !== 'INNER JOIN' && join.type !== 'LEFT JOIN')
    throw refuse(sql, join.type, item, 'Write JOIN or LEFT JOIN, with the table whose rows are to stay first.');
  const optional = join.type === 'LEFT JOIN';
  if (optional && where.length > 0)
    throw refuse(
      sql,
      'WHERE in the sub-select of a LEFT JOIN',
      item,
      'Write the condition into the outer WHERE, or group by the person.',
    );
  const others = join.on ? conjuncts(join.on).filter((part) => !isEquality(part)) : [];
  if (optional && others[0])
    throw refuse(
      sql,
      'this condition in the ON of a LEFT JOIN',
      others[0],
      'Compare columns there, joined by AND. For rows that pass a condition join rows per person: LEFT JOIN (SELECT person, COUNT(*) AS n FROM visits WHERE cost > 50 GROUP BY person) AS v USING (person).',
    );
  return { form: { ...form, on: conditionsOfJoin(reading, join, parts, at), ...(optional && { optional }) }, where: others };
}

function conditionsOfJoin(
  { sql, policy }: FromContext,
  { on, using }: JoinClause,
  parts: readonly ReadPart[],
  at: number,
): JoinForm['on'] {
  const names = joiningNames(policy);
  if (using) return using.map(({ name }) => declaredSpelling(names, name));
  if (!on) throw refuse(sql, 'JOIN without a condition', undefined, 'Write JOIN people USING (person).');
  const own = parts[at]!.form.as;
  const aliases = parts.map(({ form }) => form.as);
  const pairs = equalities(sql, on).map(([a, b]) => {
    const sides = [sideOf(a, own, aliases), sideOf(b, own, aliases)];
    if (sides[0] !== undefined && sides[0] === sides[1])
      throw refuse(
        sql,
        sides[0] === 'own' ? `a condition on "${own}" alone in ON` : `a condition in ON that says nothing of "${own}"`,
        a,
        `Compare a column of "${own}" with one of a table before it; other conditions belong into WHERE.`,
      );
    const [left, right] = sideOf(a, own, aliases) === 'own' || sideOf(b, own, aliases) === 'other' ? [b, a] : [a, b];
    const as = left.table && declaredSpelling(aliases, left.table.name);
    const column = declaredSpelling(names, left.name);
    return [as === undefined ? column : `${as}.${column}`, declaredSpelling(names, right.name)] as const;
  });
  const twice = pairs.find(([text], i) => pairs.findIndex(([other]) => other === text) !== i);
  if (twice) throw refuse(sql, `"${twice[0]}" compared with two columns in ON`, on, 'Compare every column with one other.');
  return Object.fromEntries(pairs);
}
type Ref = Extract<Expr, { type: 'ref' }>;
const sideOf = (ref: Ref, own: string, aliases: readonly string[]): 'own' | 'other' | undefined =>
  ref.table && (declaredSpelling(aliases, ref.table.name) === own ? 'own' : 'other');

const conjuncts = (expr: Expr): readonly Expr[] =>
  expr.type === 'binary' && expr.op === 'AND' ? [...conjuncts(expr.left), ...conjuncts(expr.right)] : [expr];
const isEquality = (expr: Expr): expr is Extract<Expr, { type: 'binary' }> & { left: Ref; right: Ref } =>
  expr.type === 'binary' && expr.op === '=' && expr.left.type === 'ref' && expr.right.type === 'ref';

function equalities(sql: SqlText, expr: Expr): readonly (readonly [Ref, Ref])[] {
  const found = conjuncts(expr).filter(isEquality);
  if (found.length > 0) return found.map(({ left, right }) => [left, right]);
  throw refuse(
    sql,
    'a JOIN that compares no columns',
    expr,
    'Write ON a.person = b.person; other conditions are joined to it by AND.',
  );
}

const joiningNames = ({ data, columns, protect, tables }: SqlPolicy): readonly string[] => [
  ...new Set([
    ...(protect?.unit === undefined ? [] : [protect.unit]),
    ...(data.links ?? []),
    ...columns.keys(),
    ...[...(tables?.values() ?? [])].flatMap((t) => [
      ...(t.unit === undefined ? [] : [t.unit]),
      ...(t.key ?? []),
      ...t.links,
      ...t.columns.keys(),
    ]),
  ]),
];

/** `SELECT person, COUNT(*) AS visits, … FROM … GROUP BY person`: one row for each person. */
function personRows(reading: FromContext, select: SelectFromStatement): NonNullable<PartForm['perPerson']> {
  const { sql, policy } = reading;
  refuseClauses(sql, select);
  const [outer, joined] = [sql.scope, sql.joined];
  const inner = readFrom(reading, select);
  const unit = policy.protect?.unit;
  const isPerson = (expr: Expr) =>
    expr.type === 'ref' && expr.name !== '*' && unit !== undefined && referencedColumn(sql, expr) === unit;
  const others = (select.groupBy ?? []).filter((expr) => !isPerson(expr));
  if (others[0])
    throw refuse(
      sql,
      'a sub-select grouped by something else than the person',
      others[0],
      unit === undefined ? 'Sub-selects need the secret "person".' : `Write GROUP BY ${unit}: one row for each person.`,
    );
  const where = [...inner.where, ...(select.where ? reading.conditions(select.where) : [])];
  const features = (select.columns ?? []).flatMap(({ expr, alias }): [string, FeatureForm][] => {
    if (isPerson(expr)) return [];
    if (expr.type !== 'call') throw refuse(sql, 'this column of a sub-select per person', expr, featureHint);
    return [[alias?.name ?? expr.function.name.toLowerCase(), featureOf(sql, expr)]];
  });
  const twice = features.find(([name], i) => features.findIndex(([other]) => other === name) !== i);
  if (twice)
    throw refuse(sql, `two columns "${twice[0]}" in a sub-select`, select, 'Give each a name of its own: SUM(cost) AS paid.');
  sql.scope = outer;
  sql.joined = joined;
  const from = inner.from ?? dataTable;
  return { from, ...(where.length > 0 && { where }), features: Object.fromEntries(features) };
}
const featureHint =
  'Per person there are COUNT(*), SUM, AVG, MIN, MAX of a number, MODE of a category, and ARG_MIN(kind, day), ARG_MAX(kind, day) for the first and the last.';
const oneColumn: Readonly<Record<string, 'sum' | 'mean' | 'least' | 'most' | 'usual'>> = {
  sum: 'sum',
  avg: 'mean',
  mean: 'mean',
  min: 'least',
  max: 'most',
  mode: 'usual',
};
const twoColumns: Readonly<Record<string, 'first' | 'last'>> = {
  arg_min: 'first',
  min_by: 'first',
  arg_max: 'last',
  max_by: 'last',
};

function featureOf(sql: SqlText, call: ExprCall): FeatureForm {
  const word = call.function.name.toLowerCase();
  refuseAll(
    sql,
    call,
    { distinct: 'DISTINCT', orderBy: 'ORDER BY', filter: 'FILTER', over: 'window function' },
    { suffix: ` in ${word.toUpperCase()} per person` },
  );
  const [a, b, more] = call.args;
  if (word === 'count' && a?.type === 'ref' && a.name === '*') return { kind: 'count' };
  if (word === 'mode' && !a && call.withinGroup) return { kind: 'usual', column: referencedColumn(sql, call.withinGroup.by) };
  const calculated = [a, b].find((expr) => expr && expr.type !== 'ref');
  if (calculated && (Object.hasOwn(oneColumn, word) || Object.hasOwn(twoColumns, word)))
    throw refuse(
      sql,
      `a calculation in ${word.toUpperCase()} per person`,
      calculated,
      'Per person, columns are used as they are: SUM(cost) AS spent; calculate outside: AVG(2 * spent).',
    );
  if (a && !b && Object.hasOwn(oneColumn, word)) return { kind: oneColumn[word]!, column: referencedColumn(sql, a) };
  if (a && b && !more && Object.hasOwn(twoColumns, word))
    return { kind: twoColumns[word]!, column: referencedColumn(sql, a), by: referencedColumn(sql, b) };
  throw refuse(sql, `function ${word.toUpperCase()} per person`, call as PGNode, featureHint);
}
