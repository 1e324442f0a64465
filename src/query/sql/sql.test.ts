import { describe, expect, it } from 'vitest';
import { Fault } from '../../base/errors.js';
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
  it('a statement becomes one query per aggregate with shared keys and conditions', () => {
    const { queries } = parseSql('SELECT party, COUNT(*), AVG(age) AS a FROM survey WHERE age > 30 GROUP BY party');
    const where = [{ column: 'age', op: '>', value: 30 }];
    expect(queries).toEqual([
      { kind: 'count', where, by: ['party'] },
      { kind: 'mean', column: 'age', where, name: 'a', by: ['party'] },
    ]);
  });

  it('every documented condition is parsed', () => {
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

  it('slope and intercept become one regression, and CORR becomes a correlation', () => {
    const { queries } = parseSql(
      'SELECT REGR_SLOPE(y, x) AS slope, COUNT(*), REGR_INTERCEPT(y, x) FROM data WHERE z > 1 GROUP BY k',
    );
    const where = [{ column: 'z', op: '>', value: 1 }];
    expect(queries).toEqual([
      { kind: 'regression', outcome: 'y', on: ['x'], where, by: ['k'] },
      { kind: 'count', where, by: ['k'] },
    ]);
    expect(parseSql('SELECT CORR(x, 2 * y) FILTER (WHERE z > 1) AS r FROM data').queries).toEqual([
      { kind: 'correlation', columns: ['x', '2 * y'], where, name: 'r', derive: { '2 * y': { op: '*', of: [2, 'y'] } } },
    ]);
  });

  it.each([
    ['SELECT COVAR_POP(x, y) FROM data', 'COVAR_POP', 'CORR(x, y)'],
    ['SELECT REGR_R2(x, y) FROM data', 'REGR_R2', 'CORR(x, y)'],
    ['SELECT CORR(x) FROM data', 'takes two columns', 'CORR(cost, age)'],
    ['SELECT 2 * CORR(x, y) FROM data', 'calculating with a correlation', 'by themselves'],
    ["SELECT COUNT(*) FROM data WHERE d > DATE '31.12.2024'", 'no date', "DATE '2024-12-31'"],
    ["SELECT COUNT(*) FROM data WHERE d > DATE '2024-12-31' - INTERVAL '1 month'", 'this INTERVAL', '30 days'],
    ['SELECT COUNT(*) FROM data WHERE d > CURRENT_DATE - 7', 'the date of today', 'Write the date out'],
    ['SELECT COUNT(*) FROM data WHERE d > NOW()', 'the date of today', 'Write the date out'],
  ])('%s is refused (%s) with a way to write it: %s', (text, words, hint) => {
    const { message, hint: advice } = fault(text);
    expect(message).toContain(words);
    expect(advice).toContain(hint);
  });

  it('days are counted from a date', () => {
    const { queries } = parseSql(
      "SELECT COUNT(*) FROM data WHERE a >= DATE '2024-03-31' - INTERVAL '30 days' AND b BETWEEN 1 + DATE '2023-12-31' AND INTERVAL '1 week' + DATE '2024-01-01' + INTERVAL '1 week' AND c > d + INTERVAL '1 day'",
    );
    expect(queries[0]!.where).toEqual([
      { column: 'a', op: '>=', value: '2024-03-01' },
      { column: 'b', op: '>=', value: '2024-01-01' },
      { column: 'b', op: '<=', value: '2024-01-15' },
      { column: 'c - (d + 1 day)', op: '>', value: 0 },
    ]);
    expect(queries[0]!.derive).toEqual({ 'c - (d + 1 day)': { op: '-', of: ['c', { op: '+', of: ['d', 1] }] } });
  });

  it('every documented aggregate is parsed', () => {
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

  it('trees of conditions are parsed, each part with its own negation', () => {
    const where = (text: string) => parseSql(`SELECT COUNT(*) FROM data WHERE ${text}`).queries[0]!.where;
    expect(where("a = 'x' OR (b > 2 AND NOT c IN (1, 2)) OR d IS NULL")).toEqual([
      {
        any: [
          { column: 'a', op: '=', value: 'x' },
          {
            all: [{ column: 'b', op: '>', value: 2 }, { not: { column: 'c', op: 'in', values: [1, 2] } }],
          },
          { column: 'd', op: 'missing' },
        ],
      },
    ]);
    expect(where('a NOT BETWEEN 1 AND 2')).toEqual([
      {
        not: {
          all: [
            { column: 'a', op: '>=', value: 1 },
            { column: 'a', op: '<=', value: 2 },
          ],
        },
      },
    ]);
  });

  it('an expression may stand wherever a column may, and is derived once', () => {
    const { queries } = parseSql(
      "SELECT CASE WHEN age < 30 THEN 'young' ELSE 'old' END AS who, FLOOR(age / 10) * 10, AVG(x + 2 * y), COUNT(*) FROM data WHERE x > y GROUP BY who, FLOOR(age / 10) * 10",
    );
    const decade = 'floor(age / 10) * 10';
    expect(queries.map(({ by }) => by)).toEqual([
      ['who', decade],
      ['who', decade],
    ]);
    expect(queries[0]!.derive).toMatchObject({
      who: { cases: [{ when: { column: 'age', op: '<', value: 30 }, value: { text: 'young' } }], otherwise: { text: 'old' } },
      [decade]: { op: '*', of: [{ op: 'floor', of: [{ op: '/', of: ['age', 10] }] }, 10] },
    });
    expect(queries[0]).toMatchObject({ kind: 'mean', column: 'x + (2 * y)', where: [{ column: 'x - y', op: '>', value: 0 }] });
  });

  it('HAVING, ORDER BY and LIMIT arrange the answer, and the aggregates in them are measured', () => {
    const { queries, arrange } = parseSql(
      'SELECT a, AVG(x) AS m FROM data GROUP BY a HAVING COUNT(*) > 100 AND NOT m < 2 ORDER BY m DESC, a LIMIT 5 OFFSET 1',
    );
    expect(queries.map(({ kind }) => kind)).toEqual(['mean', 'count']);
    expect(arrange).toEqual([
      {
        tables: [0, 1],
        having: { all: [{ table: 1, op: '>', value: 100 }, { not: { table: 0, op: '<', value: 2 } }] },
        order: [{ table: 0, descending: true }, { key: 'a' }],
        limit: 5,
        offset: 1,
      },
    ]);
  });

  it('several statements become one batch, comments ignored', () => {
    const { queries, arrange } = parseSql(
      'SELECT COUNT(*) FROM data; -- one\n/* two; */ SELECT a, SUM(x) FROM data GROUP BY a LIMIT 2;',
    );
    expect(queries.map(({ kind }) => kind)).toEqual(['count', 'sum']);
    expect(arrange).toEqual([{ tables: [1], limit: 2 }]);
  });

  it('formulas of aggregates, distinct counts, filters and extreme quantiles are parsed', () => {
    const { queries } = parseSql(
      "SELECT 100.0 * SUM(x) / NULLIF(COUNT(*), 0) AS pct, COUNT(DISTINCT a), STDDEV(x), MAX(x), COUNT(*) FILTER (WHERE a = 'p'), ROUND(AVG(x), 1), COUNT(*) / SUM(COUNT(*)) OVER () FROM data",
    );
    expect(queries).toMatchObject([
      { kind: 'formula', name: 'pct', parts: { 'sum(x)': { kind: 'sum', column: 'x' }, 'count(*)': { kind: 'count' } } },
      { kind: 'distinct', column: 'a' },
      { kind: 'variance', column: 'x', root: true },
      { kind: 'quantile', column: 'x', at: [0.99], name: 'max of x (99 % quantile)' },
      { kind: 'count', where: [{ column: 'a', op: '=', value: 'p' }] },
      { kind: 'formula', of: { op: 'round', of: ['avg(x)'], digits: 1 } },
      { kind: 'formula', parts: { 'count(*)': { kind: 'count' }, 'sum(count(*)) over ()': { kind: 'count', total: true } } },
    ]);
  });

  it('positions and aliases serve as group keys, and names may be quoted', () => {
    expect(parseSql('SELECT "my col" m, COUNT(*) FROM data GROUP BY 1').queries[0]!.by).toEqual(['my col']);
    expect(parseSql('SELECT "my col" m, COUNT(*) FROM data GROUP BY m').queries[0]!.by).toEqual(['my col']);
    expect(parseSql('SELECT data.a, COUNT(*) FROM data GROUP BY data.a').queries[0]!.by).toEqual(['a']);
  });

  it.each([
    ['SELECT COUNT(*) FROM data WHERE a IN (SELECT b FROM u)', 'subselect'],
    ['SELECT COUNT(*) FROM (SELECT 1 AS a) s', 'a column of another name or value in a sub-select without groups'],
    ['SELECT COUNT(*) FROM data RIGHT JOIN survey s ON data.a = s.a', 'RIGHT JOIN'],
    ['SELECT COUNT(*) FROM data, survey', 'JOIN without a condition'],
    ['SELECT DISTINCT a FROM data', 'DISTINCT'],
    ['SELECT SUM(DISTINCT a) FROM data', 'DISTINCT in SUM'],
    ['SELECT SUM(a) OVER () FROM data', 'this window function'],
    ['SELECT MEDIAN(a) / 2 FROM data', 'calculating with a quantile'],
    ['SELECT a, COUNT(*) FROM data GROUP BY a HAVING b = 1', '"b" after the groups are made'],
    ['SELECT * FROM data', '*'],
    ['SELECT my_code(a) FROM data', 'function MY_CODE'],
    ['SELECT constructor(a) FROM data', 'function CONSTRUCTOR'],
    ['SELECT AVG(sqrt(a)) FROM data', 'function SQRT of a column'],
    ['SELECT COUNT(*) FROM data WHERE lower(a) = 1', 'function LOWER of a column'],
    ["SELECT COUNT(*) FROM data WHERE a LIKE 'x%'", 'LIKE'],
    ['SELECT COUNT(*) FROM data UNION SELECT COUNT(*) FROM u', 'UNION'],
    ['WITH x AS (SELECT a FROM data LIMIT 3) SELECT COUNT(*) FROM x', 'LIMIT in a sub-select'],
    ['SELECT COUNT(*) FROM data; DROP TABLE t', 'DROP TABLE'],
    ['DELETE FROM data', 'DELETE'],
    ['SELECT COUNT(*) FROM generate_series(1, 3)', 'function in FROM'],
    ['SELECT 1', 'SELECT without FROM'],
    ['SELECT PERCENTILE_CONT(0.5) FROM data', 'this form of PERCENTILE_CONT'],
  ])('the refusal of %s names %s', (text, construct) => {
    const { code, message } = fault(text);
    expect(message).toMatch(/\(line \d+, column \d+\)/);
    expect({ code, message }).toEqual({
      code: 'QUERY_UNSUPPORTED',
      message: expect.stringContaining(`SQL: ${construct} is not`),
    });
  });

  it('a refusal gives the position of the construct', () => {
    expect(fault('SELECT COUNT(*)\nFROM data\n  LIMIT -3').message).toContain('line 3, column 9');
  });

  it('a refusal distinguishes text that cannot be parsed from text that is not supported', () => {
    expect(fault('SELECT COUNT(* FROM data').code).toBe('QUERY_INVALID');
    expect(fault('').code).toMatch(/QUERY_/);
    expect(fault('SELECT a FROM data GROUP BY a').message).toContain('no aggregate');
    expect(fault('SELECT a, COUNT(*) FROM data').hint).toContain('GROUP BY a');
    expect(fault('SELECT COUNT(*) FROM data WHERE a = NULL').hint).toContain('IS NULL');
    expect(fault('SELECT PERCENTILE_CONT(1.5) WITHIN GROUP (ORDER BY a) FROM data').code).toBe('QUERY_INVALID');
  });

  it('a statement has one canonical text whatever its spelling', () => {
    const one = canonical(parseSql("select avg(age) from survey where party in ('a') group by party"));
    const two = canonical(parseSql('SELECT  AVG( age )  FROM "survey.csv" WHERE "party" IN (\'a\') GROUP BY party'));
    expect(one).toBe(two);
  });
});
