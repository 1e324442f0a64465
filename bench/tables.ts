import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { type Engine, type Snapshot, withSnapshot } from '../src/data/engine/engine.js';
import { openEngine } from '../src/data/terms/open.js';
import { readPolicy } from '../src/data/terms/read.js';
import type { Policy } from '../src/policy/policy.js';
import { bindBatch } from '../src/query/bind.js';
import { countCells } from '../src/query/count/count.js';
import { parseSql } from '../src/query/sql/sql.js';
import { type Bench, few, timedBeside } from './bench.js';

/** A million persons with ten visits each, except a few with forty, of which twenty are used. */
const visits = 10_000_000;
const people = `SELECT i AS person, ['north', 'south', 'west', 'east'][1 + CAST(hash(i) % 4 AS INT)] AS region, CAST(18 + hash(i + 7) % 73 AS INT) AS age FROM range(1000000) t(i)`;
const made = `SELECT CASE WHEN i % 100000 < 40 THEN 7 + i // 100000 ELSE CAST(hash(i) % 1000000 AS BIGINT) END AS person,
  CAST(hash(i + 3) % 1001 AS INT) AS cost, DATE '2022-01-01' + CAST(hash(i + 5) % 1000 AS INT) AS day FROM range(${visits}) t(i)`;
const policyText = `data: {source: people.parquet}
protect: {secret: person, unit: person, maxRows: 1}
budget: {epsilon: 1}
columns:
  region: {type: category, values: [north, south, west, east]}
  age: {type: integer, bounds: [18, 90]}
tables:
  visits: {source: visits.parquet, unit: person, maxRows: 35, columns: {cost: {type: integer, bounds: [0, 1000]}, day: {type: date, bounds: [2022-01-01, 2024-12-31]}}}
dependence: none
`;

async function withTables<T>(work: (data: Snapshot, policy: Policy, engine: Engine) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'fugu-bench-'));
  try {
    const instance = await DuckDBInstance.create(':memory:');
    const connection = await instance.connect();
    for (const [name, select] of [['people', people] as const, ['visits', made] as const])
      await connection.run(`COPY (${select}) TO '${join(folder, name)}.parquet' (FORMAT parquet)`);
    instance.closeSync();
    await writeFile(join(folder, 'policy.yaml'), policyText);
    const policy = await readPolicy(join(folder, 'policy.yaml'));
    const engine = await openEngine(policy);
    try {
      return await withSnapshot(engine, (data) => work(data, policy, engine));
    } finally {
      await engine.close();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const joinBench = (name: string, sql: string, peer: string, goal?: number): Bench => ({
  name,
  ...(goal !== undefined && { goal: { ratio: goal } }),
  run: () =>
    withTables(async (data, policy) => {
      const { measures } = bindBatch(parseSql(sql, policy), policy);
      return timedBeside(
        'raw DuckDB',
        () => countCells(data, policy, measures),
        () => data.rows({ sql: peer, values: [] }),
      );
    }),
});

/** The same query on the same views, without a privacy unit. */
const raw = (select: string, where = ''): string =>
  `SELECT region, ${select} FROM fugu_table_visits AS visits JOIN fugu_data AS people ON visits.person = people.person ${where} GROUP BY region`;

/** People with too many rows are found by the first release after opening, which reads every cell once anyway. */
const firstBench: Bench = {
  name: 'join 10M visits to 1M people, opening the data and one release',
  run: () =>
    withTables(async (_, policy) => {
      const { measures } = bindBatch(parseSql(byRegion, policy), policy);
      const opened = async (work: (data: Snapshot) => Promise<unknown>) => {
        const engine = await openEngine(policy);
        await withSnapshot(engine, work).finally(() => engine.close());
      };
      const ours = () => opened((data) => countCells(data, policy, measures));
      const peer = () => opened((data) => data.rows({ sql: raw('count(*)'), values: [] }));
      return timedBeside('raw DuckDB', ours, peer, { rounds: few });
    }),
};
const byRegion = 'SELECT region, COUNT(*) FROM visits JOIN people USING (person) GROUP BY region';

export const benches: readonly Bench[] = [
  firstBench,
  joinBench('join 10M visits to 1M people, counts by region', byRegion, raw('count(*)'), 1.3),
  joinBench(
    'join 10M visits to 1M people, mean cost by region of those above 30',
    'SELECT region, AVG(cost) FROM visits JOIN people USING (person) WHERE age > 30 GROUP BY region',
    raw('avg(cost)', 'WHERE age > 30'),
    1.3,
  ),
  joinBench(
    'join 10M visits to 1M people, persons by region',
    'SELECT region, COUNT(DISTINCT person) FROM visits JOIN people USING (person) GROUP BY region',
    raw('count(DISTINCT visits.person)'),
    1.3,
  ),
  joinBench(
    'join 10M visits to 1M people, by year of a date',
    'SELECT YEAR(day) AS y, COUNT(*) FROM visits JOIN people USING (person) GROUP BY y',
    "SELECT year(DATE '1970-01-01' + CAST(day AS INTEGER)) AS y, count(*) FROM fugu_table_visits AS visits JOIN fugu_data AS people ON visits.person = people.person GROUP BY y",
  ),
];
