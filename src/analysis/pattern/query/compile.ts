import type { Dialect } from '../../../data/engine/dialect.js';
import type { Statement } from '../../../data/engine/engine.js';
import { relationView } from '../../../data/engine/structure.js';
import type { BoundPattern, PatternGoal } from './bind.js';
import type { ResidualPart } from './residual.js';

/** The exact answer as one number in one row. With `mostTies`, values tied to more than that many others are left out first. */
export function compilePattern(q: BoundPattern, dialect: Dialect, mostTies?: number): Statement {
  const join = joinOf(q, [...q.goals.keys()], dialect, mostTies);
  if (q.sum) {
    const [low, high] = q.sum.bounds;
    const value = dialect.numberInText(join.expression(q.sum.symbol));
    const clamped = `CASE WHEN ${value} IS NULL THEN 0 WHEN ${value} <= ${low} THEN ${low} WHEN ${value} >= ${high} THEN ${high} ELSE ${dialect.rounded(value)} END`;
    return statement(join, `SELECT ${dialect.text(`COALESCE(SUM(${dialect.wide(clamped)}), 0)`)} FROM ${join.body}`);
  }
  if (q.head.length === q.variables.length) return statement(join, `SELECT COUNT(*) FROM ${join.body}`);
  const columns = q.head.map((s, i) => `${join.expression(s)} AS h${i}`).join(', ');
  return statement(join, `SELECT COUNT(*) FROM (SELECT DISTINCT ${columns} FROM ${join.body}) h`);
}

/**
 * Most assignments of the goals `part` with the symbols of `boundary` fixed: the combinations of one changed tuple. The boundary is
 * every symbol that `part` shares with the other goals.
 */
export function compileLargest(
  q: BoundPattern,
  { part, boundary }: Pick<ResidualPart, 'part' | 'boundary'>,
  dialect: Dialect,
): Statement {
  const join = joinOf(q, part, dialect);
  if (boundary.length === 0) return statement(join, `SELECT COUNT(*) FROM ${join.body}`);
  const keys = boundary.map((s) => join.expression(s)).join(', ');
  return statement(join, `SELECT COALESCE(MAX(c), 0) FROM (SELECT COUNT(*) AS c FROM ${join.body} GROUP BY ${keys}) h`);
}

/** Number of results in which each value of one symbol takes part. */
export function compilePerValue(q: BoundPattern, symbol: number, dialect: Dialect): Statement {
  const join = joinOf(q, [...q.goals.keys()], dialect);
  return statement(join, `SELECT COUNT(*) AS c FROM ${join.body} GROUP BY ${join.expression(symbol)}`);
}

/** Number of different values of a relation; more than the declared domain breaks a declaration. */
export function compileDomainCheck(q: BoundPattern, relation: number): Statement {
  const { name, columns } = q.relations[relation]!;
  const values = columns.map((_, i) => `SELECT c${i} AS v FROM ${relationView(name)}`).join(' UNION ');
  return { sql: `SELECT COUNT(*) FROM (${values}) d`, values: [] };
}

const statement = (join: ReturnType<typeof joinOf>, sql: string): Statement => ({ sql, values: join.values });

/** In an undirected relation a self-tuple is no tie. */
const tuplesOf = (q: BoundPattern, relation: number): string => {
  const name = relationView(q.relations[relation]!.name);
  return q.closed.includes(relation)
    ? `(SELECT c0, c1 FROM ${name} WHERE c0 <> c1 UNION SELECT c1, c0 FROM ${name} WHERE c0 <> c1)`
    : name;
};

/** The tuples of a relation whose two ends are tied to at most `mostTies` others each. */
function withoutHubs(all: string, mostTies: number): string {
  const hubs = `SELECT v FROM (SELECT c0 AS v, c1 AS w FROM ${all} y UNION SELECT c1, c0 FROM ${all} z) x WHERE v <> w GROUP BY v HAVING COUNT(*) > ${mostTies}`;
  return `(SELECT * FROM ${all} w WHERE c0 NOT IN (${hubs}) AND c1 NOT IN (${hubs}))`;
}

/**
 * Join of the goals: names come from the policy and are quoted, constants are bound. Each next goal shares a symbol with earlier ones
 * if possible. The body stands after FROM.
 */
function joinOf(q: BoundPattern, part: readonly number[], dialect: Dialect, mostTies?: number) {
  const values: string[] = [];
  const bind = (text: string): string => `$${values.push(text)}`;
  const expressions = new Map<number, string>();
  const constantTests: string[] = [];
  let from = '';
  for (const [step, goal] of ordered(q, part).entries()) {
    const alias = `t${step + 1}`;
    const on: string[] = [];
    for (const [i, s] of goal.symbols.entries()) {
      const column = `${alias}.c${i}`;
      const seen = expressions.get(s);
      if (s < q.constants.length) (step === 0 ? constantTests : on).push(`${column} = ${bind(q.constants[s]!)}`);
      else if (seen === undefined) expressions.set(s, column);
      else (step === 0 ? constantTests : on).push(`${column} = ${seen}`);
    }
    const tuples = tuplesOf(q, goal.relation);
    const source = `${mostTies !== undefined && q.relations[goal.relation]!.private ? withoutHubs(tuples, mostTies) : tuples} ${alias}`;
    const joined = on.length > 0 ? ` JOIN ${source} ON ${on.join(' AND ')}` : ` CROSS JOIN ${source}`;
    from += step === 0 ? source : joined;
  }
  const expression = (s: number): string => expressions.get(s)!;
  const here = (s: number) => s < q.constants.length || expressions.has(s);
  const side = (s: number) => (s < q.constants.length ? bind(q.constants[s]!) : expression(s));
  const differ = q.unequal.filter(([a, b]) => here(a) && here(b)).map(([a, b]) => `${side(b)} <> ${side(a)}`);
  // Names that are no numbers meet no condition on numbers.
  const filters = q.filters
    .filter((f) => here(f.symbol))
    .map((f) => `${dialect.numberInText(expression(f.symbol))} ${f.op} ${dialect.real(bind(f.value))}`);
  const tests = [...constantTests, ...differ, ...filters];
  return { body: tests.length > 0 ? `${from} WHERE ${tests.join(' AND ')}` : from, values, expression };
}

/**
 * Rows of intermediate joins if every value occurs in `degree` tuples of a column: a goal without shared symbols multiplies by all of
 * its tuples.
 */
export function rowsJoined(q: BoundPattern, part: readonly number[], degree: number): number {
  const bound = new Set<number>();
  let [rows, total] = [1, 0];
  for (const goal of ordered(q, part)) {
    const { domain } = q.relations[goal.relation]!;
    const fanOut = Math.min(degree, domain);
    const free = new Set(goal.symbols.filter((s) => s >= q.constants.length && !bound.has(s))).size;
    const starts = free === new Set(goal.symbols).size ? domain : 1;
    rows *= free === 0 ? 1 : starts * fanOut ** Math.min(free, Math.max(1, goal.symbols.length - 1));
    total += rows;
    for (const s of goal.symbols) bound.add(s);
  }
  return total;
}

function ordered(q: BoundPattern, part: readonly number[]): PatternGoal[] {
  const left = part.map((i) => q.goals[i]!);
  const bound = new Set<number>();
  const result: PatternGoal[] = [];
  const score = (g: PatternGoal) =>
    g.symbols.filter((s) => bound.has(s)).length * 2 + (g.symbols.some((s) => s < q.constants.length) ? 1 : 0);
  while (left.length > 0) {
    const best = left.reduce((a, g) => (score(g) > score(a) ? g : a));
    left.splice(left.indexOf(best), 1);
    for (const s of best.symbols) if (s >= q.constants.length) bound.add(s);
    result.push(best);
  }
  return result;
}
