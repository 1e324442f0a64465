import pg from 'pg';
import { countByDatabase } from '../src/count/count.js';
import type { Engine, Pinned } from '../src/engine/engine.js';
import { parseRational } from '../src/exact/rational.js';
import type { Column, Policy } from '../src/policy/policy.js';
import { bindBatch } from '../src/query/bind.js';
import { parseBatch } from '../src/query/parse.js';
import { openEngine } from '../src/terms/open.js';
import { isInstalled, type Started, startServer } from '../test/postgres/start-server.js';
import { samplePolicy } from '../test/sample-policy.js';
import { type Bench, inTurns, type Measured, type Skipped, versus } from './bench.js';

/** Counting for a release against the plain question of the same rows, both by one driver on one server. */
const sizes = [1_000_000, 10_000_000];
const reader = 'reader-s3cret';

const columns: readonly Column[] = [
  { name: 'party', type: 'category', values: ['dem', 'rep', 'other', 'none', 'green'], labels: new Map(), missing: [] },
  { name: 'age', type: 'integer', bounds: [parseRational('17'), parseRational('90')], step: parseRational('1'), missing: [] },
  { name: 'income', type: 'number', bounds: [parseRational('0'), parseRational('100')], step: parseRational('0.1'), missing: [] },
];
const asked = {
  histogram: [{ kind: 'histogram', column: 'party' }, 'SELECT party, count(*) FROM'],
  mean: [{ kind: 'mean', column: 'age' }, 'SELECT avg(age) FROM'],
  sum: [{ kind: 'sum', column: 'income' }, 'SELECT sum(income) FROM'],
} as const;

let started: Promise<Started> | undefined;
async function server(): Promise<Started> {
  const found = await startServer(['shared_buffers=256MB', 'fsync=off', 'synchronous_commit=off', 'max_wal_size=4GB']);
  process.once('exit', () => found.remove());
  await as(
    found,
    'owner',
    `CREATE ROLE reader LOGIN PASSWORD '${reader}'; ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO reader`,
  );
  return found;
}
async function as<T>(
  { port, owner }: Started,
  user: 'owner' | 'reader',
  work: string | ((client: pg.Client) => Promise<T>),
): Promise<T | undefined> {
  const client = new pg.Client({
    host: '127.0.0.1',
    port,
    user,
    password: user === 'owner' ? owner : reader,
    database: 'postgres',
  });
  await client.connect();
  try {
    if (typeof work !== 'string') return await work(client);
    await client.query(work);
    return undefined;
  } finally {
    await client.end();
  }
}

const made = new Set<number>();
async function table(on: Started, rows: number): Promise<string> {
  const name = `people_${rows}`;
  if (made.has(rows)) return name;
  await as(
    on,
    'owner',
    `CREATE UNLOGGED TABLE ${name} AS SELECT (ARRAY['dem', 'rep', 'other', 'none', 'green'])[1 + (i * 7919 % 5)] AS party,
       CAST(17 + i * 104729 % 74 AS INTEGER) AS age, CAST((i * 15485863 % 100000) / 1000.0 AS DOUBLE PRECISION) AS income FROM generate_series(CAST(1 AS BIGINT), ${rows}) AS i`,
  );
  await as(on, 'owner', `VACUUM ANALYZE ${name}`);
  made.add(rows);
  return name;
}

async function against(kind: keyof typeof asked, rows: number): Promise<Measured | Skipped> {
  if (!isInstalled()) return { skipped: 'PostgreSQL is not installed' };
  started ??= server();
  const on = await started;
  const named = await table(on, rows);
  process.env.PGPASSWORD = reader;
  const policy: Policy = {
    ...samplePolicy(columns),
    data: { source: `postgres://reader@127.0.0.1:${on.port}/postgres`, table: named },
  };
  const [query, plain] = asked[kind];
  const { measures } = bindBatch(parseBatch(query), policy);
  const raw = `${plain} ${named}${kind === 'histogram' ? ' GROUP BY party' : ''}`;
  const engine: Engine = await openEngine(policy);
  const data: Pinned = await engine.pin();
  try {
    const turns = await as(on, 'reader', (client) =>
      inTurns(
        () => countByDatabase(data, policy, measures),
        () => client.query(raw),
      ),
    );
    return versus('the same asked plainly', turns!);
  } finally {
    await data.close();
    await engine.close();
  }
}

export const benches: readonly Bench[] = sizes.flatMap((rows) =>
  (Object.keys(asked) as (keyof typeof asked)[]).map(
    (kind): Bench => ({
      name: `${kind} of ${rows / 1e6} million rows in PostgreSQL`,
      goal: { ratio: 1.1 },
      run: () => against(kind, rows),
    }),
  ),
);
