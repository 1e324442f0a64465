import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { type Engine, type Snapshot, withSnapshot } from '../src/data/engine/engine.js';
import type { EngineSource } from '../src/data/engine/source.js';
import { openEngine } from '../src/data/terms/open.js';
import { type Bench, few, repeat, timedBeside } from './bench.js';
import { rawSurvey } from './raw-survey.js';

async function withFile<T>(
  name: string,
  write: (file: string) => Promise<void>,
  work: (data: Snapshot, file: string, engine: Engine) => Promise<T>,
  declared: Partial<EngineSource> = {},
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'fugu-bench-'));
  try {
    const file = join(folder, name);
    await write(file);
    const engine = await openEngine({ source: file, ...declared });
    try {
      return await withSnapshot(engine, (data) => work(data, file, engine));
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

/** Streams the table and counts each column's codes, as a release of many histograms does. */
async function countStreamed(engine: Snapshot): Promise<number> {
  const counts = questions.map(() => new Int32Array(256));
  for await (const block of engine.stream({ sql: 'SELECT * FROM fugu_data', values: [] })) {
    const { rows: n, stored } = block.open();
    for (const [c, column] of stored!.entries()) {
      const own = counts[c]!;
      const { items } = column!;
      for (let i = 0; i < n; i++) own[items[i]!]!++;
    }
  }
  return counts.reduce((total, own) => total + own[0]!, 0);
}

async function againstUnpivot(engine: Snapshot, file: string) {
  const raw = await rawSurvey(file);
  const calls = 4;
  try {
    const ours = repeat(calls, () => countStreamed(engine));
    return await timedBeside('raw UNPIVOT', ours, repeat(calls, raw.unpivot), { rounds: 15, calls });
  } finally {
    raw.close();
  }
}

const ask = (engine: Snapshot, sql: string) => engine.rows({ sql, values: [] });

export const benches: readonly Bench[] = [
  {
    name: 'engine: stream and count 3,000 x 400 whole numbers',
    goal: { ratio: 0.4 },
    run: () => withFile('survey.parquet', copy(surveySelect), againstUnpivot),
  },
  {
    name: 'engine: stream and count 3,000 x 400 from a csv',
    goal: { ratio: 0.4 },
    run: () =>
      withFile('survey.csv', (file) => writeFile(file, surveyText()), againstUnpivot, {
        domains: new Map(questions.map((q) => [q, ['0', '1', '2', '3', '4', '5']])),
      }),
  },
  {
    name: 'engine: snapshot of an unchanged 10M-row file',
    run: () =>
      withFile(
        'long.parquet',
        copy("SELECT ['a','b','c'][1 + CAST(hash(i) % 3 AS INT)] AS x FROM range(10000000) t(i)"),
        async (data, _, engine) => {
          await new Promise((settled) => setTimeout(settled, 2100));
          return timedBeside(
            'one GROUP BY',
            () => withSnapshot(engine, (now) => now.id()),
            () => ask(data, 'SELECT x, count(*) FROM fugu_data GROUP BY x'),
            { rounds: few },
          );
        },
      ),
  },
];
