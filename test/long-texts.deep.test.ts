import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { longestText } from '../src/data/engine/shown-table.js';
import { bindBatch } from '../src/query/bind.js';
import { countByDatabase } from '../src/query/count/count.js';
import { parseBatch } from '../src/query/parse.js';
import { openNow } from './now.js';
import { category, samplePolicy } from './sample-policy.js';

const folder = mkdtempSync(join(tmpdir(), 'fugu-long-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A file that is held, one that every statement reads, and a database. */
const files = ['held.parquet', 'read.parquet', 'all.duckdb'] as const;
const huge = 150_000_000;
beforeAll(async () => {
  const instance = await DuckDBInstance.create(join(folder, 'all.duckdb'));
  const connection = await instance.connect();
  const long = (bytes: number) => `repeat('x', ${bytes})`;
  const party = `CASE i WHEN 7 THEN ${long(huge)} ELSE CASE i % 2 WHEN 0 THEN 'dem' ELSE 'rep' END END`;
  const city = `CASE i WHEN 1 THEN ${long(longestText)} WHEN 2 THEN ${long(longestText + 1)} WHEN 3 THEN repeat('é', ${longestText / 2 + 1}) ELSE 'ulm' END`;
  await connection.run(
    `CREATE TABLE people AS SELECT CAST(i AS INTEGER) AS i, ${party} AS party, ${city} AS city, [${city}] AS list FROM range(100) AS r(i)`,
  );
  for (const [file, packing] of [['held.parquet', 'zstd'], ['read.parquet', 'uncompressed']]) // biome-ignore format: one line
    await connection.run(`COPY people TO '${join(folder, file!)}' (FORMAT parquet, COMPRESSION ${packing})`);
  connection.closeSync();
  instance.closeSync();
});

describe.each(files)('texts beyond the length that is read, in %s', (file) => {
  const source = join(folder, file);
  const policy = { ...samplePolicy([category('party', ['dem', 'rep'])]), data: { source } };

  it('too long texts are missing, at the same byte as on every server', async () => {
    const data = await openNow({ source });
    const sql =
      'SELECT CAST("i" AS INTEGER), octet_length(CAST("city" AS BLOB)), "list" IS NULL FROM fugu_data WHERE "i" < 5 ORDER BY 1';
    expect((await data.rows({ sql, values: [] })).open()).toEqual([
      [0, 3n, false],
      // With the brackets of a list around it.
      [1, BigInt(longestText), true],
      [2, null, true],
      [3, null, true],
      [4, 3n, false],
    ]);
    await data.close();
  });

  it('too long texts take the memory of one of them, and fail no count', async () => {
    const { measures } = bindBatch(parseBatch([{ kind: 'histogram', column: 'party' }]), policy);
    for (const opened of [policy, { source }]) {
      const data = await openNow(opened, { memory: 330 * 2 ** 20, threads: 1 });
      const [cells] = await countByDatabase(data, policy, measures);
      expect(cells!.open()).toEqual([50n, 49n, 1n]);
      await data.close();
    }
  });
});
