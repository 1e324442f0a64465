import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { createSession, openEngine, openLedger, readPolicy, type Session } from '../src/index.js';
import { type Bench, inTurns } from './bench.js';

const columns = '  party: { type: category, values: [dem, rep, other, green] }\n  age: { type: integer, bounds: [17, 90] }\n';

/** A made-up table released by the whole product (plan, durable ledger, exact noise), beside the same question put to DuckDB. */
async function withRelease<T>(rows: number, work: (session: Session, raw: () => Promise<unknown>) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'fugu-bench-'));
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  const file = join(folder, 'people.parquet');
  await connection.run(
    `COPY (SELECT ['dem', 'rep', 'other', 'green'][1 + CAST(hash(i) % 4 AS INT)] AS party, CAST(17 + hash(i + 7) % 74 AS INT) AS age FROM range(${rows}) t(i)) TO '${file}' (FORMAT parquet)`,
  );
  // A file written a moment ago is hashed afresh for every release; data usually is older.
  await utimes(file, 1.7e9, 1.7e9);
  await writeFile(
    join(folder, 'policy.yaml'),
    `data: { source: people.parquet }\nprotect: { secret: row }\nbudget: { epsilon: 1000000 }\npopulation: bench\nledger: ledger.db\ndependence: none\ncolumns:\n${columns}`,
  );
  const policy = await readPolicy(join(folder, 'policy.yaml'));
  const engine = await openEngine(policy);
  const ledger = await openLedger(policy.ledger);
  try {
    const session = await createSession({ policy, engine, ledger });
    return await work(session, () => connection.runAndReadAll(`SELECT party, count(*) FROM '${file}' GROUP BY party`));
  } finally {
    await ledger.close();
    await engine.close();
    instance.closeSync();
    await rm(folder, { recursive: true, force: true });
  }
}

let turn = 0;
const releaseBench = (rows: number, words: string, ratio: number): Bench => ({
  name: `release a histogram of ${words} rows, durable ledger included`,
  goal: { ratio },
  run: () =>
    withRelease(rows, async (session, raw) => {
      // A new name each time, so that nothing is replayed.
      const release = () => session.release({ kind: 'histogram', column: 'party', name: `q${turn++}` }, { epsilon: '1' });
      const best = await inTurns(release, raw, { rounds: rows > 1e6 ? 5 : 40 });
      return { ours: best.ours, peer: { name: 'raw DuckDB', seconds: best.peer } };
    }),
});

export const benches: readonly Bench[] = [releaseBench(3000, '3,000', 1.5), releaseBench(10_000_000, '10,000,000', 1.05)];
