import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Fault } from '../../src/base/errors.js';
import type { Engine, Snapshot } from '../../src/data/engine/engine.js';
import { withSnapshot } from '../../src/data/engine/engine.js';
import { openEngine } from '../../src/data/terms/open.js';
import { readAddress } from '../../src/policy/address.js';
import { inShortTime } from '../engine-contract.js';
import { PostgresTown, server } from './town.js';

const secret = 'quite-secret-value';
describe.skipIf(!server)('faults of PostgreSQL', () => {
  let town: PostgresTown;
  let table: string;
  beforeAll(async () => {
    town = await PostgresTown.open('faults');
    table = await town.table([['id', 'note'], ...Array.from({ length: 3000 }, (_, i) => [`${i}`, secret])]);
  });
  afterAll(() => town?.close());

  /** A fault without any text of the server, of the data or of the login. The query would run for hours: the test's time limit ends it. */
  async function fault(work: Promise<unknown> | (() => Promise<unknown>)): Promise<Fault> {
    const found = await (typeof work === 'function' ? work() : work).then(() => 'no fault').catch((e: unknown) => e);
    expect(found).toBeInstanceOf(Fault);
    expect(JSON.stringify([found, (found as Fault).message, (found as Fault).hint])).not.toMatch(new RegExp(`${secret}|${server!.reader}|${server!.owner}|relation "|syntax|canceling`)); // biome-ignore format: one line
    return found as Fault;
  }
  const open = (more: object = {}, limits: object = {}) => openEngine({ ...town.source(table), ...more }, limits);
  const slow = {
    sql: 'SELECT count(*) FROM generate_series(1, 1000000) AS a(x), generate_series(1, 1000000) AS b(y)',
    values: [],
  };
  const long = { sql: 'SELECT id, note, x FROM fugu_data, generate_series(1, 1000) AS a(x)', values: [] };
  const works = (engine: Engine) => withSnapshot(engine, async (data) => expect((await data.size()).open()).toBe(3000));
  const drain = (engine: Engine, sql = long, each: () => Promise<unknown> = async () => undefined) =>
    withSnapshot(engine, async (data) => {
      for await (const block of data.stream(sql)) {
        expect(block.open().rows).toBeGreaterThan(0);
        await each();
      }
    });
  const others = `datname = 'faults' AND usename = 'reader'`;
  /** Cancels a statement as soon as it runs. */
  const end = async (how: 'terminate' | 'cancel', which = `state = 'active' AND query LIKE '%generate_series%'`) => {
    for (let k = 0; k < 6000; k++) {
      const found = await town.run(`SELECT pg_${how}_backend(pid) FROM pg_stat_activity WHERE ${others} AND ${which}`);
      if (found.length > 0) return;
      await waiting(100);
    }
    throw new Error('nothing is under way');
  };
  const waiting = (ms: number) => new Promise((waited) => setTimeout(waited, ms));
  /** Nothing of ours is still at work on the server. */
  async function quiet(): Promise<void> {
    for (let k = 0; k < 6000; k++) {
      const [[busy]] = (await town.run(`SELECT count(*) FROM pg_stat_activity WHERE ${others} AND state = 'active'`)) as [
        [string],
      ];
      if (Number(busy) === 0) return;
      await waiting(100);
    }
    throw new Error('still at work');
  }

  it('a deadline ends a statement and a stream, here and on the server', async () => {
    await inShortTime(500, async (deadline) => {
      const engine = await open({}, { deadline });
      try {
        expect((await fault(withSnapshot(engine, (data) => data.rows(slow)))).code).toBe('ENGINE_DEADLINE');
        expect((await fault(drain(engine, long, () => waiting(deadline / 12)))).code).toBe('ENGINE_DEADLINE');
        await works(engine);
      } finally {
        await engine.close();
      }
    });
    await quiet();
  });

  it('closing the engine ends the work under way', async () => {
    const engine = await open();
    const pending = fault(withSnapshot(engine, (data) => data.rows(slow)));
    const streamed = fault(drain(engine, long, () => waiting(5)));
    await waiting(300);
    await engine.close();
    await Promise.all([pending, streamed]);
    await quiet();
  });

  it('a cut connection, or a cancelled statement, is a fault, and the next one works', async () => {
    const engine = await open({}, { deadline: 15_000 });
    for (const how of ['terminate', 'cancel'] as const) {
      const pending = fault(withSnapshot(engine, (data) => data.rows(slow)));
      await end(how);
      expect((await pending).code).toMatch(how === 'cancel' ? /ENGINE_DEADLINE/ : /ENGINE_FAILED/);
      await works(engine);
    }
    let cut = false;
    const streamed = await fault(
      drain(engine, long, async () => {
        if (!cut) await end('terminate', 'true');
        cut = true;
      }),
    );
    expect(streamed.code).toBe('ENGINE_FAILED');
    await works(engine);
    await engine.close();
  });

  it('the first part of a stream is never returned as the whole', async () => {
    const bad = { sql: `SELECT CASE WHEN id = '2999' THEN CAST(note AS INTEGER) ELSE 1 END FROM fugu_data`, values: [] };
    const engine = await open();
    expect((await fault(drain(engine, bad))).code).toBe('ENGINE_FAILED');
    await works(engine);
    await engine.close();
  });

  it('many concurrent requests wait for each other and are all answered, and an abandoned stream releases its resources', async () => {
    const engine = await open();
    const sizes = await Promise.all(
      Array.from({ length: 24 }, () => withSnapshot(engine, async (data) => (await data.size()).open())),
    );
    expect(new Set(sizes)).toEqual(new Set([3000]));
    await withSnapshot(engine, async (data) => {
      for (let k = 0; k < 5; k++) for await (const _ of data.stream(long)) break;
      const counts = await Promise.all(
        Array.from({ length: 9 }, () => data.rows({ sql: 'SELECT count(*) FROM fugu_data', values: [] })),
      );
      expect(counts.map((c) => c.open()[0]![0])).toEqual(Array(9).fill(3000n));
    });
    const [[most]] = (await town.run(`SELECT count(*) FROM pg_stat_activity WHERE ${others}`)) as [[string]];
    expect(Number(most)).toBeLessThanOrEqual(12);
    await engine.close();
  });

  it('a role with too many or too few rights, or another role, is refused', async () => {
    await town.run(
      `DROP ROLE IF EXISTS filer; CREATE ROLE filer LOGIN PASSWORD '${server!.reader}' IN ROLE pg_read_server_files`,
    );
    await town.run(`GRANT CONNECT ON DATABASE faults TO filer; GRANT SELECT ON ${table} TO filer`);
    await town.run(`CREATE TABLE hidden AS SELECT 1 AS id; REVOKE ALL ON hidden FROM reader`);
    expect((await fault(open({ source: town.address('filer') }))).message).toMatch(/files of the server/);
    expect((await fault(open({ table: 'hidden' }))).code).toBe('ACCESS_DENIED');
    expect((await fault(open({ table: 'nowhere' }))).code).toBe('DATA_NOT_FOUND');
    const { PGPASSWORD } = process.env;
    try {
      process.env.PGPASSWORD = server!.owner;
      expect((await fault(open({ source: town.address('owner') }))).message).toMatch(/may do everything/);
      process.env.PGPASSWORD = 'wrong';
      expect((await fault(open())).code).toBe('ACCESS_DENIED');
      delete process.env.PGPASSWORD;
      expect(await fault(open())).toMatchObject({ code: 'ACCESS_DENIED', hint: expect.stringMatching(/PGPASSWORD/) });
    } finally {
      process.env.PGPASSWORD = PGPASSWORD;
    }
    expect((await fault(open({ source: `postgres://reader@127.0.0.1:${server!.port}/nowhere` }))).code).toBe('DATA_NOT_FOUND');
    expect((await fault(open({ source: 'postgres://reader@127.0.0.1:1/faults' }))).message).toMatch(/cannot be reached/);
  });

  it('the next check notices rights that were revoked', async () => {
    const own = await town.table([['id'], ['1']]);
    const engine = await open({ table: own });
    await town.run(`REVOKE SELECT ON ${own} FROM reader`);
    expect((await fault(engine.snapshot())).code).toBe('ACCESS_DENIED');
    await engine.close();
  });

  it('tables stored elsewhere are refused, also behind views and in partitions, and so are volatile functions', async () => {
    await town.run('CREATE EXTENSION IF NOT EXISTS file_fdw; CREATE SERVER files FOREIGN DATA WRAPPER file_fdw');
    await town.run(`CREATE FOREIGN TABLE far (id TEXT) SERVER files OPTIONS (filename '/etc/hostname')`);
    await town.run('CREATE VIEW over AS SELECT * FROM far; CREATE VIEW over_over AS SELECT id FROM over');
    await town.run('CREATE TABLE parts (id TEXT) PARTITION BY LIST (id)');
    await town.run(
      `CREATE FOREIGN TABLE part PARTITION OF parts FOR VALUES IN ('x') SERVER files OPTIONS (filename '/etc/hostname')`,
    );
    await town.run(
      `CREATE FUNCTION fickle() RETURNS TEXT LANGUAGE sql VOLATILE AS 'SELECT ''x'''; CREATE VIEW moody AS SELECT fickle() AS id`,
    );
    for (const name of ['far', 'over', 'over_over', 'parts', 'moody']) expect([name, (await fault(open({ table: name }))).code]).toEqual([name, 'DATA_NOT_FOUND']); // biome-ignore format: one line
    await town.run(
      `CREATE TABLE near (id TEXT) PARTITION BY LIST (id); CREATE TABLE near_x PARTITION OF near FOR VALUES IN ('x')`,
    );
    await town.run(`INSERT INTO near VALUES ('x'); CREATE VIEW seen AS SELECT id, upper(id) AS big FROM near`);
    const engine = await open({ table: 'seen' });
    expect(
      await withSnapshot(engine, async (data) => (await data.rows({ sql: 'SELECT big FROM fugu_data', values: [] })).open()),
    ).toEqual([['X']]);
    await town.run(
      `CREATE FOREIGN TABLE near_y PARTITION OF near FOR VALUES IN ('y') SERVER files OPTIONS (filename '/etc/hostname')`,
    );
    expect((await fault(engine.snapshot())).code).toBe('DATA_NOT_FOUND');
    await engine.close();
  });

  it('a table truncated or recreated during a release is a fault, never read as empty, and nobody waits', async () => {
    const own = await town.table([
      ['id', 'n'],
      ['1', '2'],
    ]);
    const parts = 'CREATE TABLE sliced (id TEXT) PARTITION BY LIST (id); CREATE TABLE sliced_a PARTITION OF sliced DEFAULT';
    await town.run(`${parts}; CREATE TABLE sliced_b (id TEXT); INSERT INTO sliced_b VALUES ('b'); INSERT INTO sliced SELECT 'a' FROM generate_series(1, 50)`); // biome-ignore format: one line
    await town.run(`CREATE VIEW over_it AS SELECT id FROM ${own}; CREATE MATERIALIZED VIEW kept_of_it AS SELECT id FROM ${own}`);
    await town.run('GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader');
    for (const [seen, change] of [
      [own, `TRUNCATE ${own}`],
      ['over_it', `TRUNCATE ${own}`],
      [own, `ALTER TABLE ${own} ADD COLUMN more DOUBLE PRECISION DEFAULT random()`],
      ['kept_of_it', 'REFRESH MATERIALIZED VIEW kept_of_it'],
      ['sliced', "ALTER TABLE sliced ATTACH PARTITION sliced_b FOR VALUES IN ('b')"],
    ] as const) {
      await town.run(`TRUNCATE ${own}; INSERT INTO ${own} (id) SELECT i FROM generate_series(1, 50) AS i; REFRESH MATERIALIZED VIEW kept_of_it`); // biome-ignore format: one line
      const engine = await open({ table: seen });
      const count = async (data: Snapshot) =>
        (await data.rows({ sql: 'SELECT count(*) FROM fugu_data', values: [] })).open()[0]![0];
      const data = await engine.snapshot();
      await town.run(change);
      const found = await count(data).catch((e: unknown) => e);
      if (found !== 50n) expect([change, (found as Fault).message]).toEqual([change, expect.stringMatching(/changed while/)]);
      await fault(drain({ snapshot: async () => data } as Engine, { sql: 'SELECT id FROM fugu_data', values: [] }));
      // Later requests read the new objects.
      expect([change, await withSnapshot(engine, count)]).toEqual([change, change.startsWith('TRUNCATE') ? 0n : seen === 'sliced' ? 51n : 50n]); // biome-ignore format: one line
      await engine.close();
    }
  });

  it('tables are not locked between two statements of a release, nor by checking a view', async () => {
    const own = await town.table([['id'], ['1'], ['2']]);
    await town.run(`CREATE VIEW over_own AS SELECT id FROM ${own}; GRANT SELECT ON over_own TO reader`);
    for (const seen of [own, 'over_own']) {
      const engine = await open({ table: seen });
      const data = await engine.snapshot();
      const read = () => data.rows({ sql: 'SELECT id FROM fugu_data', values: [] });
      const stream = async () => {
        for await (const _ of data.stream({ sql: 'SELECT id FROM fugu_data', values: [] }));
      };
      await Promise.all([read(), stream(), data.id(), data.size()]);
      const [[held]] = (await town.run(
        `SELECT count(*) FROM pg_locks AS l JOIN pg_stat_activity AS a USING (pid) WHERE ${others} AND l.relation = CAST('${own}' AS REGCLASS)`,
      )) as [[string]];
      expect([seen, held]).toEqual([seen, '0']);
      await town.run(`ALTER TABLE ${own} ADD COLUMN c${seen.length} DOUBLE PRECISION DEFAULT random()`);
      for (const work of [read, stream]) expect((await fault(work())).message).toMatch(/changed while/);
      await data.close();
      await engine.close();
    }
  });

  it('a table, a view, a column or a row policy exchanged during a release is a fault, never read as the former one', async () => {
    const fresh = (name: string) =>
      `CREATE TABLE ${name} AS SELECT 'x' AS id, 'y' AS other FROM generate_series(1, 50); GRANT SELECT ON ${name} TO reader`;
    const swap =
      'ALTER TABLE blue RENAME TO gone; ALTER TABLE green RENAME TO blue; ALTER TABLE gone RENAME TO green; TRUNCATE green';
    for (const [seen, change] of [
      ['blue', `BEGIN; DROP TABLE IF EXISTS green; ${fresh('green')}; ${swap}; COMMIT`],
      ['over_blue', `CREATE OR REPLACE VIEW over_blue AS SELECT id, other FROM blue WHERE id <> 'x'`],
      ['over_blue', `CREATE OR REPLACE VIEW over_blue AS SELECT other AS id, id AS other FROM blue`],
      [
        'blue',
        'ALTER TABLE blue RENAME id TO third; ALTER TABLE blue RENAME other TO id; ALTER TABLE blue RENAME third TO other',
      ],
      ['blue', `ALTER TABLE blue ENABLE ROW LEVEL SECURITY; CREATE POLICY few ON blue USING (id <> 'x')`],
      ['over_blue', 'CREATE TABLE child () INHERITS (blue); INSERT INTO child SELECT * FROM green'],
    ] as const) {
      await town.run(
        `DROP VIEW IF EXISTS over_blue; DROP TABLE IF EXISTS blue, green CASCADE; ${fresh('blue')}; ${fresh('green')}`,
      );
      await town.run('CREATE VIEW over_blue AS SELECT id, other FROM blue; GRANT SELECT ON over_blue TO reader');
      const engine = await open({ table: seen });
      const read = (data: Snapshot) => data.rows({ sql: 'SELECT id, count(*) FROM fugu_data GROUP BY id', values: [] });
      await withSnapshot(engine, async (data) => expect((await read(data)).open()).toEqual([['x', 50n]]));
      const data = await engine.snapshot();
      await town.run(change);
      for (let k = 0; k < 2; k++)
        expect([change, (await fault(read(data))).message]).toEqual([change, expect.stringMatching(/changed while/)]);
      await data.close();
      // Those who come later find what is there.
      await withSnapshot(engine, read);
      await engine.close();
    }
  });

  it('reads of clock or chance are refused behind views and row security; dependence on connection settings is not', async () => {
    await town.run(
      `CREATE TABLE dated AS SELECT 'x' AS id, CAST('2020-01-02 03:04Z' AS TIMESTAMPTZ) AS at, CAST('2000-02-03' AS DATE) AS born`,
    );
    await town.run('GRANT SELECT ON dated TO reader; CREATE VIEW sampled AS SELECT id FROM dated WHERE random() < 0.5');
    const asking = [
      'random() < 0.5', 'at < now()', 'born < current_date', 'at < localtimestamp', `extract(year FROM age(born)) > 3`,
      'at < clock_timestamp()', `current_setting('application_name') <> ''`, 'gen_random_uuid() IS NOT NULL',
      'id IN (SELECT id FROM sampled)',
    ]; // biome-ignore format: one line
    for (const test of asking) {
      await town.run(
        `CREATE OR REPLACE VIEW fickle_view AS SELECT id FROM dated WHERE ${test}; GRANT SELECT ON fickle_view TO reader`,
      );
      expect([test, (await fault(open({ table: 'fickle_view' }))).message]).toEqual([
        test,
        expect.stringMatching(/clock or chance/),
      ]);
      await town.run(`CREATE POLICY now_and_then ON dated USING (${test}); ALTER TABLE dated ENABLE ROW LEVEL SECURITY`);
      expect([test, (await fault(open({ table: 'dated' }))).code]).toEqual([test, 'DATA_NOT_FOUND']);
      await town.run('DROP POLICY now_and_then ON dated; ALTER TABLE dated DISABLE ROW LEVEL SECURITY');
    }
    await town.run(
      'CREATE VIEW tested AS SELECT id FROM dated TABLESAMPLE BERNOULLI (50) REPEATABLE (1); GRANT SELECT ON tested TO reader',
    );
    expect((await fault(open({ table: 'tested' }))).message).toMatch(/clock or chance/);
    for (const cast of ['CAST(id AS DATE)', 'CAST(id AS TIMESTAMPTZ)', 'CAST(id AS TIME)', 'CAST(id AS DATE[])', 'CAST(id AS TSRANGE)', `CAST(to_jsonb(id) ->> 0 AS TIMESTAMP)`]) {
      await town.run(`CREATE OR REPLACE VIEW fickle_cast AS SELECT id FROM dated WHERE ${cast} IS NOT NULL; GRANT SELECT ON fickle_cast TO reader`);
      const found = await fault(open({ table: 'fickle_cast' }));
      expect([cast, found.message, found.hint]).toEqual([cast, expect.stringMatching(/asks the clock/), expect.stringMatching(/to_date/)]);
    } // biome-ignore format: one line
    await town.run(
      `CREATE VIEW steady AS SELECT concat(id, '-', to_char(at, 'YYYY')) AS id, date_trunc('year', at) AS year, CAST(at AS DATE) AS day, to_date('2020-01-02', 'YYYY-MM-DD') AS read, CAST(born AS TEXT) AS said, age(at, born) AS old FROM dated WHERE at > born AND born > DATE '1900-01-01'`,
    );
    await town.run(
      `GRANT SELECT ON steady TO reader; CREATE POLICY mine ON dated USING (id = 'x' AND current_user = 'reader'); ALTER TABLE dated ENABLE ROW LEVEL SECURITY`,
    );
    for (const [table, id] of [
      ['steady', 'x-2020'],
      ['dated', 'x'],
    ] as const) {
      const engine = await open({ table });
      expect(
        await withSnapshot(engine, async (data) => (await data.rows({ sql: 'SELECT id FROM fugu_data', values: [] })).open()),
      ).toEqual([[id]]);
      await engine.close();
    }
  });

  it('a table that starts or stops inheriting from another is not read by a release that began before', async () => {
    const count = async (data: Snapshot) => Number((await data.rows({ sql: 'SELECT count(*) FROM fugu_data', values: [] })).open()[0]![0]); // biome-ignore format: one line
    await town.run(
      `CREATE TABLE elder (id TEXT); INSERT INTO elder VALUES ('1'), ('2'); CREATE VIEW over_elder AS SELECT id FROM elder;
       CREATE TABLE younger (id TEXT); INSERT INTO younger VALUES ('3'); GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader`,
    );
    const under = async (table: string, change: string) => {
      const engine = await open({ table });
      const early = await engine.snapshot();
      await town.run(change);
      const seen = await count(early).catch((e: Fault) => e.message);
      await early.close();
      const later = await withSnapshot(engine, count);
      await engine.close();
      return [seen, later];
    };
    const [come, go] = ['ALTER TABLE younger INHERIT elder', 'ALTER TABLE younger NO INHERIT elder'];
    const changed = expect.stringMatching(/changed while/);
    expect(await under('elder', come)).toEqual([changed, 3]);
    expect(await under('elder', go)).toEqual([changed, 2]);
    expect(await under('over_elder', come)).toEqual([changed, 3]);
    expect(await under('over_elder', go)).toEqual([changed, 2]);
    expect(await under('over_elder', "INSERT INTO elder VALUES ('4')")).toEqual([2, 3]);
  });

  it('a view that fails on a row does so when it is opened', async () => {
    await town.run(
      `CREATE TABLE odd AS SELECT 1 AS id; INSERT INTO odd VALUES (0); CREATE VIEW breaking AS SELECT id, 1 / id AS part FROM odd`,
    );
    expect((await fault(open({ table: 'breaking' }))).code).toBe('ENGINE_FAILED');
    await town.run(
      'GRANT SELECT ON odd TO reader; ALTER TABLE odd ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON odd USING (1 / id > 0)',
    );
    expect((await fault(open({ table: 'odd' }))).code).toBe('ENGINE_FAILED');
  });

  it('a password in an address is refused wherever one is read', () => {
    for (const source of ['postgres://a:b@host/db', 'postgres://a@host/db?password=b']) expect(() => readAddress(source)).toThrow(/holds a password/); // biome-ignore format: one line
    expect(() => readAddress('postgres://a@host/db?sslmode=prefer')).toThrow(/fall back/);
  });

  it.skipIf(!server?.certificate)(
    'the connection is encrypted if the address requires it, and only to the host in the certificate',
    async () => {
      const at = (host: string, more: string) => ({ source: `postgres://reader@${host}:${server!.port}/faults?${more}` });
      const own = `sslrootcert=${encodeURIComponent(server!.certificate!)}`;
      for (const [host, more] of [
        ['127.0.0.1', 'sslmode=require'],
        ['localhost', `sslmode=verify-full&${own}`],
        ['127.0.0.1', `sslmode=verify-ca&${own}`],
      ] as const) {
        // biome-ignore format: one line
        const engine = await open(at(host, more));
        await works(engine);
        let rows = 0;
        await withSnapshot(engine, async (data) => {
          for await (const block of data.stream({ sql: 'SELECT id, note FROM fugu_data, generate_series(1, 30)', values: [] })) {
            rows += block.open().rows;
            await waiting(1);
          }
        });
        expect(rows).toBe(90_000);
        const [[plain]] = (await town.run(`SELECT count(*) FROM pg_stat_activity AS a JOIN pg_stat_ssl AS s USING (pid) WHERE ${others} AND NOT s.ssl`)) as [[string]]; // biome-ignore format: one line
        expect([more, Number(plain)]).toEqual([more, 0]);
        await engine.close();
        await quiet();
      }
      for (const [host, more] of [['127.0.0.1', `sslmode=verify-full&${own}`], ['localhost', 'sslmode=verify-full']] as const) expect((await fault(open(at(host, more)))).message).toMatch(/encrypted|certificate/); // biome-ignore format: one line
    },
  );
});
