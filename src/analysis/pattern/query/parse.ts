import { within } from '../../../base/input/limits.js';
import {
  type Atom,
  comparators,
  constantTerm,
  type Pattern,
  type PatternComparison,
  type PatternTerm,
  type PatternVariable,
  patternFault,
  type SumHead,
  type TextPosition,
  variableTerm,
} from './written.js';

export type Parameters = Readonly<Record<string, string | number>>;

const example = 'Write it like q(x, y) :- friend(x, y), x != y.';
const byName =
  'By name there are edges, triangles, 2-paths, 3-stars, 4-cycles, 4-cliques, 2-triangles, degrees and clustering coefficient; everything else is written like q(x, y) :- friend(x, y), x != y.';
const syntaxFault = (what: string, hint: string, at: TextPosition) => patternFault('PATTERN_SYNTAX', at, what, hint);

/** Reads the text of a pattern; names are not looked up here (bind.ts does). */
export function parsePattern(source: string, parameters: Parameters = {}): Pattern {
  const all = tokens(source);
  const symmetric = all.flatMap((t) => (t.kind === 'pragma' ? pragmaNames(t) : []));
  const code = all.filter((t) => t.kind !== 'pragma');
  if (!code.some(({ kind, text }) => kind === 'mark' && text === '('))
    throw syntaxFault('No pattern is called this', byName, code[0]!.at);
  return { ...new PatternReader(code, parameters).pattern(), symmetric };
}

class PatternReader {
  #next = 0;
  readonly #code: readonly PatternToken[];
  readonly #parameters: Parameters;

  constructor(code: readonly PatternToken[], parameters: Parameters) {
    this.#code = code;
    this.#parameters = parameters;
  }

  pattern(): Omit<Pattern, 'symmetric'> {
    const { text: name } = this.#name('The name of the query');
    this.#expect('(');
    const head = name === 'sum' ? { head: [], sum: this.#sumHead() } : { head: this.#head() };
    this.#expect(':-');
    const atoms: Atom[] = [];
    const comparisons: PatternComparison[] = [];
    this.#list('patternGoals', () => this.#goal(atoms, comparisons));
    this.#accept('.');
    if (this.#peek().kind !== 'end') throw this.#missing('Something follows the end of the pattern');
    return { name, ...head, atoms, comparisons };
  }

  #head(): PatternVariable[] {
    if (this.#accept(')')) return [];
    return this.#closed(() => this.#variable());
  }

  #sumHead(): SumHead {
    const variable = this.#variable();
    if (this.#peek().kind !== 'name' || this.#peek().text !== 'in') {
      this.#expect(')');
      return { variable };
    }
    this.#take();
    const low = this.#wholeNumber();
    this.#expect('..');
    const high = this.#wholeNumber();
    this.#expect(')');
    if (low > high) throw syntaxFault('The lower bound is above the upper', 'Write sum(a in 0..100).', variable.at);
    return { variable, bounds: [low, high] };
  }

  /** A relation with its terms, `all_distinct`, or a comparison. */
  #goal(atoms: Atom[], comparisons: PatternComparison[]): void {
    const { at, kind } = this.#peek();
    if (kind === 'name' && this.#code[this.#next + 1]?.text === '(') {
      const relation = this.#take().text;
      this.#expect('(');
      const terms = this.#closed(() => this.#term());
      if (relation === 'all_distinct') comparisons.push(...pairs(terms, at));
      else atoms.push({ relation, terms, at });
      return;
    }
    const left = this.#term();
    const op = this.#peek().kind === 'mark' ? comparators[this.#peek().text] : undefined;
    if (!op) throw this.#missing('A comparison is missing', 'Use !=, <, <=, > or >=; equality is written by reusing a variable.');
    this.#take();
    comparisons.push({ left, op, right: this.#term(), at });
  }

  #term(): PatternTerm {
    if (this.#peek().kind === 'name') return this.#variable();
    const t = this.#take();
    if (t.kind === 'number') return constantTerm(t.text, 'number', t.at);
    if (t.kind === 'text') return constantTerm(t.text.slice(1, -1).replaceAll("''", "'"), 'text', t.at);
    if (t.kind !== 'parameter') throw syntaxFault('A variable or a constant is missing', example, t.at);
    const key = t.text.slice(1);
    const value = Object.hasOwn(this.#parameters, key) ? this.#parameters[key] : undefined;
    if (value === undefined) throw syntaxFault(`The parameter ${t.text} has no value`, 'Pass a value for every parameter.', t.at);
    return constantTerm(String(value), typeof value === 'number' ? 'number' : 'text', t.at);
  }

  #variable(): PatternVariable {
    const t = this.#name('A variable');
    return variableTerm(t.text, t.at);
  }

  #wholeNumber(): bigint {
    const t = this.#take();
    if (t.kind !== 'number' || !/^-?\d+$/.test(t.text))
      throw syntaxFault('The bounds of a sum are whole numbers', 'Write sum(a in 0..100) :- person(x, a).', t.at);
    return BigInt(t.text);
  }

  #closed<T>(item: () => T): T[] {
    const items = this.#list('patternTerms', item);
    this.#expect(')');
    return items;
  }

  #list<T>(limit: 'patternTerms' | 'patternGoals', item: () => T): T[] {
    const items: T[] = [];
    do {
      items.push(item());
      within(limit, items.length);
    } while (this.#accept(','));
    return items;
  }

  #name(what: string): PatternToken {
    if (this.#peek().kind !== 'name') throw this.#missing(`${what} is missing`);
    return this.#take();
  }
  #peek = (): PatternToken => this.#code[this.#next]!;
  #take = (): PatternToken => this.#code[this.#next++]!;
  #accept(mark: string): boolean {
    const found = this.#peek().kind === 'mark' && this.#peek().text === mark;
    if (found) this.#next++;
    return found;
  }
  #expect(mark: string): void {
    if (!this.#accept(mark)) throw this.#missing(`A "${mark}" is missing`);
  }
  #missing = (what: string, hint = example) => syntaxFault(what, hint, this.#peek().at);
}

const pairs = (terms: readonly PatternTerm[], at: TextPosition): PatternComparison[] =>
  terms.flatMap((left, i) => terms.slice(i + 1).map((right): PatternComparison => ({ left, op: '!=', right, at })));

interface PatternToken {
  readonly kind: 'name' | 'number' | 'text' | 'parameter' | 'mark' | 'pragma' | 'end';
  readonly text: string;
  readonly at: TextPosition;
}

const rules: readonly (readonly [PatternToken['kind'] | 'skip', RegExp])[] = [
  ['skip', /\s+/y],
  ['pragma', /%symmetric[^\n]*/y],
  ['skip', /(?:%|--)[^\n]*/y],
  ['number', /-?\d+(?:\.(?!\.)\d+)?/y],
  ['name', /[A-Za-z_][A-Za-z0-9_]*/y],
  ['text', /'(?:[^']|'')*'/y],
  ['parameter', /\$[A-Za-z_][A-Za-z0-9_]*/y],
  ['mark', /:-|\.\.|!=|<>|≠|<=|>=|[(),.<>=;]/y],
];

const pragmaNames = (t: PatternToken): string[] =>
  t.text
    .slice('%symmetric'.length)
    .split(/[\s,]+/)
    .filter(Boolean);

function tokens(source: string): readonly PatternToken[] {
  within('patternLength', source.length);
  const found: PatternToken[] = [];
  let [offset, line, lineStart] = [0, 1, 0];
  const position = () => ({ line, column: offset - lineStart + 1 });
  while (offset < source.length) {
    const token = tokenAt(source, offset);
    if (!token)
      throw syntaxFault('There is a character no pattern contains', "Text constants are written 'like this'.", position());
    const { kind, text } = token;
    if (kind !== 'skip') found.push({ kind, text, at: position() });
    line += text.split('\n').length - 1;
    if (text.includes('\n')) lineStart = offset + text.lastIndexOf('\n') + 1;
    offset += text.length;
  }
  found.push({ kind: 'end', text: '', at: position() });
  return found;
}

function tokenAt(source: string, offset: number) {
  for (const [kind, rule] of rules) {
    rule.lastIndex = offset;
    const text = rule.exec(source)?.[0];
    if (text) return { kind, text };
  }
  return undefined;
}
