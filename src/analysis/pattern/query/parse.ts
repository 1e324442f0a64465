import { within } from '../../../base/input/limits.js';
import { type PatternToken, syntaxFault, tokens } from './lexer.js';
import type {
  Atom,
  Comparator,
  Pattern,
  PatternComparison,
  PatternConstant,
  PatternTerm,
  PatternVariable,
  SumHead,
} from './written.js';

export type Parameters = Readonly<Record<string, string | number>>;

const example = 'Write it like q(x, y) :- friend(x, y), x != y.';
const byName =
  'By name there are edges, triangles, 2-paths, 3-stars, 4-cycles, 4-cliques, 2-triangles, degrees and clustering coefficient; everything else is written like q(x, y) :- friend(x, y), x != y.';
const comparators: Readonly<Record<string, Comparator>> = {
  '!=': '!=',
  '<>': '!=',
  '≠': '!=',
  '<': '<',
  '<=': '<=',
  '>': '>',
  '>=': '>=',
};

/** Reads the text of a pattern; names are not looked up here (bind.ts does). */
export function parsePattern(source: string, parameters: Parameters = {}): Pattern {
  const list = tokens(source);
  const symmetric: string[] = [];
  const code = list.filter((t) => {
    if (t.kind === 'pragma') symmetric.push(...pragmaNames(t));
    return t.kind !== 'pragma';
  });
  let next = 0;
  const peek = (): PatternToken => code[next]!;
  const take = (): PatternToken => code[next++]!;
  if (!code.some(({ kind, text }) => kind === 'mark' && text === '('))
    throw syntaxFault('No pattern is called this', byName, peek().at);
  const accept = (mark: string): boolean => peek().kind === 'mark' && peek().text === mark && next++ >= 0;
  const expect = (mark: string) => {
    if (!accept(mark)) throw syntaxFault(`A "${mark}" is missing`, example, peek().at);
  };
  const name = (what: string): PatternToken => {
    if (peek().kind !== 'name') throw syntaxFault(`${what} is missing`, example, peek().at);
    return take();
  };
  const variable = (): PatternVariable => {
    const t = name('A variable');
    return { kind: 'variable', name: t.text, at: t.at };
  };
  const term = (): PatternTerm => {
    if (peek().kind === 'name') return variable();
    const t = take();
    if (t.kind === 'number') return { kind: 'constant', value: t.text, type: 'number', at: t.at };
    if (t.kind === 'text') return { kind: 'constant', value: t.text.slice(1, -1).replaceAll("''", "'"), type: 'text', at: t.at };
    if (t.kind === 'parameter') return parameter(t, parameters);
    throw syntaxFault('A variable or a constant is missing', example, t.at);
  };
  const listOf = <T>(item: () => T): T[] => {
    const items = [item()];
    while (accept(',')) {
      items.push(item());
      within('patternTerms', items.length);
    }
    return items;
  };
  const wholeNumber = (): bigint => {
    const t = take();
    if (t.kind !== 'number' || !/^-?\d+$/.test(t.text))
      throw syntaxFault('The bounds of a sum are whole numbers', 'Write sum(a in 0..100) :- person(x, a).', t.at);
    return BigInt(t.text);
  };

  const headName = name('The name of the query');
  expect('(');
  let sum: SumHead | undefined;
  let head: PatternVariable[] = [];
  if (headName.text === 'sum') sum = sumHead();
  else if (!accept(')')) {
    head = listOf(variable);
    expect(')');
  }
  expect(':-');

  const atoms: Atom[] = [];
  const comparisons: PatternComparison[] = [];
  let goals = 0;
  do {
    item();
    within('patternGoals', ++goals);
  } while (accept(','));
  accept('.');
  if (peek().kind !== 'end') throw syntaxFault('Something follows the end of the pattern', example, peek().at);
  return { name: headName.text, head, atoms, comparisons, symmetric, ...(sum && { sum }) };

  function sumHead(): SumHead {
    const of = variable();
    if (peek().kind === 'name' && peek().text === 'in') {
      take();
      const low = wholeNumber();
      expect('..');
      const high = wholeNumber();
      expect(')');
      if (low > high) throw syntaxFault('The lower bound is above the upper', 'Write sum(a in 0..100).', of.at);
      return { variable: of, bounds: [low, high] };
    }
    expect(')');
    return { variable: of };
  }

  function item(): void {
    const at = peek().at;
    if (peek().kind === 'name' && code[next + 1]?.text === '(') {
      const relation = take().text;
      expect('(');
      const terms = listOf(term);
      expect(')');
      if (relation === 'all_distinct') comparisons.push(...pairs(terms, at));
      else atoms.push({ relation, terms, at });
      return;
    }
    const left = term();
    const op = peek().kind === 'mark' ? comparators[peek().text] : undefined;
    if (!op)
      throw syntaxFault(
        'A comparison is missing',
        'Use !=, <, <=, > or >=; equality is written by reusing a variable.',
        peek().at,
      );
    take();
    comparisons.push({ left, op, right: term(), at });
  }
}

const pragmaNames = (t: PatternToken): string[] =>
  t.text
    .slice('%symmetric'.length)
    .split(/[\s,]+/)
    .filter(Boolean);

const pairs = (terms: readonly PatternTerm[], at: PatternComparison['at']): PatternComparison[] =>
  terms.flatMap((left, i) => terms.slice(i + 1).map((right): PatternComparison => ({ left, op: '!=', right, at })));

function parameter(t: PatternToken, parameters: Parameters): PatternConstant {
  const key = t.text.slice(1);
  const value = Object.hasOwn(parameters, key) ? parameters[key] : undefined;
  if (value === undefined) throw syntaxFault(`The parameter ${t.text} has no value`, 'Pass a value for every parameter.', t.at);
  return { kind: 'constant', value: String(value), type: typeof value === 'number' ? 'number' : 'text', at: t.at };
}
