import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Fault } from '../../../base/errors.js';
import type { Column, Relation } from '../../../policy/policy.js';
import { analysePatternText } from './analyse.js';
import { bindPattern, canonicalText } from './bind.js';
import { parsePattern } from './parse.js';
import { shortcut } from './shortcut.js';

const relation = (name: string, columns: string[], more: Partial<Relation> = {}): [string, Relation] => [
  name,
  { name, table: `${name}.csv`, columns, domain: 100, symmetric: false, private: true, ...more },
];
const schema = {
  relations: new Map([
    relation('friend', ['a', 'b']),
    relation('person', ['id', 'age']),
    relation('tie', ['a', 'b'], { symmetric: true }),
  ]),
  columns: new Map<string, Column>([
    [
      'age',
      {
        name: 'age',
        type: 'integer',
        bounds: [
          { num: 0n, den: 1n },
          { num: 99n, den: 1n },
        ],
        step: { num: 1n, den: 1n },
        missing: [],
      },
    ],
  ]),
};
const bind = (text: string, parameters = {}) => bindPattern(parsePattern(text, parameters), schema);
const faultOf = (text: string): Fault => {
  try {
    bind(text);
  } catch (e) {
    if (e instanceof Fault) return e;
    throw e;
  }
  throw new Error(`no fault: ${text}`);
};

describe('the pattern parser', () => {
  it('the parser accepts every notation of a disequality, comments and a final dot', () => {
    const a = bind('q(x, y) :- friend(x, y), x != y. % all pairs');
    expect(canonicalText(a)).toBe('q(x, y) :- friend(x, y), x != y');
    expect(bind('q(x,y):-friend(x,y),x <> y -- the same')).toEqual(a);
    expect(bind('q(x,y):-\nfriend(x,y),\nx ≠ y')).toEqual(a);
    expect(bind('q(x,y):-friend(x,y),all_distinct(x,y)')).toEqual(a);
  });

  it('the parser counts every variable when the head is empty', () => {
    expect(bind('q() :- friend(x, y)').head).toEqual(bind('q(x, y) :- friend(x, y)').head);
  });

  it('the parser reads constants, parameters and doubled quotes as symbols and drops comparisons that always hold', () => {
    const q = bind("q(x) :- friend('O''Neil', x), friend($who, x), 'a' != 'b', x != 7", { who: 'ann' });
    expect(q.constants).toEqual(["O'Neil", 'ann', '7']);
    expect(q.unequal).toHaveLength(1);
  });

  it('constants are names: two spellings are one member, and exclude one value of the domain, not two', () => {
    const [once, twice] = ["'1', y), y != 1", "'1', y), friend(' 1.0', y), y != 1, y != '+1'"].map((rest) =>
      analysePatternText(`q(y) :- friend(${rest}`, schema),
    );
    expect(twice!.pattern).toEqual({ ...once!.pattern, collapsed: ["friend('1', y)"] });
    expect(twice!.bounds).toEqual(once!.bounds);
    expect(bind("q(y) :- friend('007', y), friend(7, y)").constants).toEqual(['007', '7']);
    expect(bind('q(x) :- person(x, a), a >= 1.50').filters[0]!.value).toBe('1.50');
  });

  it('goals written twice are merged, and for a symmetric relation also reversals', () => {
    expect(bind('q() :- friend(x,y), friend(x,y), friend(y,x)')).toMatchObject({
      collapsed: ['friend(x, y)'],
      goals: { length: 2 },
    });
    expect(bind('q() :- tie(x,y), tie(y,x)').goals).toHaveLength(1);
    const closed = bind('%symmetric friend\nq() :- friend(x,y), friend(y,x)');
    expect(closed.goals).toHaveLength(1);
    // A different query from the one without the pragma, hence another text in the ledger.
    expect(canonicalText(closed)).toBe('q(x, y) :- friend(x, y) %symmetric friend');
  });

  it('the parser keeps attribute filters and takes the bounds of a sum from the text or the declared column', () => {
    expect(bind('q(x) :- person(x, a), 30 <= a').filters).toEqual([{ symbol: 1, op: '>=', value: '30' }]);
    expect(bind('sum(a) :- person(x, a)').sum).toEqual({ symbol: 1, bounds: [0n, 99n] });
    expect(bind('sum(a in -5..7) :- person(x, a)').sum?.bounds).toEqual([-5n, 7n]);
  });

  it.each([
    ['q(x) :- knows(x, y)', 'RELATION_UNKNOWN', 1, 9],
    ['q(x) :- friend(x, y, z)', 'PATTERN_ARITY', 1, 9],
    ['q(x, w) :- friend(x, y)', 'PATTERN_UNSAFE', 1, 6],
    ['q(x) :- friend(x, y),\n  w != x', 'PATTERN_UNSAFE', 2, 3],
    ['q(x, x) :- friend(x, y)', 'PATTERN_HEAD', 1, 6],
    ["q(x) :- person(x, 'old')", 'PATTERN_TYPE', 1, 19],
    ['q(x) :- friend(x, y), x != x', 'PATTERN_UNSATISFIABLE', 1, 23],
    ["q(x) :- friend(x, y), 'a' != 'a'", 'PATTERN_UNSATISFIABLE', 1, 23],
    ['q(x) :- friend(x y)', 'PATTERN_SYNTAX', 1, 18],
    ['q(x) :- friend(x, y), x = y', 'PATTERN_SYNTAX', 1, 25],
    ['q(x) :- friend(x, $nobody)', 'PATTERN_SYNTAX', 1, 19],
    ['q(x) friend(x, y)', 'PATTERN_SYNTAX', 1, 6],
    ['q(x) :- friend(x, "y")', 'PATTERN_SYNTAX', 1, 19],
    ['q(x) :- friend(x, y); drop table t', 'PATTERN_SYNTAX', 1, 21],
    ['sum(x) :- friend(x, y)', 'PATTERN_UNSAFE', 1, 5],
    [`sum(x in 0..${2n ** 61n + 1n}) :- friend(x, y)`, 'PATTERN_UNSAFE', 1, 5],
    ["q(x) :- friend(x, '\t')", 'PATTERN_UNSATISFIABLE', 1, 19],
    ["q(x) :- friend(x, y), '1' != 1.0", 'PATTERN_UNSATISFIABLE', 1, 23],
    ['q(x) :- tie(x, y), tie(x, x)', 'PATTERN_UNSATISFIABLE', 1, 20],
    ["q(x) :- tie(x, y), tie('7', 7.0)", 'PATTERN_UNSATISFIABLE', 1, 20],
    ['%symmetric friend\nq(x) :- friend(x, x)', 'PATTERN_UNSATISFIABLE', 2, 9],
  ])('the parser refuses %s with %s and its position', (text, code, line, column) => {
    const fault = faultOf(text);
    expect(fault.code).toBe(code);
    expect(fault.place).toEqual({ file: 'pattern', line, column });
    expect(fault.hint).not.toBe('');
  });

  it('the parser fails with nothing but a fault, whatever the text', () => {
    const piece = fc.constantFrom(
      'q',
      '(',
      ')',
      ',',
      ':-',
      'friend',
      'x',
      'y',
      "'a'",
      '!=',
      '%symmetric tie\n',
      '5',
      '$p',
      '.',
      ' ',
      'sum',
      'in',
      '..',
      '--',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        try {
          bind(pieces.join(''));
        } catch (e) {
          expect(e).toBeInstanceOf(Fault);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('shortcuts apply to the only relation of two columns or a named one', () => {
    expect(shortcut('triangles', 'friend')?.text).toBe(
      'q(x1, x2, x3) :- friend(x1, x2), friend(x2, x3), friend(x3, x1), all_distinct(x1, x2, x3)',
    );
    expect(shortcut("3-paths from 'v' of tie", 'friend')?.text).toBe("q(x3) :- tie('v', x1), tie(x1, x2), tie(x2, x3)");
    expect(shortcut('q(x) :- friend(x, y)', 'friend')).toBeUndefined();
    expect(analysePatternText('3-stars of tie', schema)).toMatchObject({ unit: 'occurrences', divisor: 6n });
    expect(() => parsePattern('triangels')).toThrow(expect.objectContaining({ message: expect.stringContaining('No pattern is called this'), hint: expect.stringContaining('triangles, 2-paths') })); // biome-ignore format: one line
    expect(() => shortcut('99-cliques', 'friend')).toThrow(/from 2 to 8/);
  });

  it('a pattern over public relations only is refused', () => {
    const open = { relations: new Map([relation('friend', ['a', 'b'], { private: false })]) };
    expect(() => analysePatternText('triangles', open)).toThrow(expect.objectContaining({ code: 'NOT_PRIVATE' }));
  });
});
