import type { Expr, ExprRef, From, PGNode, SelectFromStatement, Statement } from 'pgsql-ast-parser';
import { Fault } from '../../../base/errors.js';
import type { Relation } from '../../../policy/policy.js';
import { declaredSpelling, refuse, refuseAll, SqlText } from '../../../query/sql/refuse.js';
import { sqlStatements } from '../../../query/sql/statements.js';
import {
  type Atom,
  type Comparator,
  comparators,
  constantTerm,
  type Pattern,
  type PatternComparison,
  type PatternTerm,
  type PatternVariable,
  type TextPosition,
  variableTerm,
} from './written.js';

/**
 * Pattern of an SQL query over declared relations: COUNT(*), COUNT(DISTINCT columns) or SUM(column), equality joins, and conditions
 * joined by AND. Relations are sets, so repeated rows count once.
 */
export function patternFromSql(text: string, relations: ReadonlyMap<string, Relation>): Pattern {
  const sql = new SqlText(text);
  const select = selectOf(sql);
  refuseAll(
    sql,
    select,
    { distinct: 'DISTINCT', having: 'HAVING', groupBy: 'GROUP BY', orderBy: 'ORDER BY', limit: 'LIMIT' },
    { suffix: ' over a join' },
  );
  const tables = (select.from ?? []).map((from) => tableOf(sql, from, relations));
  const names = new Set(tables.map((t) => t.alias));
  if (names.size < tables.length)
    throw invalid(sql, select, 'Two tables have the same name', 'Give each an alias: friend f1 JOIN friend f2.');
  const conditions = [
    ...(select.from ?? []).flatMap((f) => (f.join?.on ? [f.join.on] : [])),
    ...(select.where ? [select.where] : []),
  ].flatMap((e) => conjuncts(sql, e));

  const classes = new Classes();
  const column = (ref: ExprRef) => columnOf(sql, ref, tables);
  const comparisons: PatternComparison[] = [];
  for (const { left, right, op, node } of conditions) {
    const [a, b] = [operand(sql, left, column), operand(sql, right, column)];
    if (op === '=') classes.join(sql, node, a, b);
    else comparisons.push({ left: a, op, right: b, at: place(sql, node) });
  }
  const atoms = tables.map(
    (t): Atom => ({ relation: t.relation.name, terms: t.relation.columns.map((c) => classes.term(variable(t, c))), at: t.at }),
  );
  const pattern = {
    atoms,
    comparisons: comparisons.map((c) => ({ ...c, left: classes.term(c.left), right: classes.term(c.right) })),
    symmetric: [],
  };
  return { ...pattern, ...headOf(sql, select, (ref) => classes.term(column(ref))) };
}

/** True if every table in the query is a declared relation (rather than the data itself). */
export function readsRelations(text: string, relations: ReadonlyMap<string, Relation>): boolean {
  if (relations.size === 0) return false;
  try {
    const [statement] = sqlStatements(text);
    if (statement?.type !== 'select') return false;
    const from = statement.from ?? [];
    return (
      from.length > 0 &&
      from.every((f) => f.type === 'table' && relations.has(declaredSpelling([...relations.keys()], f.name.name)))
    );
  } catch (error) {
    if (error instanceof Fault) throw error;
    return false;
  }
}

interface Table {
  readonly relation: Relation;
  readonly alias: string;
  readonly at: TextPosition;
}
const variable = (t: Table, column: string): PatternVariable => variableTerm(`${t.alias}.${column}`, t.at);

function selectOf(sql: SqlText): SelectFromStatement {
  let statements: Statement[];
  try {
    statements = sqlStatements(sql.text);
  } catch (error) {
    if (error instanceof Fault) throw error;
    throw new Fault(
      'QUERY_INVALID',
      'The SQL text cannot be read.',
      'Write SELECT COUNT(*) FROM friend f JOIN friend g ON f.b = g.a.',
    );
  }
  const [statement] = statements;
  if (statements.length !== 1 || statement?.type !== 'select') throw refuse(sql, 'this statement', statement);
  return statement;
}

function tableOf(sql: SqlText, from: From, relations: ReadonlyMap<string, Relation>): Table {
  if (from.type !== 'table') throw refuse(sql, from.type === 'statement' ? 'subselect' : 'function in FROM', from);
  if (from.join && !/^(INNER|CROSS) JOIN$/.test(from.join.type))
    throw refuse(sql, from.join.type, from, 'Only inner joins are counted.');
  if (from.join?.using) throw refuse(sql, 'USING', from, 'Write ON a.x = b.y.');
  const relation = relations.get(declaredSpelling([...relations.keys()], from.name.name));
  if (!relation)
    throw new Fault(
      'RELATION_UNKNOWN',
      `There is no relation "${from.name.name}" (${sql.at(from)}).`,
      `Declared relations: ${[...relations.keys()].join(', ') || 'none'}.`,
    );
  return { relation, alias: from.name.alias ?? from.name.name, at: place(sql, from) };
}

function columnOf(sql: SqlText, ref: ExprRef, tables: readonly Table[]): PatternVariable {
  const named = (t: Table) => declaredSpelling(t.relation.columns, ref.name);
  const owners = tables.filter((t) => (ref.table ? t.alias === ref.table.name : true) && t.relation.columns.includes(named(t)));
  if (owners.length === 1) return variable(owners[0]!, named(owners[0]!));
  if (owners.length > 1)
    throw invalid(sql, ref, `The column "${ref.name}" is in several tables`, 'Write the table before it, as in f.a.');
  throw new Fault(
    'COLUMN_UNKNOWN',
    `No joined relation has a column "${ref.name}" (${sql.at(ref)}).`,
    `Columns: ${tables.flatMap((t) => t.relation.columns.map((c) => `${t.alias}.${c}`)).join(', ')}.`,
  );
}

type Test = { readonly left: Expr; readonly right: Expr; readonly op: Comparator | '='; readonly node: PGNode };
function conjuncts(sql: SqlText, e: Expr): Test[] {
  if (e.type === 'ternary' && e.op === 'BETWEEN')
    return [
      { left: e.value, right: e.lo, op: '>=', node: e },
      { left: e.value, right: e.hi, op: '<=', node: e },
    ];
  if (e.type !== 'binary') throw refuse(sql, 'this condition', e);
  if (e.op === 'AND') return [...conjuncts(sql, e.left), ...conjuncts(sql, e.right)];
  const op = e.op === '=' ? e.op : comparators[e.op];
  if (!op) throw refuse(sql, e.op, e, 'Conditions are comparisons joined by AND.');
  return [{ left: e.left, right: e.right, op, node: e }];
}

function operand(sql: SqlText, e: Expr, column: (ref: ExprRef) => PatternVariable): PatternTerm {
  if (e.type === 'ref' && e.name !== '*') return column(e);
  if (e.type === 'string') return constantTerm(e.value, 'text', place(sql, e));
  if (e.type === 'integer' || e.type === 'numeric') return constantTerm(String(e.value), 'number', place(sql, e));
  throw refuse(sql, 'an expression in a condition', e);
}

/** Columns made equal are one variable; a column made equal to a constant is that constant. */
class Classes {
  private readonly parent = new Map<string, PatternTerm>();
  term(t: PatternTerm): PatternTerm {
    let current = t;
    while (current.kind === 'variable') {
      const next = this.parent.get(current.name);
      if (!next) break;
      current = next;
    }
    return current;
  }
  join(sql: SqlText, node: PGNode, a: PatternTerm, b: PatternTerm): void {
    const [x, y] = [this.term(a), this.term(b)];
    if (x.kind === 'variable') {
      if (!(y.kind === 'variable' && y.name === x.name)) this.parent.set(x.name, y);
    } else if (y.kind === 'variable') this.parent.set(y.name, x);
    else if (x.value !== y.value)
      throw new Fault(
        'PATTERN_UNSATISFIABLE',
        `Two different constants can never be equal (${sql.at(node)}).`,
        'The answer is 0 whatever the data.',
      );
  }
}

function headOf(
  sql: SqlText,
  select: SelectFromStatement,
  term: (ref: ExprRef) => PatternTerm,
): Pick<Pattern, 'name' | 'head' | 'sum'> {
  const [column, more] = select.columns ?? [];
  const call = column?.expr;
  if (!call || more || call.type !== 'call')
    throw refuse(
      sql,
      'this SELECT list over a join',
      call ?? select,
      'Ask for one of COUNT(*), COUNT(DISTINCT a, b) and SUM(a).',
    );
  refuseAll(sql, call, { orderBy: 'ORDER BY', filter: 'FILTER', over: 'window function' });
  const word = call.function.name.toLowerCase();
  const variables = (): PatternVariable[] =>
    call.args.map((a) => {
      const t = a.type === 'ref' && a.name !== '*' ? term(a) : undefined;
      if (t?.kind !== 'variable') throw refuse(sql, `this argument of ${word.toUpperCase()}`, a);
      return t;
    });
  if (word === 'count') {
    const [first] = call.args;
    if (first?.type === 'ref' && first.name === '*') return { name: 'q', head: [] };
    if (!call.distinct) return { name: 'q', head: [] };
    return { name: 'q', head: variables().filter((v, i, all) => all.findIndex((w) => w.name === v.name) === i) };
  }
  if (word === 'sum' && call.args.length === 1 && !call.distinct)
    return { name: 'sum', head: [], sum: { variable: variables()[0]! } };
  throw refuse(sql, `${word.toUpperCase()} over a join`, call, 'Ask for one of COUNT(*), COUNT(DISTINCT a, b) and SUM(a).');
}

const place = (sql: SqlText, node: PGNode): TextPosition => {
  const offset = node._location?.start ?? 0;
  const before = sql.text.slice(0, offset).split('\n');
  return { line: before.length, column: before.at(-1)!.length + 1 };
};
const invalid = (sql: SqlText, node: PGNode, message: string, hint: string): Fault =>
  new Fault('QUERY_INVALID', `${message} (${sql.at(node)}).`, hint);
