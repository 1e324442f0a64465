import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Snapshot, withSnapshot } from '../../src/data/engine/engine.js';
import { openEngine } from '../../src/data/terms/open.js';
import { faultOf } from '../fault.js';
import { ClusterTown, cluster } from './town.js';

describe.skipIf(!cluster?.iceberg)('a table with versions that changes during a release', () => {
  let town: ClusterTown;
  beforeAll(async () => {
    town = await ClusterTown.open('iceberg', 'evolution');
  });
  afterAll(() => town?.close());

  const rows = [['id', 'age', 'town'], ...Array.from({ length: 40 }, (_, i) => [`${i}`, `${i % 10}`, i % 2 === 0 ? 'a' : 'b'])];
  const types = ['INTEGER', 'INTEGER', 'VARCHAR'];
  const look = async (data: Snapshot) => {
    const sql = `SELECT count(*), sum("age"), sum(CASE WHEN "town" = 'a' THEN 1 ELSE 0 END) FROM fugu_data`;
    const counts = (await data.rows({ sql, values: [] })).open()[0]!.map(Number);
    let streamed = 0;
    for await (const chunk of data.stream({ sql: 'SELECT "age" FROM fugu_data', values: [] })) streamed += chunk.open().rows;
    return [...counts, streamed, (await data.size()).open()];
  };
  const as = [40, 180, 20, 40, 40];

  it.each([
    'DELETE FROM it WHERE id < 20',
    `UPDATE it SET age = 9, town = 'a'`,
    `INSERT INTO it VALUES (99, 9, 'a')`,
    'ALTER TABLE it ADD COLUMN more VARCHAR',
    'ALTER TABLE it RENAME COLUMN age TO years',
    'ALTER TABLE it DROP COLUMN town',
    'ALTER TABLE it ALTER COLUMN age SET DATA TYPE BIGINT',
    `ALTER TABLE it SET PROPERTIES partitioning = ARRAY['town']`,
    'ALTER TABLE it EXECUTE optimize',
  ])('the table is read in its first version: %s', async (change) => {
    const named = await town.table(rows, types);
    const engine = await openEngine(town.source(named));
    await withSnapshot(engine, async (data) => {
      expect(await look(data)).toEqual(as);
      await town.run(change.replace(/\bit\b/, town.of(named)));
      expect(await look(data)).toEqual(as);
    });
    await engine.close();
  });

  it.each([
    [
      'is made anew under the same name',
      (own: string) => [`DROP TABLE ${own}`, `CREATE TABLE ${own} AS SELECT 1 AS id, 1 AS age, 'a' AS town`],
    ],
    [
      'gives way to a view',
      (own: string) => [`ALTER TABLE ${own} RENAME TO moved`, `CREATE VIEW ${own} AS SELECT 1 AS id, 1 AS age, 'a' AS town`],
    ],
  ])('a table that %s is a fault for the release under way, and never read as the earlier table', async (_, change) => {
    const named = await town.table(rows, types);
    const engine = await openEngine(town.source(named));
    await withSnapshot(engine, async (data) => {
      expect(await look(data)).toEqual(as);
      for (const sql of change(town.of(named))) await town.run(sql);
      expect((await faultOf(look(data))).code).toMatch(/ENGINE_FAILED|DATA_NOT_FOUND/);
    });
    await engine.close();
    await town.run(`DROP VIEW IF EXISTS ${town.of(named)}`).catch(() => undefined);
  });
});
