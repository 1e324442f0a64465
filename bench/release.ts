import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { openEngine } from '../src/data/terms/open.js';
import { readPolicy } from '../src/data/terms/read.js';
import { openLedger } from '../src/release/ledger/open.js';
import { createSession, type PrivacySession } from '../src/release/session/session.js';
import { type Bench, repeat, timedBeside } from './bench.js';

const columns =
  '  party: { type: category, values: [dem, rep, other, green] }\n  age: { type: integer, bounds: [17, 90] }\n  income: { type: number, bounds: [0, 99], step: 0.01 }\n';

/**
 * A synthetic table released by the whole product (plan, durable ledger, exact noise),
 * compared with the same query in DuckDB on the same file.
 */
export async function withRelease<T>(
  rows: number,
  kind: 'parquet' | 'csv',
  work: (
    session: PrivacySession,
    raw: () => Promise<unknown>,
    loaded: (sql: string) => Promise<() => Promise<unknown>>,
  ) => Promise<T>,
  protect = 'secret: row',
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'fugu-bench-'));
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  const file = join(folder, `people.${kind}`);
  await connection.run(
    `COPY (SELECT ['dem', 'rep', 'other', 'green'][1 + CAST(hash(i) % 4 AS INT)] AS party, CAST(17 + hash(i + 7) % 74 AS INT) AS age, CAST(hash(i + 9) % 100000 AS DOUBLE) / 1000 AS income FROM range(${rows}) t(i)) TO '${file}'`,
  );
  // A recently written file is hashed again for every release; data usually is older.
  await utimes(file, 1.7e9, 1.7e9);
  await writeFile(
    join(folder, 'policy.yaml'),
    `data: { source: people.${kind} }\nprotect: { ${protect} }\nbudget: { epsilon: 1000000 }\npopulation: bench\nledger: ledger.db\ndependence: none\ncolumns:\n${columns}`,
  );
  const policy = await readPolicy(join(folder, 'policy.yaml'));
  const engine = await openEngine(policy);
  const ledger = await openLedger(policy.ledger);
  try {
    const session = await createSession({ policy, engine, ledger });
    return await work(
      session,
      () => connection.runAndReadAll(`SELECT party, count(*) FROM '${file}' GROUP BY party`),
      async (sql) => {
        await connection.run(`CREATE TABLE IF NOT EXISTS people AS FROM '${file}'`);
        return () => connection.runAndReadAll(sql);
      },
    );
  } finally {
    await ledger.close();
    await engine.close();
    instance.closeSync();
    await rm(folder, { recursive: true, force: true });
  }
}

/** A release that pays, whatever is recorded. */
export const fresh = { epsilon: '1', fresh: true } as const;

const releaseBench = (rows: number, kind: 'parquet' | 'csv', ratio: number): Bench => ({
  name: `release a histogram of ${rows.toLocaleString('en')} rows of ${kind}, durable ledger included`,
  goal: { ratio },
  run: () =>
    withRelease(rows, kind, async (session, raw) => {
      const release = () => session.release({ kind: 'histogram', column: 'party' }, fresh);
      // Few calls to a run: on a shared disk one slow flush would otherwise spoil every round.
      const calls = rows > 1e6 ? 2 : 8;
      return timedBeside('raw DuckDB', repeat(calls, release), repeat(calls, raw), { rounds: rows > 1e6 ? 12 : 60, calls });
    }),
});

/** A CSV is parsed when it is opened; later releases are compared with DuckDB's own loaded table. */
const heldBench = (name: string, query: object, sql: string): Bench => ({
  name: `release ${name} of 10,000,000 rows of csv, after the first`,
  goal: { ratio: 1.5 },
  run: () =>
    withRelease(10_000_000, 'csv', async (session, _, loaded) => {
      const release = () => session.release(query, fresh);
      return timedBeside('DuckDB, a loaded table', repeat(2, release), repeat(2, await loaded(sql)), { rounds: 12, calls: 2 });
    }),
});

export const benches: readonly Bench[] = [
  releaseBench(3000, 'parquet', 1.5),
  releaseBench(3000, 'csv', 1.5),
  releaseBench(10_000_000, 'parquet', 1.05),
  heldBench('a mean', { kind: 'mean', column: 'income' }, 'SELECT avg(income) FROM people'),
  heldBench('a mean of whole numbers', { kind: 'mean', column: 'age' }, 'SELECT avg(age) FROM people'),
  heldBench(
    'a count with a filter',
    { kind: 'count', where: [{ column: 'income', op: '>', value: 20 }] },
    'SELECT count(*) FROM people WHERE income > 20',
  ),
];
