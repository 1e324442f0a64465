import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import type { Engine } from '../src/engine/engine.js';
import { openEngine } from '../src/engine/open.js';
import { type Bench, inTurns } from './bench.js';

async function withFile<T>(
  name: string,
  write: (file: string) => Promise<void>,
  work: (engine: Engine) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'fugu-bench-'));
  try {
    const file = join(folder, name);
    await write(file);
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

const copy = (select: string) => async (file: string) => {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  await connection.run(`COPY (${select}) TO '${file}' (FORMAT parquet)`);
  instance.closeSync();
};

const rows = 3000;
const questions = Array.from({ length: 400 }, (_, c) => `q${c}`);
const answer = (i: number, c: number) => (i * 31 + c * 17 + ((i * c) % 7)) % 6;
const surveyText = () =>
  `${questions.join(',')}\n${Array.from({ length: rows }, (_, i) => questions.map((_, c) => answer(i, c)).join(',')).join('\n')}\n`;
const surveySelect = `SELECT ${questions.map((q, c) => `CAST((i * 31 + ${c} * 17 + ((i * ${c}) % 7)) % 6 AS INTEGER) AS ${q}`).join(', ')} FROM range(${rows}) t(i)`;
const unpivot = 'SELECT name, value, count(*) FROM (UNPIVOT fugu_data ON COLUMNS(*)) GROUP BY name, value';

/** Streams the table and counts each column's codes: what a release of many histograms does with it. */
async function countStreamed(engine: Engine): Promise<number> {
  const positions = new Map<unknown, number>(Array.from({ length: 6 }, (_, code) => [`${code}`, code]));
  const counts = questions.map(() => new Int32Array(6));
  for await (const block of engine.stream({ sql: 'SELECT * FROM fugu_data', values: [] })) {
    const { rows: n, columns } = block.open();
    for (const [c, column] of columns.entries()) {
      const own = counts[c]!;
      if (column instanceof Int32Array) for (let i = 0; i < n; i++) own[column[i]!]!++;
      else for (let i = 0; i < n; i++) own[positions.get(column[i])!]!++;
    }
  }
  return counts.reduce((total, own) => total + own[0]!, 0);
}

const ask = (engine: Engine, sql: string) => engine.rows({ sql, values: [] });
const versus = (peer: string, { ours, peer: seconds }: { ours: number; peer: number }) => ({
  ours,
  peer: { name: peer, seconds },
});

export const benches: readonly Bench[] = [
  {
    name: 'engine: stream and count 3,000 x 400 whole numbers',
    goal: { ratio: 0.4 },
    run: () =>
      withFile('survey.parquet', copy(surveySelect), async (engine) =>
        versus(
          'raw UNPIVOT',
          await inTurns(
            () => countStreamed(engine),
            () => ask(engine, unpivot),
            { rounds: 25 },
          ),
        ),
      ),
  },
  {
    name: 'engine: stream and count 3,000 x 400 from a csv',
    goal: { ratio: 0.4 },
    run: () =>
      withFile(
        'survey.csv',
        (file) => writeFile(file, surveyText()),
        async (engine) =>
          versus(
            'raw UNPIVOT',
            await inTurns(
              () => countStreamed(engine),
              () => ask(engine, unpivot),
              { rounds: 25 },
            ),
          ),
      ),
  },
  {
    name: 'engine: clamped sum of 10M rows',
    goal: { ratio: 3 },
    run: () =>
      withFile(
        'long.parquet',
        copy('SELECT CAST(hash(i) % 100000 AS DOUBLE) / 1000 AS x FROM range(10000000) t(i)'),
        async (engine) => {
          // Quantised and added as wide integers, so that no order of rows and no rounding shows in the sum.
          const clamped =
            'SELECT sum(CAST(round((CASE WHEN x IS NULL OR isnan(x) THEN 0 WHEN x < 0 THEN 0 WHEN x > 90 THEN 90 ELSE x END) * 1000) AS BIGINT)) FROM fugu_data';
          return versus(
            'raw sum',
            await inTurns(
              () => ask(engine, clamped),
              () => ask(engine, 'SELECT sum(x) FROM fugu_data'),
              { rounds: 3 },
            ),
          );
        },
      ),
  },
  {
    name: 'engine: snapshot of an unchanged 10M-row file',
    goal: { ratio: 0.05 },
    run: () =>
      withFile(
        'long.parquet',
        copy("SELECT ['a','b','c'][1 + CAST(hash(i) % 3 AS INT)] AS x FROM range(10000000) t(i)"),
        async (engine) => {
          await new Promise((settled) => setTimeout(settled, 2100));
          return versus(
            'one GROUP BY',
            await inTurns(
              () => engine.snapshot(),
              () => ask(engine, 'SELECT x, count(*) FROM fugu_data GROUP BY x'),
              { rounds: 3 },
            ),
          );
        },
      ),
  },
];
