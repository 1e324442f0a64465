import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Engine, withSnapshot } from '../src/data/engine/engine.js';
import { openEngine } from '../src/data/terms/open.js';
import { readPolicy } from '../src/data/terms/read.js';
import type { Policy } from '../src/policy/policy.js';
import { bindBatch } from '../src/query/bind.js';
import { countCells } from '../src/query/count/count.js';
import { parseSql } from '../src/query/sql/sql.js';

/** Tables with every value declared, within bounds and used: before noise, a database returns the same numbers. */
const policyText = `data: {source: people.csv, links: [home]}
protect: {secret: person, unit: id, maxRows: 1}
budget: {epsilon: 1}
columns:
  region: {type: category, values: [north, south]}
  age: {type: integer, bounds: [0, 90]}
  home: {type: category, values: [x, y, z]}
tables:
  visits:
    source: visits.csv
    unit: patient
    maxRows: 6
    links: [clinic]
    columns:
      kind: {type: category, values: [a, b]}
      cost: {type: integer, bounds: [0, 100]}
      clinic: {type: category, values: [x, y, z]}
      day: {type: date, bounds: [2024-01-01, 2024-12-31]}
  jobs: {source: jobs.csv, unit: worker, maxRows: 3, columns: {hours: {type: integer, bounds: [0, 60]}}}
  clinics:
    source: clinics.csv
    key: clinic
    public: true
    columns: {clinic: {type: category, values: [x, y, z]}, size: {type: category, values: [small, large]}}
dependence: none
`;
const statements = [
  'SELECT region AS k, COUNT(*) FROM people GROUP BY region',
  "SELECT p.region AS k, COUNT(*) FROM people p JOIN visits v ON p.id = v.patient AND v.kind = 'a' GROUP BY p.region",
  'SELECT COUNT(*) FROM visits v LEFT JOIN clinics c ON v.clinic = c.clinic WHERE c.clinic IS NULL',
  'SELECT COUNT(c.clinic) FROM visits v LEFT JOIN clinics c USING (clinic)',
  'SELECT COUNT(*) FROM people p LEFT JOIN clinics c ON p.home = c.clinic WHERE c.size IS NULL',
  'SELECT COUNT(*) FROM people p LEFT JOIN visits v ON p.id = v.patient',
  'SELECT COUNT(hours) FROM people p LEFT JOIN visits v ON p.id = v.patient LEFT JOIN jobs j ON v.patient = j.worker',
  'SELECT COUNT(hours) FROM people p LEFT JOIN visits v ON p.id = v.patient AND p.home = v.clinic LEFT JOIN jobs j ON v.patient = j.worker',
  'SELECT COUNT(*) FROM people p LEFT JOIN visits v ON p.id = v.patient AND p.home = v.clinic JOIN jobs j ON v.patient = j.worker',
  'SELECT COUNT(DISTINCT v.patient) FROM visits v JOIN jobs j ON j.worker = v.patient',
  'SELECT AVG(m) FROM (SELECT patient, AVG(cost) AS m FROM visits GROUP BY patient) f',
  'SELECT p.region AS k, SUM(n) FROM people p JOIN (SELECT patient, COUNT(*) AS n, MAX(cost) AS top FROM visits WHERE cost > 20 GROUP BY patient) f ON f.patient = p.id GROUP BY p.region',
  'SELECT COUNT(*) FROM people p LEFT JOIN (SELECT patient, COUNT(*) AS n FROM visits GROUP BY patient) f ON f.patient = p.id WHERE n IS NULL OR n > 2',
  'WITH a AS (SELECT * FROM visits WHERE cost > 20), b AS (SELECT patient, MIN(day) AS first FROM a GROUP BY patient) SELECT MONTH(first) AS k, COUNT(*) FROM b GROUP BY MONTH(first)',
  "SELECT AVG(day - DATE '2024-01-01') FROM visits",
  "SELECT COUNT(*) FROM visits WHERE day - DATE '2024-01-01' > 59 OR NOT (cost BETWEEN 10 AND 60)",
  "SELECT COALESCE(c.size, v.clinic, 'none') AS k, COUNT(*) FROM visits v LEFT JOIN clinics c ON v.clinic = c.clinic GROUP BY COALESCE(c.size, v.clinic, 'none')",
  "SELECT CASE WHEN cost < 30 THEN 'low' WHEN kind = 'a' THEN 'a' END AS k, VAR_SAMP(cost) FROM visits GROUP BY CASE WHEN cost < 30 THEN 'low' WHEN kind = 'a' THEN 'a' END",
  'SELECT FLOOR(age / 20) AS k, SUM(age % 7) FROM people GROUP BY FLOOR(age / 20)',
  'SELECT ROUND(AVG(cost), 1) FROM visits',
  "SELECT COUNT(*) FILTER (WHERE NOT (cost > 30 AND clinic IN ('x', 'y'))) FROM visits",
];

let folder: string;
let policy: Policy;
let engine: Engine;
let instance: DuckDBInstance;
let database: DuckDBConnection;
const names = ['people', 'visits', 'jobs', 'clinics'];
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fugu-same-'));
  const write = (name: string, lines: readonly string[]) => writeFileSync(join(folder, name), `${lines.join('\n')}\n`);
  const some = (n: number, line: (i: number) => string) => Array.from({ length: n }, (_, i) => line(i));
  const of = <T>(list: readonly T[], i: number): T => list[i % list.length]!;
  write('policy.yaml', [policyText]);
  write('people.csv', [
    'id,region,age,home',
    ...some(
      20,
      (i) =>
        `p${i},${of(['north', 'south', 'north', ''], i)},${of([3, 17, 40, 41, 66, 90, ''], i)},${of(['x', 'y', '', 'z', 'y'], i)}`,
    ),
  ]);
  write('visits.csv', [
    'patient,kind,cost,clinic,day',
    ...some(
      45,
      (i) =>
        `p${(i * i) % 17},${of(['a', 'b', ''], i)},${of([0, 12, 31, 55, 100, ''], i)},${of(['x', 'z', 'y', ''], i)},2024-${of(['01-05', '02-29', '03-01', '12-31'], i)}`,
    ),
  ]);
  write('jobs.csv', ['worker,hours', ...some(21, (i) => `p${(3 * i) % 20},${of([5, 20, 40, ''], i)}`)]);
  write('clinics.csv', ['clinic,size', 'x,large', 'y,small']);
  policy = await readPolicy(join(folder, 'policy.yaml'));
  engine = await openEngine(policy);
  instance = await DuckDBInstance.create(':memory:');
  database = await instance.connect();
  for (const name of names)
    await database.run(`CREATE TABLE ${name} AS SELECT * FROM read_csv('${join(folder, `${name}.csv`)}', header = true)`);
});
afterAll(async () => {
  database.closeSync();
  instance.closeSync();
  await engine.close();
  rmSync(folder, { recursive: true, force: true });
});

async function countsOf(sql: string): Promise<ReadonlyMap<string, number>> {
  const { measures, finish } = bindBatch(parseSql(sql, policy), policy);
  const cells = await withSnapshot(engine, async (data) =>
    (await countCells(data, policy, measures)).map((exact) => exact.open()),
  );
  const [table] = finish(cells.map((values) => ({ noise: { kind: 'none' }, values })));
  const rows = table!.rows.filter(({ value }) => value !== null && (value !== 0 || table!.columns.length === 1));
  return new Map(rows.map(({ keys, value }) => [keys.join(), value!]));
}

describe('statements over tables in which all is declared', () => {
  it.each(statements)('a statement gives before noise the numbers of a database: %s', async (sql) => {
    const found = (await database.runAndReadAll(sql)).getRows().filter((row) => row.at(-1) !== null && Number(row.at(-1)) !== 0);
    const keyed = /^(WITH .*)?SELECT [^,]* AS k,/.test(sql) || / AS k, /.test(sql);
    const theirs = new Map(found.map((row) => [keyed ? `${row[0] ?? '(missing)'}` : '', Number(row.at(-1))]));
    const ours = await countsOf(sql);
    expect([...ours.keys()].sort()).toEqual([...theirs.keys()].sort());
    for (const [key, value] of theirs) expect(ours.get(key)).toBeCloseTo(value, 2);
  });

  it('the statements read data of which nothing is left out', async () => {
    for (const [table, unit, most] of [
      ['visits', 'patient', 6],
      ['jobs', 'worker', 3],
    ] as const) {
      const rows = await database.runAndReadAll(`SELECT max(n) FROM (SELECT count(*) AS n FROM ${table} GROUP BY ${unit})`);
      expect(Number(rows.getRows()[0]![0])).toBeLessThanOrEqual(most);
    }
  });
});
