import { describe, expect, it } from 'vitest';
import type { Column, Relation } from '../../../policy/policy.js';
import { analysePatternText } from './analyse.js';
import { bindPattern } from './bind.js';
import { parsePattern } from './parse.js';
import { patternFromSql, readsRelations } from './sql.js';

const relation = (name: string, columns: string[], more: Partial<Relation> = {}): [string, Relation] => [
  name,
  { name, table: name, columns, domain: 100, symmetric: false, private: true, ...more },
];
const relations = new Map([relation('friend', ['a', 'b']), relation('person', ['id', 'age'], { private: false })]);
const columns = new Map<string, Column>([
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
]);
const bound = (sql: string) => bindPattern(patternFromSql(sql, relations), { relations, columns });
const written = (text: string) => bindPattern(parsePattern(text), { relations, columns });
/** The same pattern up to the names of its variables. */
const meaning = ({ variables: _, ...rest }: ReturnType<typeof bound>) => rest;

describe('SQL with joins', () => {
  it.each([
    ['SELECT COUNT(*) FROM friend', 'q() :- friend(x, y)'],
    [
      'SELECT COUNT(*) FROM friend f JOIN friend g ON f.b = g.a JOIN friend h ON g.b = h.a AND h.b = f.a WHERE f.a <> f.b',
      'q() :- friend(x, y), friend(y, z), friend(z, x), x != y',
    ],
    ["SELECT COUNT(DISTINCT g.b) FROM friend f, friend g WHERE f.a = 'v' AND f.b = g.a", "q(y) :- friend('v', x), friend(x, y)"],
    ['SELECT COUNT(*) FROM friend f JOIN person p ON f.a = p.id WHERE p.age >= 30', 'q() :- friend(x, y), person(x, a), a >= 30'],
    [
      'SELECT COUNT(*) FROM friend f CROSS JOIN person p WHERE age BETWEEN 20 AND 30',
      'q() :- friend(x, y), person(z, a), a >= 20, a <= 30',
    ],
    ['SELECT SUM(p.age) FROM friend f JOIN person p ON p.id = f.b', 'sum(a) :- friend(x, y), person(y, a)'],
  ])('the query %s means %s', (sql, text) => {
    expect(meaning(bound(sql))).toEqual(meaning(written(text)));
  });

  it.each([
    ['SELECT COUNT(*) FROM friend f LEFT JOIN person p ON p.id = f.a', 'QUERY_UNSUPPORTED'],
    ['SELECT COUNT(*) FROM friend f JOIN person p ON p.id = f.a GROUP BY p.age', 'QUERY_UNSUPPORTED'],
    ['SELECT f.a FROM friend f JOIN person p ON p.id = f.a', 'QUERY_UNSUPPORTED'],
    ['SELECT COUNT(*) FROM friend f JOIN enemy e ON e.a = f.a', 'RELATION_UNKNOWN'],
    ['SELECT COUNT(*) FROM friend f JOIN friend g ON f.c = g.a', 'COLUMN_UNKNOWN'],
    ['SELECT COUNT(*) FROM friend f JOIN friend g ON a = b', 'QUERY_INVALID'],
    ['SELECT COUNT(*) FROM friend, friend', 'QUERY_INVALID'],
    ["SELECT COUNT(*) FROM friend WHERE a = 'x' AND a = 'y'", 'PATTERN_UNSATISFIABLE'],
    ['SELECT COUNT(*) FROM friend WHERE a = 1 OR b = 2', 'QUERY_UNSUPPORTED'],
    ['SELECT COUNT(*) FROM (SELECT * FROM friend) f', 'QUERY_UNSUPPORTED'],
    ['DELETE FROM friend', 'QUERY_UNSUPPORTED'],
    ['SELECT COUNT(* FROM friend', 'QUERY_INVALID'],
  ])('the query %s is refused', (sql, code) => {
    expect(() => bound(sql)).toThrow(expect.objectContaining({ code }));
  });

  it('a join is recognised by its tables, and analysed like a written pattern', () => {
    expect(readsRelations('SELECT COUNT(*) FROM friend f JOIN person p ON f.a = p.id', relations)).toBe(true);
    expect(readsRelations('SELECT COUNT(*) FROM survey', relations)).toBe(false);
    expect(analysePatternText('SELECT COUNT(*) FROM friend f JOIN friend g ON f.b = g.a', { relations }).stability.stable).toBe(
      true,
    );
  });
});
