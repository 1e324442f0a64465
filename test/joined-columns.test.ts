import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Fault } from '../src/base/errors.js';
import { type Engine, withSnapshot } from '../src/data/engine/engine.js';
import { openEngine } from '../src/data/terms/open.js';
import { parsePolicy, readPolicy } from '../src/data/terms/read.js';
import type { Policy } from '../src/policy/policy.js';
import { everyRecord } from '../src/privacy/mechanism/record-class.js';
import { bindBatch, requestIdentity } from '../src/query/bind.js';
import { countCells } from '../src/query/count/count.js';
import { parseSql } from '../src/query/sql/sql.js';

const text = `data: {source: people.csv, links: [parent]}
protect: {secret: person, unit: person, maxRows: 1}
budget: {epsilon: 1}
columns:
  region: {type: category, values: {1: North, 2: South}}
  age: {type: integer, bounds: [0, 90]}
  parent: {type: category, values: [a, b]}
tables:
  visits:
    source: visits.csv
    unit: person
    maxRows: 4
    links: [clinic]
    columns:
      age: {type: integer, bounds: [0, 90]}
      urgent: {type: integer, bounds: [0, 1]}
      clinic: {type: category, values: [x, y, z]}
  kids: {source: kids.csv, unit: parent, maxRows: 2, columns: {old: {type: integer, bounds: [0, 18]}}}
  clinics:
    source: clinics.csv
    key: clinic
    public: true
    columns: {clinic: {type: category, values: [x, y]}, size: {type: category, values: [small, large]}}
  wards: {source: clinics.csv, key: clinic, public: true, columns: {clinic: {type: category, values: [x, y, z]}}}
dependence: none
`;
let folder: string;
let policy: Policy;
let engine: Engine;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fugu-joined-'));
  const write = (name: string, lines: readonly string[]) => writeFileSync(join(folder, name), `${lines.join('\n')}\n`);
  write('policy.yaml', [text]);
  write('people.csv', ['person,region,age,parent', 'p1,1,30,a', 'p2,1,40,a', 'p3,2,50,b', 'p4,2,60,b']);
  write('visits.csv', ['person,age,urgent,clinic', 'p1,31,0,x', 'p1,32,1,y', 'p2,41,1,z', 'p2,41,0,z', 'p2,41,0,x', 'p4,61,1,']);
  write('kids.csv', ['parent,old', 'p1,3', 'p1,5', 'p3,7']);
  write('clinics.csv', ['clinic,size', 'x,small', 'y,large']);
  policy = await readPolicy(join(folder, 'policy.yaml'));
  engine = await openEngine(policy);
});
afterAll(async () => {
  await engine.close();
  rmSync(folder, { recursive: true, force: true });
});

const bound = (sql: string) => bindBatch(parseSql(sql, policy), policy);
const exact = async (sql: string): Promise<readonly number[]> => {
  const { measures } = bound(sql);
  const [first] = await withSnapshot(engine, async (data) =>
    (await countCells(data, policy, measures)).map((cells) => cells.open()),
  );
  return first!.map(Number);
};

describe('a column by which tables are joined', () => {
  const found = 'FROM visits v LEFT JOIN clinics c ON v.clinic = c.clinic';
  it('the column is empty if a LEFT JOIN finds no partner', async () => {
    expect(await exact(`SELECT COUNT(*) ${found} WHERE c.clinic IS NULL`)).toEqual([3]);
    expect(await exact(`SELECT COUNT(c.clinic) ${found}`)).toEqual([3]);
    // Also where both are declared alike.
    expect(await exact('SELECT COUNT(w.clinic) FROM visits v LEFT JOIN wards w ON v.clinic = w.clinic')).toEqual([3]);
    expect(await exact(`SELECT c.clinic, COUNT(*) ${found} GROUP BY c.clinic`)).toEqual([2, 1, 3]);
    expect(await exact(`SELECT v.clinic, COUNT(*) ${found} GROUP BY v.clinic`)).toEqual([2, 1, 2, 1]);
  });
  it('a column without a table name belongs to the table whose rows stay', async () => {
    expect(await exact('SELECT clinic, COUNT(*) FROM visits LEFT JOIN clinics USING (clinic) GROUP BY clinic')).toEqual([
      2, 1, 2, 1,
    ]);
  });
  it('the column is read as its own table declares it', async () => {
    const joined = 'FROM visits v JOIN clinics c USING (clinic)';
    expect(await exact(`SELECT c.clinic, COUNT(*) ${joined} GROUP BY c.clinic`)).toEqual([2, 1, 0]);
    expect(await exact(`SELECT clinic, COUNT(*) ${joined} GROUP BY clinic`)).toEqual([2, 1, 0, 0]);
  });
  it('the column counts as one if both sides are always equal', () => {
    const joined = 'FROM visits v JOIN wards w USING (clinic)';
    const [own, other] = bound(
      `SELECT v.clinic, COUNT(*) ${joined} GROUP BY v.clinic; SELECT w.clinic, COUNT(*) ${joined} GROUP BY w.clinic`,
    ).queries;
    expect(own).toEqual(other);
  });
});

describe('the person of a table that a LEFT JOIN may not find', () => {
  it('a missing person joins no further rows', async () => {
    const visited = 'FROM people p LEFT JOIN visits v ON p.person = v.person';
    expect(await exact(`SELECT COUNT(old) ${visited} LEFT JOIN kids k ON v.person = k.parent`)).toEqual([4]);
    expect(await exact(`SELECT COUNT(*) ${visited} JOIN kids k ON v.person = k.parent`)).toEqual([4]);
    expect(await exact(`SELECT COUNT(*) ${visited} JOIN kids k ON p.person = k.parent`)).toEqual([5]);
  });
  it('the person counts in every group that its rows may be in', () => {
    const query = (on: string) =>
      bound(
        `SELECT p.region, COUNT(DISTINCT a.person) FROM visits a LEFT JOIN visits b ON a.person = b.person AND a.clinic = b.clinic LEFT JOIN people p ON ${on}.person = p.person GROUP BY p.region`,
      ).measures[0]!.sensitivity.get(everyRecord)!.l1;
    // One row of a person may find another visit, and the next none.
    expect(query('a')).toBe(2n);
    expect(query('b')).toBeGreaterThanOrEqual(3n);
  });
});

describe('names in a statement', () => {
  it.each([
    ['SELECT AVG(q.age) FROM visits v JOIN people p ON v.person = p.person', 'no table "q"'],
    ['SELECT AVG(people.age) FROM people p', 'no table "people"'],
    ['SELECT AVG(p.age) FROM (SELECT * FROM people p) q', 'no table "p"'],
    ['SELECT COUNT(*) FROM visits v JOIN people p ON v.person = v.person', 'says nothing of "p"'],
    ['SELECT COUNT(*) FROM visits v JOIN people p ON v.person = p.person AND p.age = p.person', 'on "p" alone'],
    // The person of another table has that name; here it is an answer.
    ['SELECT AVG(n) FROM (SELECT parent, COUNT(*) AS n FROM people GROUP BY parent) f', 'grouped by something else'],
    ['SELECT person, COUNT(*) FROM visits GROUP BY person', 'names persons'],
    ["SELECT COUNT(*) FROM people WHERE region = 'north'", 'not in the declared domain'],
    ['SELECT UPPER(region), COUNT(*) FROM people GROUP BY 1', 'function UPPER'],
    ['SELECT COUNT(*) FROM people p WHERE EXISTS (SELECT 1 FROM visits v WHERE v.person = p.person)', 'function EXISTS'],
    ['SELECT AVG(w) FROM (SELECT person, MAX(clinic) AS w FROM visits GROUP BY person) f', 'largest number per person'],
    ['SELECT 100 * ROUND(AVG(age), 1) FROM people', 'ROUND inside'],
    [
      'SELECT SUM(m) FROM (SELECT person, COUNT(*) AS n, MAX(age) AS m FROM visits GROUP BY person) AS v(person, m, n)',
      'a list of column names',
    ],
    ['SELECT SUM(age) FROM people AS p(person, age, region)', 'a list of column names'],
    ['SELECT region, COUNT(*) FROM people GROUP BY region ORDER BY region NULLS FIRST', 'NULLS FIRST'],
    ["SELECT COUNT(*) FROM people WHERE person = 'p1'", 'names persons'],
    ['SELECT COUNT(DISTINCT CASE WHEN urgent = 1 THEN person END) FROM visits', 'names persons'],
    ["SELECT region, COUNT(*) FROM people GROUP BY region HAVING region = 'North'", 'no group "North"'],
    ['SELECT region, COUNT(*) FROM people GROUP BY region HAVING NOT region IN (1, 3)', 'no group "3"'],
  ])('an unknown name is refused: %s', (sql, words) => expect(() => bound(sql)).toThrow(words));

  it('a condition in ON equals one in WHERE if all rows need a partner', async () => {
    const joined = 'FROM people p JOIN visits v ON v.person = p.person';
    expect(await exact(`SELECT COUNT(*) ${joined} AND v.clinic IN ('x', 'z') AND p.region = 1`)).toEqual(
      await exact(`SELECT COUNT(*) ${joined} WHERE v.clinic IN ('x', 'z') AND p.region = 1`),
    );
    expect(() => bound("SELECT COUNT(*) FROM people p LEFT JOIN visits v ON v.person = p.person AND v.clinic = 'x'")).toThrow(
      'ON of a LEFT JOIN',
    );
    expect(() => bound("SELECT COUNT(*) FROM people p JOIN visits v ON v.clinic = 'x'")).toThrow('compares no columns');
  });
  it('the names of a sub-select hold outside of it, and those of its tables inside', async () => {
    expect(await exact('SELECT SUM(q.age) FROM (SELECT * FROM people WHERE people.age > 30) AS Q')).toEqual([150]);
    expect(await exact('SELECT SUM(n) FROM (SELECT parent, COUNT(*) AS n FROM kids GROUP BY parent) f')).toEqual([3]);
  });
  it('names that differ from a column only by case are those given', async () => {
    expect(await exact(`SELECT CASE WHEN age > 40 THEN 'old' END AS "AGE", COUNT(*) FROM people GROUP BY "AGE"`)).toEqual([2, 2]);
  });
});

describe('faults of joined tables', () => {
  const hint = (sql: string): string => {
    try {
      bound(sql);
    } catch (error) {
      return (error as Fault).hint;
    }
    throw new Error('accepted');
  };
  it('the fault names the code of a label, and the question for those who have rows', () => {
    expect(hint("SELECT COUNT(*) FROM people WHERE region = 'north'")).toContain('the code 1');
    expect(hint('SELECT COUNT(*) FROM people WHERE region = 7')).toContain('1, 2');
    expect(hint('SELECT COUNT(*) FROM people p WHERE EXISTS (SELECT 1 FROM visits v)')).toContain('GROUP BY person');
    expect(hint('SELECT COUNT(*) FROM people WHERE person IN (SELECT person FROM visits)')).toContain('GROUP BY person');
  });
});

describe('a rounded calculation', () => {
  it('the value is released as rounded, and called so', () => {
    const { finish } = bound('SELECT ROUND(SUM(age) / COUNT(*), 1) FROM people');
    const [table] = finish([493n, 10n].map((value) => ({ noise: { kind: 'none' }, values: [value] })));
    expect(table!.rows[0]!.value).toBe(49.3);
    expect(table!.columns).toEqual(['round(sum(age) / count(*), 1)']);
    expect(bound('SELECT AVG(age)::int FROM people').queries[0]).toMatchObject({ kind: 'formula', of: { op: 'round' } });
    expect(bound('SELECT COUNT(*)::int FROM people').queries[0]).toMatchObject({ kind: 'count' });
  });
});

describe('the difference between two days', () => {
  it('the difference is a number of days, however the other day is written', async () => {
    const dated = text.replace(
      'urgent: {type: integer, bounds: [0, 1]}',
      'urgent: {type: date, bounds: [2024-01-01, 2024-12-31]}',
    );
    const own = await parsePolicy(dated, join(folder, 'policy.yaml'));
    const query = (sql: string) => bindBatch(parseSql(sql, own), own).queries[0]!;
    const days = query("SELECT AVG(urgent - DATE '2024-01-01') FROM visits");
    const { columns } = bindBatch({ queries: [days] }, own).finish(
      [0n, 1n].map((value) => ({ noise: { kind: 'none' }, values: [value] })),
    )[0]!;
    expect(columns.join()).not.toContain('since 1970');
    expect(() => query("SELECT COUNT(*) FROM visits WHERE urgent - DATE '2024-01-01' > 59")).not.toThrow();
    expect(() => query("SELECT COUNT(*) FROM visits WHERE urgent - INTERVAL '2 days' > 59")).toThrow('no date');
  });
});

describe('the first non-missing of several answers', () => {
  it('the answer is that of the first column that has one', async () => {
    expect(
      await exact(
        "SELECT COALESCE(c.clinic, v.clinic, 'none') AS z, COUNT(*) FROM visits v LEFT JOIN clinics c ON v.clinic = c.clinic GROUP BY z",
      ),
    ).toEqual([2, 1, 2, 1, 0]);
  });
});

describe('a mean per person', () => {
  it('the mean lies between the steps of its column', async () => {
    const [sum] = await exact('SELECT SUM(u) FROM (SELECT person, AVG(urgent) AS u FROM visits GROUP BY person) f');
    expect(sum).toBe(500 + 333 + 1000);
    expect(
      await exact('SELECT COUNT(*) FROM (SELECT person, AVG(urgent) AS u FROM visits GROUP BY person) f WHERE u < 0.5'),
    ).toEqual([1]);
  });
});

describe('a recorded answer', () => {
  it.each(['WHERE age < 60', ''])(
    'an answer about rows per person is not reused if its columns are read differently %s',
    async (where) => {
      const sql = `SELECT AVG(n) FROM (SELECT person, COUNT(*) AS n, MAX(age) AS m FROM people ${where} GROUP BY person) f`;
      const other = await parsePolicy(
        text.replace('bounds: [0, 90]', 'bounds: [0, 90], missing: [30]'),
        join(folder, 'policy.yaml'),
      );
      const counted = (under: Policy) => requestIdentity(bindBatch(parseSql(sql, under), under), under)[1];
      expect(counted(other)).not.toBe(counted(policy));
    },
  );
});
