import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, describe, expect, it } from 'vitest';
import { withSnapshot } from '../src/data/engine/engine.js';
import { openEngine } from '../src/data/terms/open.js';
import type { Policy } from '../src/policy/policy.js';
import { bindBatch } from '../src/query/bind.js';
import { countCells } from '../src/query/count/count.js';
import { parseSql } from '../src/query/sql/sql.js';
import { surveyRandom } from './garbage-survey.js';
import { policyOf, type StoredCells, statementsOf, storings } from './persons-and-visits.js';
import { fixed } from './questions-of-views.js';

const folder = mkdtempSync(join(tmpdir(), 'fugu-views-of-files-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The same tables in a database, whose text stays where it is, and in files, of which texts that nobody declared are forgotten. */
async function placesOf(stored: StoredCells): Promise<readonly Policy[]> {
  const own = mkdtempSync(join(folder, 'stored-'));
  const file = (name: string) => join(own, name);
  const instance = await DuckDBInstance.create(file('all.duckdb'));
  const connection = await instance.connect();
  for (const sql of statementsOf(stored, surveyRandom(stored.name.length))) await connection.run(sql);
  const inDatabase = policyOf(stored, { source: file('all.duckdb') });
  const names = ['people', ...inDatabase.tables!.keys()];
  for (const name of names) await connection.run(`COPY ${name} TO '${file(`${name}.parquet`)}' (FORMAT parquet)`);
  connection.closeSync();
  instance.closeSync();
  const tables = [...inDatabase.tables!].map(([name, { table: _, ...rest }]) => [name, { ...rest, source: file(`${name}.parquet`) }] as const); // biome-ignore format: one line
  return [inDatabase, { ...inDatabase, data: { source: file('people.parquet') }, tables: new Map(tables) }];
}

describe('tables in a database and in files', () => {
  it.each(storings.map((stored) => [stored.name, stored] as const))(
    'tables in a database and in files are joined and cut alike for cells with undeclared values (%s)',
    async (_, stored) => {
      const answers: string[][] = [];
      for (const policy of await placesOf(stored)) {
        const engine = await openEngine(policy);
        const count = (sql: string) =>
          withSnapshot(engine, async (data) => String((await countCells(data, policy, bindBatch(parseSql(sql, policy), policy).measures)).map((c) => c.open()))); // biome-ignore format: one line
        const own: string[] = [];
        for (const sql of fixed) own.push(await count(sql));
        answers.push(own);
        await engine.close();
      }
      expect(answers[1]).toEqual(answers[0]);
      expect(answers[0]!.filter((cells) => /[1-9]/.test(cells)).length).toBeGreaterThan(fixed.length / 2);
    },
    120_000,
  );
});
