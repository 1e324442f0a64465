import { fork } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DuckDBInstance } from '@duckdb/node-api';
import pg from 'pg';
import { ask, clusterProcesses, startCluster } from '../test/cluster/start-cluster.js';
import { isInstalled, startServer } from '../test/postgres/start-server.js';
import { type Bench, few, type Measured, once, type Skipped } from './bench.js';
import { type Asked, columns, policy, type Question, questions } from './scale-table.js';
import type { Told, Work } from './scale-worker.js';

/**
 * The same synthetic table in every engine, queried by a release and plainly. A line fails where engines disagree on the exact
 * integers before noise. FUGU_BENCH_ROWS=100000000 adds a table of that size: about 10 GB of disk and, on two cores, two hours.
 */
const more = Number(process.env.FUGU_BENCH_ROWS ?? 0);
const sizes = [1_000_000, 10_000_000, ...(more > 10_000_000 ? [more] : [])];
const reader = 'reader-s3cret';
const millions = (rows: number): string => `${rows / 1e6} million rows`;

/** Place of the tables, and the queries on them. */
interface Place {
  readonly source: (rows: number) => { readonly source: string; readonly table?: string };
  readonly plain: (rows: number) => Work['plain'];
  make(rows: number): Promise<void>;
  drop(rows: number): Promise<void>;
}
type Engine = Work['plain']['engine'];

const folder = mkdtempSync(join(tmpdir(), 'fugu-scale-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));

const places: Record<Engine, () => Promise<Place | Skipped>> = {
  DuckDB: async () => {
    const file = (rows: number) => join(folder, `people_${rows}.parquet`);
    return {
      source: (rows) => ({ source: file(rows) }),
      plain: (rows) => ({ engine: 'DuckDB', port: 0, table: `read_parquet('${file(rows)}')` }),
      async make(rows) {
        const instance = await DuckDBInstance.create(':memory:');
        const connection = await instance.connect();
        await connection.run(
          `COPY (SELECT ${columns('i')} FROM range(1, ${rows + 1}) AS r(i)) TO '${file(rows)}' (FORMAT parquet)`,
        );
        instance.closeSync();
      },
      drop: async (rows) => rmSync(file(rows)),
    };
  },
  PostgreSQL: async () => {
    if (!isInstalled()) return { skipped: 'PostgreSQL is not installed' };
    const { port, owner, remove } = await startServer(['shared_buffers=256MB', 'fsync=off', 'synchronous_commit=off', 'max_wal_size=4GB']); // biome-ignore format: one line
    process.once('exit', remove);
    process.env.PGPASSWORD = reader;
    const run = async (...statements: string[]) => {
      const client = new pg.Client({ host: '127.0.0.1', port, user: 'owner', password: owner, database: 'postgres' });
      await client.connect();
      for (const sql of statements) await client.query(sql);
      await client.end();
    };
    await run(`CREATE ROLE reader LOGIN PASSWORD '${reader}'; ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO reader`);
    const name = (rows: number) => `people_${rows}`;
    return {
      source: (rows) => ({ source: `postgres://reader@127.0.0.1:${port}/postgres`, table: name(rows) }),
      plain: (rows) => ({ engine: 'PostgreSQL', port, table: name(rows) }),
      make: (rows) =>
        run(
          `CREATE UNLOGGED TABLE ${name(rows)} AS SELECT ${columns('i')} FROM generate_series(CAST(1 AS BIGINT), ${rows}) AS i`,
          `VACUUM ANALYZE ${name(rows)}`,
        ),
      drop: (rows) => run(`DROP TABLE ${name(rows)}`),
    };
  },
  Trino: async () => {
    const cluster = await startCluster();
    if (typeof cluster === 'string') return { skipped: `a cluster cannot be had here (${cluster})` };
    process.once('exit', cluster.stop);
    if (!cluster.iceberg) return { skipped: 'Iceberg could not be fetched' };
    const { port } = cluster;
    await ask(port, 'CREATE SCHEMA iceberg.scale');
    const name = (rows: number) => `people_${rows}`;
    return {
      source: (rows) => ({ source: `trino://reader@127.0.0.1:${port}/iceberg/scale`, table: name(rows) }),
      plain: (rows) => ({
        engine: 'Trino',
        port,
        table: `iceberg.scale.${name(rows)}`,
        processes: clusterProcesses(cluster.folder),
      }),
      async make(rows) {
        // No list has more than 10,000 items.
        const each = rows / 10_000;
        const numbers = `SELECT a * ${each} + b AS i FROM UNNEST(sequence(0, 9999)) AS x(a) CROSS JOIN UNNEST(sequence(1, ${each})) AS y(b)`;
        await ask(port, `CREATE TABLE iceberg.scale.${name(rows)} AS SELECT ${columns('i')} FROM (${numbers}) AS numbers`);
      },
      drop: async (rows) => void (await ask(port, `DROP TABLE iceberg.scale.${name(rows)}`)),
    };
  },
};
const placeOf = once((engine: Engine) => places[engine]());

/** Peak memory is one number of a process, so it is taken from further processes of one round. */
type Measurements = Pick<Told, 'took'> & { readonly memory: readonly number[] };

/** All measurements of one table in one engine; the table is removed afterwards. */
const tellOf = once(async (key: `${Engine} ${number}`): Promise<Measurements | Skipped> => {
  const [engine, rows] = key.split(' ') as [Engine, string];
  const place = await placeOf(engine);
  if ('skipped' in place) return place;
  await place.make(Number(rows));
  try {
    const { source, table } = place.source(Number(rows));
    const own = mkdtempSync(join(folder, 'policy-'));
    const file = join(own, 'policy.yaml');
    writeFileSync(file, policy(source, table));
    const work = { policy: file, plain: place.plain(Number(rows)), every: Number(rows) <= 10_000_000 };
    const { took } = await worked({ ...work, rounds: few });
    const memory: number[] = [];
    for (let k = 0; k < few; k++) memory.push((await worked({ ...work, rounds: 1 })).memory);
    return { took, memory };
  } finally {
    await place.drop(Number(rows));
  }
});
const worked = (work: Work): Promise<Told> =>
  new Promise((resolve, reject) => {
    const child = fork(fileURLToPath(new URL('./scale-worker.js', import.meta.url)));
    child.once('message', (told) => resolve(told as Told));
    child.once('exit', (code) => reject(new Error(`the worker ended with ${code}`)));
    child.send(work);
  });

/** Seconds of the clock, or of the server's processors. */
interface Compared {
  readonly ours: 'counted' | 'released';
  readonly peer: 'plain' | 'bare';
  readonly of?: 'clock' | 'processor';
}
async function line(
  engine: Engine,
  rows: number,
  asked: Asked,
  { ours, peer, of = 'clock' }: Compared,
): Promise<Measured | Skipped> {
  const told = await tellOf(`${engine} ${rows}`);
  if ('skipped' in told) return told;
  const twin = engine === 'DuckDB' ? told : await tellOf(`DuckDB ${rows}`);
  const took = told.took[asked]!;
  if (!('skipped' in twin) && String(twin.took[asked]!.integers) !== String(took.integers))
    throw new Error(`${engine} and DuckDB count differently`);
  const times: Partial<Record<Compared['ours' | 'peer'], readonly number[]>> = of === 'clock' ? took : took.processor;
  if (times[peer]!.length === 0) return { skipped: 'this system does not tell the time of processes' };
  const name = peer === 'bare' ? 'the same, no bounds' : 'the same asked plainly';
  return { ours: times[ours]!, peer: { name, rounds: times[peer]! } };
}

async function memory(engine: Engine, rows: number): Promise<Measured | Skipped> {
  const told = await tellOf(`${engine} ${rows}`);
  if ('skipped' in told) return told;
  return engine === 'DuckDB' ? { ours: told.memory.map((bytes) => bytes / 1e6), unit: 'MB' } : { ours: told.memory };
}

const linesOf = (engine: Engine, rows: number): readonly Bench[] => {
  const all = Object.entries(questions) as [Asked, Question][];
  const where = `${millions(rows)} in ${engine}`;
  const chosen = all.filter(([, { always }]) => always || rows <= 10_000_000);
  return [
    ...chosen.flatMap(([asked, { bare }]): Bench[] => {
      const compared = (compare: Compared, more = ''): Bench => ({
        name: `${asked} of ${where}${more}`,
        run: () => line(engine, rows, asked, compare),
      });
      const plain = { ours: 'counted', peer: 'plain' } as const;
      return [
        { ...compared(plain), goal: { ratio: 1.1 } },
        ...(engine === 'DuckDB' ? [] : [compared({ ...plain, of: 'processor' }, ', processor time of the server')]),
        compared({ ours: 'released', peer: 'plain' }, ', whole release'),
        ...(bare ? [compared({ ours: 'counted', peer: 'bare' }, ', beside the same without bounds')] : []),
      ];
    }),
    {
      name: `releases of ${where}: memory`,
      ...(engine !== 'DuckDB' && { goal: { bytes: 300e6 } }),
      run: () => memory(engine, rows),
    },
  ];
};

export const benches: readonly Bench[] = sizes.flatMap((rows) =>
  (Object.keys(places) as Engine[]).flatMap((engine) => linesOf(engine, rows)),
);
