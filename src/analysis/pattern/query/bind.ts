import { nameText } from '../../../data/engine/name.js';
import type { Column, Relation } from '../../../policy/policy.js';
import {
  type Atom,
  type Comparator,
  type Pattern,
  type PatternComparison,
  type PatternTerm,
  type PatternVariable,
  patternFault,
  type SumHead,
  type TextPosition,
} from './written.js';

/** Declarations a pattern is bound against: the relations, and the columns that share a name with theirs. */
export interface PatternSchema {
  readonly relations: ReadonlyMap<string, Relation>;
  readonly columns?: ReadonlyMap<string, Column>;
}

/**
 * A checked pattern. Symbols are numbers: constants first, then variables; different constants are different members. Goals are a set
 * without duplicates (reversed ones in symmetric relations included) and without symmetric self-ties.
 */
export interface BoundPattern {
  readonly constants: readonly string[];
  readonly variables: readonly string[];
  readonly relations: readonly Relation[];
  /** Relations stored in one direction that a pragma declares undirected: the SQL reads both. */
  readonly closed: readonly number[];
  readonly goals: readonly PatternGoal[];
  /** Symbols counted by the head, in order. */
  readonly head: readonly number[];
  readonly unequal: readonly (readonly [number, number])[];
  readonly filters: readonly SymbolFilter[];
  readonly sum?: { readonly symbol: number; readonly bounds: readonly [bigint, bigint] };
  /** Goals that were written more than once. */
  readonly collapsed: readonly string[];
}
export interface PatternGoal {
  /** Index into `relations`. */
  readonly relation: number;
  readonly symbols: readonly number[];
}
/** An attribute filter keeps the assignments whose value passes; it can only lower a count. */
export interface SymbolFilter {
  readonly symbol: number;
  readonly op: Comparator;
  readonly value: string;
}

export function bindPattern(written: Pattern, schema: PatternSchema): BoundPattern {
  const pattern = withNames(written);
  const relations = declaredRelations(pattern, schema);
  const variables = [...new Set(pattern.atoms.flatMap((a) => a.terms.filter(isVariable).map((t) => t.name)))];
  const occurs = (v: PatternVariable) => {
    if (!variables.includes(v.name))
      throw patternFault(
        'PATTERN_UNSAFE',
        v.at,
        `The variable ${v.name} occurs in no goal`,
        'Every variable must occur in some relation.',
      );
  };
  for (const [i, v] of pattern.head.entries()) {
    occurs(v);
    if (pattern.head.slice(0, i).some((w) => w.name === v.name))
      throw patternFault('PATTERN_HEAD', v.at, `The head names ${v.name} twice`, 'Name each counted variable once.');
  }
  const kept = pattern.comparisons.filter((c) => {
    for (const t of [c.left, c.right]) if (isVariable(t)) occurs(t);
    return !holdsAlready(c);
  });
  const named = [...pattern.atoms.flatMap((a) => a.terms), ...kept.filter(isUnequal).flatMap((c) => [c.left, c.right])];
  const constants = [...new Set(named.flatMap((t) => (isVariable(t) ? [] : [t.value])))];
  const symbol = (t: PatternTerm): number =>
    isVariable(t) ? constants.length + variables.indexOf(t.name) : constants.indexOf(t.value);

  const { goals, collapsed } = distinctGoals(pattern.atoms, relations, symbol);
  const unequal = new Map<string, readonly [number, number]>();
  for (const c of kept.filter(isUnequal)) {
    const pair = [symbol(c.left), symbol(c.right)].sort((a, b) => a - b) as [number, number];
    unequal.set(pair.join(), pair);
  }
  const filters = kept.flatMap((c) => (isUnequal(c) ? [] : [filterOf(c, symbol)]));
  if (pattern.sum) occurs(pattern.sum.variable);
  const sum = pattern.sum && boundSum(pattern.sum, symbol(pattern.sum.variable), { goals, relations, columns: schema.columns });
  return {
    constants,
    variables,
    relations,
    closed: [...relations.keys()].filter((r) => relations[r]!.symmetric && !schema.relations.get(relations[r]!.name)!.symmetric),
    goals,
    head: pattern.head.length > 0 ? pattern.head.map(symbol) : variables.map((_, i) => constants.length + i),
    unequal: [...unequal.values()],
    filters,
    collapsed,
    ...(sum && { sum }),
  };
}

/** The relations of a pattern, in the order in which it names them. */
function declaredRelations(pattern: Pattern, schema: PatternSchema): readonly Relation[] {
  if (pattern.atoms.length === 0)
    throw patternFault(
      'PATTERN_UNSAFE',
      { line: 1, column: 1 },
      'The pattern names no relation',
      'Add at least one goal such as friend(x, y).',
    );
  const found = new Map<string, Relation>();
  for (const atom of pattern.atoms) {
    const declared = schema.relations.get(atom.relation);
    if (!declared)
      throw patternFault(
        'RELATION_UNKNOWN',
        atom.at,
        `There is no relation "${atom.relation}"`,
        `Declared relations: ${[...schema.relations.keys()].join(', ') || 'none'}.`,
      );
    const relation = pattern.symmetric.includes(atom.relation) ? { ...declared, symmetric: true } : declared;
    checkAtom(atom, relation, schema);
    if (!found.has(atom.relation)) found.set(atom.relation, relation);
  }
  return [...found.values()];
}

function distinctGoals(atoms: readonly Atom[], relations: readonly Relation[], symbol: (t: PatternTerm) => number) {
  const goals = new Map<string, PatternGoal>();
  const collapsed: string[] = [];
  for (const atom of atoms) {
    const relation = relations.findIndex((r) => r.name === atom.relation);
    const goal = { relation, symbols: atom.terms.map(symbol) };
    if (relations[relation]!.symmetric && goal.symbols[0] === goal.symbols[1])
      throw impossible(atom.at, `Nobody is tied to themselves in the symmetric relation ${atom.relation}`);
    const key = goalKey(goal, relations);
    if (goals.has(key)) collapsed.push(`${atom.relation}(${atom.terms.map(termText).join(', ')})`);
    else goals.set(key, goal);
  }
  return { goals: [...goals.values()], collapsed };
}

/** Constants as names in the spelling of the relations; numbers in comparisons stay as they are. */
function withNames(pattern: Pattern): Pattern {
  const named = (t: PatternTerm): PatternTerm => {
    if (isVariable(t)) return t;
    const value = nameText(t.value);
    if (value === undefined) throw impossible(t.at, 'This constant names nobody');
    return { ...t, value };
  };
  return {
    ...pattern,
    atoms: pattern.atoms.map((a) => ({ ...a, terms: a.terms.map(named) })),
    comparisons: pattern.comparisons.map((c) => (isUnequal(c) ? { ...c, left: named(c.left), right: named(c.right) } : c)),
  };
}

/** Fault of a contradiction: the answer is 0 whatever the data, so nothing is read and nothing spent. */
const impossible = (at: TextPosition, message: string) =>
  patternFault('PATTERN_UNSATISFIABLE', at, message, 'The answer is 0 whatever the data. Remove it.');

const isVariable = (t: PatternTerm): t is PatternVariable => t.kind === 'variable';
const isUnequal = (c: PatternComparison): boolean => c.op === '!=';
const termText = (t: PatternTerm): string => (isVariable(t) ? t.name : `'${t.value}'`);

/** A tuple of a symmetric relation has no direction, so both spellings are one goal. */
export function goalKey(goal: PatternGoal, relations: readonly Relation[]): string {
  const { symmetric } = relations[goal.relation]!;
  const symbols = symmetric ? [...goal.symbols].sort((a, b) => a - b) : goal.symbols;
  return `${goal.relation}:${symbols.join()}`;
}

function checkAtom(atom: Atom, relation: Relation, schema: PatternSchema): void {
  const arity = relation.columns.length;
  if (atom.terms.length !== arity)
    throw patternFault(
      'PATTERN_ARITY',
      atom.at,
      `${atom.relation} has ${arity} columns, not ${atom.terms.length}`,
      `Its columns are ${relation.columns.join(', ')}.`,
    );
  if (relation.symmetric && arity !== 2)
    throw patternFault(
      'PATTERN_ARITY',
      atom.at,
      `Only a relation of two columns can be symmetric`,
      `${atom.relation} has ${arity}.`,
    );
  for (const [i, t] of atom.terms.entries()) {
    const column = schema.columns?.get(relation.columns[i]!);
    if (isVariable(t) || !column) continue;
    if ((column.type === 'integer' || column.type === 'number') && t.type !== 'number')
      throw patternFault('PATTERN_TYPE', t.at, `${column.name} holds numbers, not text`, 'Write the number without quotes.');
    if (column.type === 'category' && !column.values.some((code) => nameText(code) === t.value))
      throw patternFault(
        'VALUE_UNKNOWN',
        t.at,
        `${column.name} has no such value`,
        `Declared values: ${column.values.slice(0, 20).join(', ')}.`,
      );
  }
}

/** Comparisons of constants are evaluated at once. */
function holdsAlready(c: PatternComparison): boolean {
  const never = () => impossible(c.at, 'This condition can never hold');
  if (isVariable(c.left) && isVariable(c.right)) {
    if (!isUnequal(c))
      throw patternFault(
        'QUERY_UNSUPPORTED',
        c.at,
        'Two variables can only be compared with !=',
        'Compare a variable with a number.',
      );
    if (c.left.name === c.right.name) throw never();
    return false;
  }
  if (isVariable(c.left) || isVariable(c.right)) return false;
  const [a, b] = [c.left.value, c.right.value];
  const order = Number(a) - Number(b);
  const holds = { '!=': a !== b, '<': order < 0, '<=': order <= 0, '>': order > 0, '>=': order >= 0 }[c.op];
  if (!holds) throw never();
  return true;
}

const flipped: Readonly<Record<Comparator, Comparator>> = { '!=': '!=', '<': '>', '<=': '>=', '>': '<', '>=': '<=' };
function filterOf(c: PatternComparison, symbol: (t: PatternTerm) => number): SymbolFilter {
  const [variable, value, op] = isVariable(c.left) ? [c.left, c.right, c.op] : [c.right, c.left, flipped[c.op]];
  if (isVariable(value) || value.type !== 'number')
    throw patternFault('PATTERN_TYPE', c.at, 'An order comparison needs a number', 'Write for example a >= 30.');
  return { symbol: symbol(variable), op, value: value.value };
}

/** Largest clamped value: it fits 64 bits, and no number of such values overflows their sum. */
const largestTerm = 1n << 61n;

function boundSum(
  { variable, bounds }: SumHead,
  id: number,
  {
    goals,
    relations,
    columns,
  }: Pick<BoundPattern, 'goals' | 'relations'> & { readonly columns: PatternSchema['columns'] | undefined },
): NonNullable<BoundPattern['sum']> {
  const within = (low: bigint, high: bigint): NonNullable<BoundPattern['sum']> => {
    if (low < -largestTerm || high > largestTerm)
      throw patternFault('PATTERN_UNSAFE', variable.at, 'The bounds of the sum are too large', 'They must lie within 2^61 of 0.');
    return { symbol: id, bounds: [low, high] };
  };
  if (bounds) return within(...bounds);
  for (const goal of goals) {
    const column = columns?.get(relations[goal.relation]!.columns[goal.symbols.indexOf(id)] ?? '');
    if (column?.type === 'integer')
      return within(column.bounds[0].num / column.bounds[0].den, column.bounds[1].num / column.bounds[1].den);
  }
  throw patternFault(
    'PATTERN_UNSAFE',
    variable.at,
    `The sum of ${variable.name} has no bounds`,
    'Write sum(a in 0..100), or declare an integer column of that name.',
  );
}

/** Canonical text: the key of the ledger and of the stability cache. */
export function canonicalText(q: BoundPattern): string {
  const name = (s: number) =>
    s < q.constants.length ? `'${q.constants[s]!.replaceAll("'", "''")}'` : q.variables[s - q.constants.length]!;
  const head = q.sum ? `sum(${name(q.sum.symbol)} in ${q.sum.bounds.join('..')})` : `q(${q.head.map(name).join(', ')})`;
  const goals = q.goals.map((g) => `${q.relations[g.relation]!.name}(${g.symbols.map(name).join(', ')})`);
  const unequal = q.unequal.map(([a, b]) => `${name(a)} != ${name(b)}`);
  const filters = q.filters.map((f) => `${name(f.symbol)} ${f.op} ${f.value}`);
  const closed = q.closed.length > 0 ? ` %symmetric ${q.closed.map((r) => q.relations[r]!.name).join(' ')}` : '';
  return `${head} :- ${[...goals, ...unequal, ...filters].join(', ')}${closed}`;
}
