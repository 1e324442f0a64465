import { describe, expect, it } from 'vitest';
import { Fault } from '../../errors.js';
import { canonical } from '../parse.js';
import { parseSql as parseFor } from './sql.js';

const parseSql = (text: string, source = '/data/survey.csv', table?: string) =>
  parseFor(text, { data: { source, ...(table !== undefined && { table }) }, columns: new Map() });

const fault = (text: string): Fault => {
  try {
    parseSql(text);
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
  throw new Error(`accepted: ${text}`);
};

describe('SQL text', () => {
  it('becomes one query per aggregate with shared keys and conditions', () => {
    const { queries } = parseSql('SELECT party, COUNT(*), AVG(age) AS a FROM survey WHERE age > 30 GROUP BY party');
    const where = [{ column: 'age', op: '>', value: 30 }];
    expect(queries).toEqual([
      { kind: 'count', where, by: ['party'] },
      { kind: 'mean', column: 'age', where, name: 'a', by: ['party'] },
    ]);
  });

  it('reads every condition it promises', () => {
    const { queries } = parseSql(
      `SELECT COUNT(*) FROM data WHERE a = 'x' AND b <> 2 AND 3 <= c AND d BETWEEN 1 AND 2.5 AND e IN ('p', 'q') AND f NOT IN (1, -2) AND g IS NULL AND (h IS NOT NULL)`,
    );
    expect(queries[0]!.where).toEqual([
      { column: 'a', op: '=', value: 'x' },
      { column: 'b', op: '!=', value: 2 },
      { column: 'c', op: '>=', value: 3 },
      { column: 'd', op: '>=', value: 1 },
      { column: 'd', op: '<=', value: 2.5 },
      { column: 'e', op: 'in', values: ['p', 'q'] },
      { column: 'f', op: 'not in', values: [1, -2] },
      { column: 'g', op: 'missing' },
      { column: 'h', op: 'present' },
    ]);
  });

  it('reads every aggregate it promises', () => {
    const { queries } = parseSql(
      'SELECT COUNT(x), SUM(x), VARIANCE(x), VAR_SAMP(x), VAR_POP(x), MEDIAN(x), PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY x) p FROM data',
    );
    expect(queries).toEqual([
      { kind: 'count', where: [{ column: 'x', op: 'present' }] },
      { kind: 'sum', column: 'x' },
      { kind: 'variance', column: 'x' },
      { kind: 'variance', column: 'x' },
      { kind: 'variance', column: 'x', population: true },
      { kind: 'quantile', column: 'x', at: [0.5] },
      { kind: 'quantile', column: 'x', at: [0.9], name: 'p' },
    ]);
  });

  it('takes positions and aliases as group keys, and quoted names', () => {
    expect(parseSql('SELECT "my col" m, COUNT(*) FROM data GROUP BY 1').queries[0]!.by).toEqual(['my col']);
    expect(parseSql('SELECT "my col" m, COUNT(*) FROM data GROUP BY m').queries[0]!.by).toEqual(['my col']);
    expect(parseSql('SELECT data.a, COUNT(*) FROM data GROUP BY data.a').queries[0]!.by).toEqual(['a']);
  });

  it.each([
    ['SELECT COUNT(*) FROM data WHERE a = 1 OR b = 2', 'OR'],
    ['SELECT COUNT(*) FROM data WHERE NOT (a = 1)', 'NOT'],
    ['SELECT COUNT(*) FROM data WHERE a IN (SELECT b FROM u)', 'subselect'],
    ['SELECT COUNT(*) FROM (SELECT 1 AS a) s', 'subselect'],
    ['SELECT COUNT(*) FROM data JOIN u ON data.a = u.a', 'JOIN'],
    ['SELECT COUNT(*) FROM data, u', 'JOIN'],
    ['SELECT a, COUNT(*) FROM data GROUP BY a HAVING COUNT(*) > 1', 'HAVING'],
    ['SELECT a, COUNT(*) FROM data GROUP BY a ORDER BY a', 'ORDER BY'],
    ['SELECT COUNT(*) FROM data LIMIT 3', 'LIMIT'],
    ['SELECT DISTINCT a FROM data', 'DISTINCT'],
    ['SELECT COUNT(DISTINCT a) FROM data', 'DISTINCT in COUNT'],
    ['SELECT COUNT(*) FILTER (WHERE a > 1) FROM data', 'FILTER in COUNT'],
    ['SELECT SUM(a) OVER () FROM data', 'window function in SUM'],
    ['SELECT * FROM data', '*'],
    ['SELECT MAX(a) FROM data', 'function MAX'],
    ['SELECT my_code(a) FROM data', 'function MY_CODE'],
    ['SELECT constructor(a) FROM data', 'function CONSTRUCTOR'],
    ['SELECT AVG(a + 1) FROM data', 'an expression in place of a column'],
    ['SELECT COUNT(*) FROM data WHERE lower(a) = 1', 'function LOWER in WHERE'],
    ["SELECT COUNT(*) FROM data WHERE a LIKE 'x%'", 'LIKE'],
    ['SELECT COUNT(*) FROM data WHERE a NOT BETWEEN 1 AND 2', 'NOT BETWEEN'],
    ['SELECT COUNT(*) FROM data WHERE a = b', 'comparing two columns'],
    ['SELECT a + 1, COUNT(*) FROM data GROUP BY a', 'arithmetic'],
    ['SELECT CASE WHEN a > 1 THEN 1 END FROM data', 'CASE'],
    ['SELECT COUNT(*) FROM data UNION SELECT COUNT(*) FROM u', 'UNION'],
    ['WITH x AS (SELECT 1) SELECT COUNT(*) FROM x', 'WITH'],
    ['SELECT COUNT(*) FROM data; DROP TABLE t', 'several statements'],
    ['DELETE FROM data', 'DELETE'],
    ['SELECT COUNT(*) FROM generate_series(1, 3)', 'function in FROM'],
    ['SELECT 1', 'SELECT without FROM'],
    ['SELECT PERCENTILE_CONT(0.5) FROM data', 'this form of PERCENTILE_CONT'],
  ])('refuses %s by naming %s', (text, construct) => {
    const { code, message } = fault(text);
    expect(message).toMatch(/\(line \d+, column \d+\)/);
    expect({ code, message }).toEqual({
      code: 'QUERY_UNSUPPORTED',
      message: expect.stringContaining(`SQL: ${construct} is not`),
    });
  });

  it('says where the construct stands', () => {
    expect(fault('SELECT COUNT(*)\nFROM data\n  LIMIT 3').message).toContain('line 3, column 9');
  });

  it('tells unreadable text from unsupported text', () => {
    expect(fault('SELECT COUNT(* FROM data').code).toBe('QUERY_INVALID');
    expect(fault('').code).toMatch(/QUERY_/);
    expect(fault('SELECT a FROM data GROUP BY a').message).toContain('no aggregate');
    expect(fault('SELECT a, COUNT(*) FROM data').hint).toContain('GROUP BY a');
    expect(fault('SELECT COUNT(*) FROM data WHERE a = NULL').hint).toContain('IS NULL');
    expect(fault('SELECT PERCENTILE_CONT(1.5) WITHIN GROUP (ORDER BY a) FROM data').code).toBe('QUERY_INVALID');
  });

  it('has one canonical text whatever the spelling', () => {
    const one = canonical(parseSql("select avg(age) from survey where party in ('a') group by party"));
    const two = canonical(parseSql('SELECT  AVG( age )  FROM "survey.csv" WHERE "party" IN (\'a\') GROUP BY party'));
    expect(one).toBe(two);
  });
});
