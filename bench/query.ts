import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { surveyBatch } from '../src/analysis/survey/query.js';
import { parseRational } from '../src/base/exact/rational.js';
import { type Snapshot, type Statement, withSnapshot } from '../src/data/engine/engine.js';
import { openEngine } from '../src/data/terms/open.js';
import type { Column, Policy } from '../src/policy/policy.js';
import { bindBatch } from '../src/query/bind.js';
import { countByDatabase, countStreaming } from '../src/query/count/count.js';
import { parseBatch } from '../src/query/parse.js';
import { type Bench, repeat, timedBeside } from './bench.js';
import { rawSurvey } from './raw-survey.js';

const policyOf = (columns: readonly Column[]): Policy =>
  ({
    population: 'bench',
    protect: { secret: 'row', maxRows: 1, adversary: 'informed' },
    relations: new Map(),
    dependence: [],
    columns: new Map(columns.map((c) => [c.name, c])),
  }) as unknown as Policy;
const category = (name: string, values: readonly string[]): Column => ({
  name,
  type: 'category',
  values,
  labels: new Map(),
  missing: [],
});
const number = (name: string, low: string, high: string, step: string): Column => ({
  name,
  type: 'number',
  bounds: [parseRational(low), parseRational(high)],
  step: parseRational(step),
  missing: [],
});

/** Writes a synthetic table to a Parquet file, opens it as the product would, and removes both afterwards. */
async function withTable<T>(select: string, policy: Policy, work: (engine: Snapshot, file: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'fugu-bench-'));
  const file = join(folder, 'table.parquet');
  try {
    const instance = await DuckDBInstance.create(':memory:');
    const connection = await instance.connect();
    await connection.run(`COPY (${select}) TO '${file}' (FORMAT parquet)`);
    instance.closeSync();
    const engine = await openEngine({ ...policy, data: { source: file } });
    try {
      return await withSnapshot(engine, (data) => work(data, file));
    } finally {
      await engine.close();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const long = `SELECT ['dem', 'rep', 'other', 'green'][1 + CAST(hash(i) % 4 AS INT)] AS party, CAST(17 + hash(i + 7) % 74 AS INT) AS age,
  CAST(hash(i + 9) % 100000 AS DOUBLE) / 1000 AS income FROM range(10000000) t(i)`;
const longPolicy = policyOf([
  category('party', ['dem', 'rep', 'other', 'green']),
  { ...number('age', '17', '90', '1'), type: 'integer' } as Column,
  number('income', '0', '99', '0.01'),
]);
const questions = Array.from({ length: 400 }, (_, j) => `q${j}`);
const wide = `SELECT ${questions.map((q, j) => `CASE WHEN hash(i * 400 + ${j}) % 20 < 19 THEN CAST(hash(i * 400 + ${j}) % 6 AS INT) END AS ${q}`).join(', ')} FROM range(3000) t(i)`;
const widePolicy = policyOf(questions.map((q) => category(q, ['0', '1', '2', '3', '4'])));

const raw = (engine: Snapshot, sql: string) => engine.rows({ sql, values: [] } satisfies Statement);

const longBench = (name: string, ratio: number | undefined, query: object, peer: string): Bench => ({
  name,
  ...(ratio !== undefined && { goal: { ratio } }),
  run: () =>
    withTable(long, longPolicy, async (engine) => {
      const { measures } = bindBatch(parseBatch(query), longPolicy);
      return timedBeside(
        'raw DuckDB',
        () => countByDatabase(engine, longPolicy, measures),
        () => raw(engine, peer),
      );
    }),
});

const surveyBench: Bench = {
  name: 'count 3,000 x 400 survey, all histograms',
  goal: { ratio: 0.4 },
  run: () =>
    withTable(wide, widePolicy, async (engine, file) => {
      const { measures } = bindBatch(surveyBatch(widePolicy), widePolicy);
      const raw = await rawSurvey(file);
      const calls = 4;
      const ours = repeat(calls, () => countStreaming(engine, widePolicy, measures));
      const measured = await timedBeside('raw UNPIVOT', ours, repeat(calls, raw.unpivot), { rounds: 15, calls });
      raw.close();
      return measured;
    }),
};

export const benches: readonly Bench[] = [
  longBench(
    'count a histogram of 10M rows',
    1.05,
    { kind: 'histogram', column: 'party' },
    'SELECT party, count(*) FROM fugu_data GROUP BY party',
  ),
  longBench('clamped sum of 10M integers', 3, { kind: 'sum', column: 'age' }, 'SELECT sum(age) FROM fugu_data'),
  longBench('clamped sum of 10M reals', 3, { kind: 'sum', column: 'income' }, 'SELECT sum(income) FROM fugu_data'),
  longBench('mean of 10M integers', 1.5, { kind: 'mean', column: 'age' }, 'SELECT avg(age) FROM fugu_data'),
  longBench('mean of 10M reals', 1.5, { kind: 'mean', column: 'income' }, 'SELECT avg(income) FROM fugu_data'),
  longBench(
    'means of 10M reals by party',
    1.5,
    { kind: 'mean', column: 'income', by: ['party'] },
    'SELECT party, avg(income) FROM fugu_data GROUP BY party',
  ),
  longBench(
    'count of 10M rows with a filter on a real and an integer',
    undefined,
    {
      kind: 'count',
      where: [
        { column: 'income', op: '>', value: 20 },
        { column: 'age', op: '<=', value: 60 },
      ],
    },
    'SELECT count(*) FROM fugu_data WHERE income > 20 AND age <= 60',
  ),
  surveyBench,
];
