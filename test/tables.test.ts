import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Engine, withSnapshot } from '../src/data/engine/engine.js';
import { explainPolicy } from '../src/data/terms/explain.js';
import { openEngine } from '../src/data/terms/open.js';
import { parsePolicy } from '../src/data/terms/read.js';
import type { Policy } from '../src/policy/policy.js';
import { secretFiles } from '../src/policy/population.js';
import { everyRecord } from '../src/privacy/mechanism/record-class.js';
import { bindBatch } from '../src/query/bind.js';
import { countCells } from '../src/query/count/count.js';
import { parseBatch } from '../src/query/parse.js';
import { parseSql } from '../src/query/sql/sql.js';

const one = `data: {source: people.csv}
protect: {secret: person, unit: person, maxRows: 1}
budget: {epsilon: 1}
columns:
  region: {type: category, values: [north, south]}
  age: {type: integer, bounds: [0, 100]}
dependence: none
`;
const several = `${one}tables:
  visits:
    source: visits.csv
    unit: person
    maxRows: 3
    links: [clinic]
    columns:
      kind: {type: category, values: [er, gp]}
      cost: {type: integer, bounds: [0, 200]}
      day: {type: integer, bounds: [0, 10]}
  clinics: {source: clinics.csv, key: clinic, public: true, columns: {size: {type: category, values: [small, large]}}}
`;
let folder: string;
let policy: Policy;
let engine: Engine;
const read = (text: string) => parsePolicy(text, join(folder, 'policy.yaml'));
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fugu-tables-'));
  const write = (name: string, lines: readonly string[]) => writeFileSync(join(folder, name), `${lines.join('\n')}\n`);
  write('people.csv', ['person,region,age', '1,north,30', '2,north,40', '3,south,50', '4,south,20']);
  // Two dangling rows, two equal rows, one unknown clinic and one listed twice.
  write('visits.csv', [
    'person,clinic,kind,cost,day',
    '1.0,x,er,100,3',
    '1,y,gp,20,1',
    '1,x,gp,999,2',
    '2,y,er,50,5',
    '2,q,er,50,5',
    '3,x,gp,10,1',
    '9,x,gp,99,1',
    ',x,gp,99,1',
  ]);
  write('clinics.csv', ['clinic,size', 'x,large', 'y,small', 'y,small']);
  policy = await read(several);
  engine = await openEngine(policy);
});
afterAll(async () => {
  await engine.close();
  rmSync(folder, { recursive: true, force: true });
});

const exact = async (sql: string): Promise<readonly (readonly bigint[])[]> => {
  const { measures } = bindBatch(parseSql(sql, policy), policy);
  return withSnapshot(engine, async (data) => (await countCells(data, policy, measures)).map((cells) => cells.open()));
};
const effect = (sql: string): bigint => bindBatch(parseSql(sql, policy), policy).measures[0]!.sensitivity.get(everyRecord)!.l1;
const fault = (sql: string): string => {
  try {
    bindBatch(parseSql(sql, policy), policy);
  } catch (error) {
    return String((error as Error).message);
  }
  throw new Error('accepted');
};

describe('SQL over several tables', () => {
  it.each([
    ['SELECT COUNT(*) FROM visits', [[6n]]],
    ['SELECT region, COUNT(*) FROM visits JOIN people USING (person) GROUP BY region', [[5n, 1n, 0n]]],
    ['SELECT region, COUNT(*) FROM people p JOIN visits v ON v.person = p.person GROUP BY p.region', [[5n, 1n, 0n]]],
    ['SELECT region, COUNT(*) FROM people LEFT JOIN visits USING (person) GROUP BY region', [[5n, 2n, 0n]]],
    ['SELECT region, COUNT(DISTINCT person) FROM visits JOIN people USING (person) GROUP BY region', [[2n, 1n, 0n]]],
    ['SELECT SUM(cost) FROM visits JOIN people USING (person) WHERE age > 35', [[110n]]],
    ['SELECT size, COUNT(*) FROM visits JOIN clinics USING (clinic) GROUP BY size', [[2n, 3n, 0n]]],
    ['SELECT size, COUNT(*) FROM visits LEFT JOIN clinics USING (clinic) GROUP BY size', [[2n, 3n, 1n]]],
    ['SELECT size, COUNT(*) FROM clinics c JOIN visits USING (clinic) GROUP BY size', [[2n, 3n, 0n]]],
    ["SELECT COUNT(*) FROM (SELECT * FROM visits WHERE kind = 'gp') g JOIN people USING (person)", [[3n]]],
    ['SELECT SUM(n) FROM (SELECT person, COUNT(*) AS n FROM visits GROUP BY person) v JOIN people USING (person)', [[6n]]],
    [
      'WITH v AS (SELECT person, SUM(cost) AS spent FROM visits WHERE cost > 30 GROUP BY person) SELECT SUM(spent) FROM v',
      [[400n]],
    ],
    [
      'WITH v AS (SELECT person, ARG_MIN(kind, day) AS f FROM visits GROUP BY person) SELECT f, COUNT(*) FROM v GROUP BY f',
      [[1n, 2n, 0n]],
    ],
    [
      'WITH v AS (SELECT person, MODE(kind) AS m FROM visits GROUP BY person) SELECT m, COUNT(*) FROM v GROUP BY m',
      [[1n, 2n, 0n]],
    ],
    ['WITH v AS (SELECT person, MAX(cost) AS m FROM visits GROUP BY person) SELECT SUM(m) FROM v', [[260n]]],
    ['SELECT COUNT(*) FROM visits a JOIN visits b USING (person)', [[14n]]],
    // In its own sub-select a name is the table's.
    ["WITH visits AS (SELECT * FROM visits WHERE kind = 'gp') SELECT COUNT(*) FROM visits JOIN people USING (person)", [[3n]]],
  ])('the statement has its exact result: %s', async (sql, counts) => expect(await exact(sql)).toEqual(counts));

  it.each([
    [
      'SELECT region, 100.0 * COUNT(*) / SUM(COUNT(*)) OVER () AS pct FROM visits JOIN people USING (person) GROUP BY region',
      500 / 6,
    ],
    [
      "SELECT region, 100.0 * SUM(CASE WHEN kind = 'er' THEN 1 ELSE 0 END) / COUNT(*) AS pct FROM visits JOIN people USING (person) GROUP BY region",
      60,
    ],
    [
      "SELECT region, 100 * COUNT(*) FILTER (WHERE kind = 'er') / COUNT(*) AS pct FROM visits JOIN people USING (person) GROUP BY region",
      60,
    ],
    [
      "SELECT region, AVG(CASE WHEN kind = 'er' THEN 100 ELSE 0 END) AS pct FROM visits JOIN people USING (person) GROUP BY region",
      60,
    ],
    [
      {
        kind: 'share',
        column: 'kind',
        values: ['er'],
        by: ['region'],
        from: { table: 'visits', join: [{ table: 'data', on: ['person'] }] },
      },
      0.6,
    ],
  ])('shares have intervals in joins, too: %j', async (query, north) => {
    const { measures, finish } = bindBatch(typeof query === 'string' ? parseSql(query, policy) : parseBatch(query), policy);
    const counts = await withSnapshot(engine, async (data) =>
      (await countCells(data, policy, measures)).map((cells) => cells.open()),
    );
    const [table] = finish(counts.map((values) => ({ noise: { kind: 'laplace' as const, scale: 0.1 }, values })));
    const { keys, value, low, high } = table!.rows[0]!;
    expect(keys).toEqual(['north']);
    expect(value).toBeCloseTo(north, 9);
    expect(low!).toBeLessThan(north);
    expect(high!).toBeGreaterThan(north);
  });

  it('shares of the values of a key have intervals next to the counts', async () => {
    const { measures, finish } = bindBatch(
      parseSql('SELECT region, COUNT(*) FROM visits JOIN people USING (person) GROUP BY region', policy),
      policy,
    );
    const counts = await withSnapshot(engine, async (data) =>
      (await countCells(data, policy, measures)).map((cells) => cells.open()),
    );
    const [table] = finish(counts.map((values) => ({ noise: { kind: 'laplace' as const, scale: 0.1 }, values })));
    const { value, low, high } = table!.rows[0]!.share!;
    expect(value).toBeCloseTo(5 / 6, 9);
    expect(low).toBeLessThan(5 / 6);
    expect(high).toBeGreaterThan(5 / 6);
  });

  it('the plan states the effect of one person: as many rows as the tables permit per person', () => {
    expect(effect('SELECT COUNT(*) FROM visits')).toBe(3n);
    expect(effect('SELECT COUNT(*) FROM visits JOIN people USING (person) JOIN clinics USING (clinic)')).toBe(3n);
    expect(effect('SELECT COUNT(*) FROM visits a JOIN visits b USING (person)')).toBe(9n);
    expect(effect('SELECT SUM(n) FROM (SELECT person, COUNT(*) AS n FROM visits GROUP BY person) v')).toBe(3n);
    expect(effect('SELECT SUM(s) FROM (SELECT person, SUM(cost) AS s FROM visits GROUP BY person) v')).toBe(600n);
    expect(effect('SELECT region, COUNT(DISTINCT person) FROM visits JOIN people USING (person) GROUP BY region')).toBe(2n);
    expect(effect('SELECT kind, COUNT(DISTINCT person) FROM visits GROUP BY kind')).toBe(3n);
  });

  it('tables are joined by more columns than the person, and in any order, if the person is among them', () => {
    const over = (join: string) => effect(`SELECT COUNT(*) FROM ${join}`);
    expect(over('visits v JOIN visits w ON v.day = w.day AND w.person = v.person')).toBe(9n);
    expect(over('visits v JOIN people p USING (person) JOIN visits w ON w.person = p.person')).toBe(9n);
    expect(over('visits v JOIN clinics c USING (clinic) JOIN visits w ON w.clinic = c.clinic AND w.person = v.person')).toBe(9n);
  });

  it.each([
    ['SELECT COUNT(*) FROM clinics', 'nothing says which rows of persons'],
    [
      'SELECT AVG(n) FROM (SELECT person, COUNT(*) AS n FROM visits WHERE cost * 2 > 100 GROUP BY person) v',
      'a calculation in WHERE of a sub-select',
    ],
    ['SELECT AVG(n) FROM (SELECT person, SUM(cost * 2) AS n FROM visits GROUP BY person) v', 'a calculation in SUM per person'],
    ['SELECT COUNT(*) FROM visits JOIN people ON visits.day = people.person', 'rows of one person beside those of another'],
    ['SELECT COUNT(*) FROM visits v JOIN visits w ON v.day = w.day', '"v" and "w" would be joined across persons'],
    [
      'SELECT COUNT(*) FROM visits v JOIN clinics c USING (clinic) JOIN visits w ON w.clinic = c.clinic',
      '"v" and "w" would be joined',
    ],
    ['SELECT COUNT(*) FROM visits LEFT JOIN people ON visits.day = people.age', 'would be joined across persons'],
    ['SELECT COUNT(*) FROM visits JOIN doctors USING (person)', 'no table "doctors"'],
    ['SELECT COUNT(*) FROM visits JOIN people USING (ward)', 'does not say that there is such a column'],
    ['SELECT AVG(n) FROM (SELECT kind, COUNT(*) AS n FROM visits GROUP BY kind) v', 'grouped by something else than the person'],
    ['WITH a AS (SELECT * FROM b), b AS (SELECT * FROM a) SELECT COUNT(*) FROM a', 'no table "b"'],
    ['SELECT AVG(sum) FROM (SELECT person, SUM(cost), SUM(day) FROM visits GROUP BY person) v', 'two columns "sum"'],
    [
      'SELECT COUNT(*) FROM visits v JOIN visits w ON v.person = w.person AND v.clinic = w.clinic AND v.clinic = w.kind',
      'compared with two columns',
    ],
    ['SELECT COUNT(*) FROM visits a JOIN visits b USING (person) WHERE cost > 3', 'Several tables have a column "cost"'],
  ])('the statement %s is refused: %s', (sql, why) => expect(fault(sql)).toContain(why));
});

describe('a policy with several tables', () => {
  it('the policy keeps its terms without further tables, and has others with them', async () => {
    const before = await read(one);
    expect(before.terms?.some((line) => line.startsWith('tables'))).toBe(false);
    expect(policy.digest).not.toBe(before.digest);
    expect(policy.terms).toContain('tables ["visits by person"]');
    expect((await read(several.replace('maxRows: 3', 'maxRows: 4'))).digest).toBe(policy.digest);
    const open = several.replace('unit: person\n    maxRows: 3', 'key: clinic\n    public: true');
    expect((await read(open)).digest).not.toBe(policy.digest);
  });

  it('the policy has one account for all files of its persons', () => {
    expect(secretFiles(policy).map((file) => file.replace(/^.*\//, ''))).toEqual(['people.csv', 'visits.csv']);
  });

  it('the promise states whose rows are one secret, and what is public', () => {
    const text = explainPolicy(policy).join('\n');
    expect(text).toContain('in the data and in visits together');
    expect(text).toContain('the table clinics: declared public');
  });

  it.each([
    ['secret: person, unit: person, maxRows: 1', 'secret: row', 'go with the secret "person"'],
    ['    unit: person\n', '', 'Whose rows those of "visits" are'],
    ['    maxRows: 3\n', '', 'How many rows one person may have in "visits"'],
    ['key: clinic, public', 'public', 'has no key'],
    ['  visits:', '  data:', 'may not be called "data"'],
  ])('the policy refuses %s as %s', async (from, to, why) => {
    await expect(read(several.replace(from, to))).rejects.toThrow(why);
  });
});

describe('names of persons', () => {
  const other = () =>
    read(
      several
        .replace('unit: person\n    maxRows: 3\n    links: [clinic]', 'unit: patient\n    maxRows: 3\n    links: [clinic]')
        .replace('day: {type: integer, bounds: [0, 10]}', 'person: {type: category, values: [x, y]}'),
    );
  const kinds = async (sql: string) => {
    const named = await other();
    return bindBatch(parseSql(sql, named), named).queries.map((q) => `${q.kind} ${'column' in q ? q.column : ''}`.trim());
  };
  it('the names are those of each table, even if another column has the same name', async () => {
    expect(await kinds('SELECT COUNT(DISTINCT patient) FROM visits')).toEqual(['distinct person']);
    expect(await kinds('SELECT COUNT(DISTINCT v.patient) FROM visits AS v JOIN people ON v.patient = people.person')).toEqual([
      'distinct person',
    ]);
    expect(await kinds('SELECT COUNT(DISTINCT visits.person) FROM visits')).toEqual(['distinct visits.person']);
    await expect(
      kinds('SELECT COUNT(DISTINCT person) FROM visits JOIN people ON visits.patient = people.person'),
    ).rejects.toThrow('Several tables have a column "person"');
  });
  it('the names are not counted if a LEFT JOIN may not find them', async () => {
    await expect(
      kinds('SELECT COUNT(visits.patient) FROM people LEFT JOIN visits ON visits.patient = people.person'),
    ).rejects.toThrow('only where the LEFT JOIN finds a row');
    expect(await kinds('SELECT COUNT(visits.cost) FROM people LEFT JOIN visits ON visits.patient = people.person')).toEqual([
      'count',
    ]);
  });
});

describe('two columns of one name', () => {
  it('the two columns stay two, in expressions, formulas and their order', async () => {
    const sql =
      'SELECT SUM(a.cost * 2), SUM(b.cost * 2), SUM(a.cost) / SUM(b.cost) AS ratio FROM visits AS a JOIN visits AS b ON a.person = b.person AND a.clinic = b.clinic';
    const { queries } = bindBatch(parseSql(sql, policy), policy);
    expect(queries.map((q) => ('column' in q ? q.column : ''))).toEqual(['a.cost * 2', 'b.cost * 2', '']);
    expect(Object.values(queries[0]!.derive!)).toEqual([
      { op: '*', of: ['a.cost', 2] },
      { op: '*', of: ['b.cost', 2] },
    ]);
    expect(queries[2]).toMatchObject({ parts: { 'sum(a.cost)': { column: 'a.cost' }, 'sum(b.cost)': { column: 'b.cost' } } });
  });
  it('two meanings of one alias are refused', () => {
    expect(() =>
      parseSql('SELECT age / 2 AS g, FLOOR(age / 3) AS g, COUNT(*) FROM people GROUP BY age / 2, FLOOR(age / 3)', policy),
    ).toThrow('would mean two things');
  });
});
