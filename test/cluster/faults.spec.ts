import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Fault } from '../../src/base/errors.js';
import { withSnapshot } from '../../src/data/engine/engine.js';
import { openEngine } from '../../src/data/terms/open.js';
import { bindBatch } from '../../src/query/bind.js';
import { countByDatabase, countStreaming } from '../../src/query/count/count.js';
import { parseBatch } from '../../src/query/parse.js';
import { number, samplePolicy } from '../sample-policy.js';
import { ClusterTown, cluster } from './town.js';

const secret = 'quite-secret-value';
describe.skipIf(!cluster)('faults of a cluster', () => {
  let town: ClusterTown;
  let table: string;
  beforeAll(async () => {
    town = await ClusterTown.open('memory', 'faults');
    table = await town.table([['id', 'note'], ...Array.from({ length: 300 }, (_, i) => [`${i}`, secret])]);
    await town.table([['id'], ['1']], [], 'hidden_away');
  });
  afterAll(() => town?.close());

  /** A fault without any text of the server or of the data. The query would run for hours: the time limit of the test ends it. */
  async function fault(work: Promise<unknown>): Promise<Fault> {
    const found = await work.then(() => 'no fault').catch((e: unknown) => e);
    expect(found).toBeInstanceOf(Fault);
    expect(JSON.stringify([found, (found as Fault).message, (found as Fault).hint])).not.toMatch(new RegExp(`${secret}|line 1|mismatched|io.trino`)); // biome-ignore format: one line
    return found as Fault;
  }
  const generated = { source: `trino://reader@127.0.0.1:${cluster?.port}/tpch/sf1`, table: 'lineitem' };
  const slow = { sql: 'SELECT count(*) FROM fugu_data AS a JOIN fugu_data AS b ON a.comment < b.comment', values: [] };
  const quiet = () =>
    expect
      .poll(async () => (await town.run("SELECT count(*) FROM system.runtime.queries WHERE source = 'fugu' AND state NOT IN ('FINISHED', 'FAILED')"))[0]![0], { timeout: 600_000, interval: 500 }) // biome-ignore format: one line
      .toBe(0);

  it('a deadline ends a statement and a stream, here and in the cluster', async () => {
    const engine = await openEngine(generated, { deadline: 6000 });
    expect((await fault(withSnapshot(engine, (data) => data.rows(slow)))).code).toBe('ENGINE_DEADLINE');
    const drain = withSnapshot(engine, async (data) => {
      for await (const block of data.stream({ sql: 'SELECT orderkey, comment FROM fugu_data', values: [] })) {
        expect(block.open().rows).toBeGreaterThan(0);
        await new Promise((waited) => setTimeout(waited, 300));
      }
    });
    expect((await fault(drain)).code).toBe('ENGINE_DEADLINE');
    await engine.close();
    await quiet();
  });

  it('closing the engine ends the work under way, and an abandoned stream releases its resources', async () => {
    const engine = await openEngine(generated);
    for await (const block of (await engine.snapshot()).stream({ sql: 'SELECT orderkey FROM fugu_data', values: [] })) {
      expect(block.open().rows).toBeGreaterThan(0);
      break;
    }
    const pending = fault(withSnapshot(engine, (data) => data.rows(slow)));
    await new Promise((waited) => setTimeout(waited, 1500));
    await engine.close();
    expect((await pending).message).toMatch(/closed/);
    await quiet();
  });

  it('the first part of an answer is never returned as the whole', async () => {
    const engine = await openEngine(town.source(table));
    const sql = `SELECT CASE WHEN id = '299' THEN CAST(note AS INTEGER) ELSE 1 END FROM fugu_data`;
    const found = await fault(withSnapshot(engine, (data) => data.rows({ sql, values: [] })));
    expect([found.code, typeof found.details.query]).toEqual(['ENGINE_FAILED', 'string']);
    await engine.close();
  });

  it('missing rights and missing tables have different faults', async () => {
    const at = (path: string) => ({ source: `trino://reader@127.0.0.1:${cluster!.port}/${path}`, table: 'people' });
    expect((await fault(openEngine(town.source('hidden_away')))).code).toMatch(/ACCESS_DENIED|DATA_NOT_FOUND/);
    expect((await fault(openEngine(town.source('t11')))).code).toBe('DATA_NOT_FOUND');
    expect((await fault(openEngine(at('memory/nowhere')))).code).toBe('DATA_NOT_FOUND');
    expect((await fault(openEngine(at('nowhere/town')))).code).toMatch(/ACCESS_DENIED|DATA_NOT_FOUND/);
    expect((await fault(openEngine({ source: 'trino://reader@127.0.0.1:1/memory/x', table: 'y' }))).message).toMatch(
      /cannot be reached/,
    );
    expect((await fault(openEngine(town.source('a.b.c')))).code).toBe('DATA_NOT_FOUND');
  });

  it('a view that fails on a row, or is not deterministic, is refused when it is opened', async () => {
    await town.run(
      `CREATE OR REPLACE VIEW ${town.of('breaking')} AS SELECT 1 / (CAST(id AS INTEGER) - 7) AS part FROM ${town.of(table)}`,
    );
    expect((await fault(openEngine(town.source('breaking')))).code).toBe('ENGINE_FAILED');
    await town.run(`CREATE OR REPLACE VIEW ${town.of('moody')} AS SELECT id, random() AS mood FROM ${town.of(table)}`);
    const engine = await openEngine(town.source('moody'));
    const found = await fault(withSnapshot(engine, (data) => data.rows({ sql: 'SELECT count(*) FROM fugu_data', values: [] })));
    expect(found.message).toMatch(/changed while/);
    await engine.close();
    for (const view of ['breaking', 'moody']) await town.run(`DROP VIEW ${town.of(view)}`);
  });

  it('sums beyond 64 bits are added exactly', async () => {
    const own = await town.table([['x'], ...Array.from({ length: 40 }, () => ['562949953421312'])], ['BIGINT']);
    // The planted twin: the plain sum fails.
    await expect(town.run(`SELECT sum(x * 8192) FROM ${town.of(own)}`)).rejects.toMatchObject({
      code: 'NUMERIC_VALUE_OUT_OF_RANGE',
    });
    const policy = samplePolicy([number('x', '0', '1000000000000')]);
    const { measures } = bindBatch(parseBatch([{ kind: 'sum', column: 'x' }]), policy);
    const engine = await openEngine(town.source(own));
    await withSnapshot(engine, async (data) => {
      for (const way of [countByDatabase, countStreaming])
        expect((await way(data, policy, measures))[0]!.open()).toEqual([40_000_000_000_000n]);
      const sql = `SELECT ${data.dialect.total!('x * 8192', 40 * 2 ** 62)} FROM fugu_data`;
      expect((await data.rows({ sql, values: [] })).open()).toEqual([[40n * 2n ** 62n]]);
    });
    await engine.close();
  });
});
