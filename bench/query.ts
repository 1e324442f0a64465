import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import type { Engine, Statement } from '../src/engine/engine.js';
import { openEngine } from '../src/engine/open.js';
import { parseRational } from '../src/exact/rational.js';
import type { Column, Policy } from '../src/policy/policy.js';
import { bindBatch } from '../src/query/bind.js';
import { compileMeasures, compileStream, readCounts } from '../src/query/compile.js';
import { rowCounter } from '../src/query/count-rows.js';
import { parseBatch } from '../src/query/parse.js';
import { surveyBatch } from '../src/query/survey.js';
import { type Bench, inTurns } from './bench.js';

const policyOf = (columns: readonly Column[]): Policy =>
  ({
    population: 'bench',
    protect: { secret: 'row', maxRows: 1, adversary: 'informed' },
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

/** Writes a made-up table to a Parquet file, opens it as the product would, and takes both away afterwards. */
async function withTable<T>(select: string, work: (engine: Engine) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'fugu-bench-'));
  const file = join(folder, 'table.parquet');
  try {
    const instance = await DuckDBInstance.create(':memory:');
    const connection = await instance.connect();
    await connection.run(`COPY (${select}) TO '${file}' (FORMAT parquet)`);
    instance.closeSync();
    const engine = await openEngine({ source: file });
    try {
      return await work(engine);
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

const raw = (engine: Engine, sql: string) => engine.rows({ sql, values: [] } satisfies Statement);

const longBench = (name: string, ratio: number, query: object, peer: string): Bench => ({
  name,
  goal: { ratio },
  run: () =>
    withTable(long, async (engine) => {
      const { measures } = bindBatch(parseBatch(query), longPolicy);
      const source = await engine.columns();
      const best = await inTurns(
        async () => {
          for (const plan of compileMeasures(measures, longPolicy, source))
            readCounts(plan, measures, (await engine.rows(plan.statement)).open());
        },
        () => raw(engine, peer),
        { rounds: 4 },
      );
      return { ours: best.ours, peer: { name: 'raw DuckDB', seconds: best.peer } };
    }),
});

const surveyBench: Bench = {
  name: 'count 3,000 x 400 survey, all histograms',
  goal: { ratio: 0.4 },
  run: () =>
    withTable(wide, async (engine) => {
      const { measures } = bindBatch(surveyBatch(widePolicy), widePolicy);
      const source = await engine.columns();
      const best = await inTurns(
        async () => {
          const { statement, columns } = compileStream(measures, widePolicy, source);
          const counter = rowCounter(measures, columns, widePolicy);
          for await (const chunk of engine.stream(statement)) counter.add(chunk.open());
          counter.totals();
        },
        () => raw(engine, 'SELECT name, value, count(*) FROM (UNPIVOT fugu_data ON COLUMNS(*)) GROUP BY name, value'),
        { rounds: 8 },
      );
      return { ours: best.ours, peer: { name: 'raw UNPIVOT', seconds: best.peer } };
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
  surveyBench,
];
