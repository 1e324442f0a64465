import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Snapshot, withSnapshot } from '../../src/data/engine/engine.js';
import { PostgresConnection } from '../../src/data/engine/postgres/connection.js';
import { openEngine } from '../../src/data/terms/open.js';
import { startServer } from './start-server.js';
import { PostgresTown, server } from './town.js';

/** Objects that no snapshot keeps and no lock protects: functions, types, roles, sequences. */
describe.skipIf(!server)('objects through which tables are read', () => {
  let town: PostgresTown;
  beforeAll(async () => {
    town = await PostgresTown.open('exchanged');
    // Roles are shared by the whole server; no other test uses these.
    await town.run(`CREATE ROLE warden LOGIN PASSWORD '${server!.reader}'; CREATE ROLE watch; CREATE ROLE keeper`);
    await town.run(
      `GRANT CONNECT ON DATABASE exchanged TO warden; GRANT CREATE ON SCHEMA public TO warden, keeper;
       CREATE TYPE mood AS ENUM ('x', 'y'); CREATE TYPE two AS (a INTEGER, b INTEGER); CREATE SEQUENCE numbers;
       CREATE FUNCTION deep(x TEXT) RETURNS TEXT LANGUAGE sql IMMUTABLE AS 'SELECT x';
       CREATE FUNCTION shallow(x TEXT) RETURNS TEXT LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN public.deep(x); END';
       CREATE FUNCTION passes(x TEXT) RETURNS BOOLEAN LANGUAGE sql IMMUTABLE AS $$SELECT x = 'x'$$;
       CREATE TABLE plain AS SELECT 'x' AS id FROM generate_series(1, 5);
       CREATE TABLE moody AS SELECT CAST('x' AS mood) AS id FROM generate_series(1, 5);
       CREATE TABLE pairs AS SELECT CAST(ROW(1, 2) AS two) AS id FROM generate_series(1, 5);
       CREATE TABLE secured AS SELECT CASE WHEN i < 6 THEN 'x' ELSE 'y' END AS id FROM generate_series(1, 6) AS i;
       ALTER TABLE secured ENABLE ROW LEVEL SECURITY;
       CREATE POLICY most ON secured TO warden USING (id = 'x'); CREATE POLICY others ON secured TO watch USING (id = 'y');
       CREATE TABLE passed AS SELECT 'x' AS id FROM generate_series(1, 5);
       ALTER TABLE passed ENABLE ROW LEVEL SECURITY; CREATE POLICY few ON passed USING (passes(id));
       CREATE VIEW called AS SELECT shallow(id) AS id FROM plain;
       CREATE VIEW cast_mood AS SELECT CAST(id AS TEXT) AS id FROM moody;
       CREATE VIEW constants AS SELECT CAST(CAST('x' AS mood) AS TEXT) AS id FROM plain;
       CREATE VIEW over_secured AS SELECT id FROM secured;
       CREATE VIEW numbered AS SELECT last_value AS id FROM numbers;
       GRANT SELECT ON ALL TABLES IN SCHEMA public TO warden, keeper; GRANT SELECT ON numbers TO warden`,
    );
  });
  afterAll(() => town?.close());
  afterEach(() => void vi.restoreAllMocks());

  const open = (table: string, limits: object = {}) => openEngine({ source: town.address('warden'), table }, limits);
  const sql = 'SELECT id, count(*) FROM fugu_data GROUP BY id ORDER BY id';
  const read = async (data: Snapshot) => (await data.rows({ sql, values: [] })).open();
  const drained = async (data: Snapshot) => {
    for await (const _ of data.stream({ sql, values: [] }));
  };

  const rename = [`ALTER TYPE mood RENAME VALUE 'x' TO 'z'`, `ALTER TYPE mood RENAME VALUE 'z' TO 'x'`] as const;
  it.each([
    ['called', `CREATE OR REPLACE FUNCTION deep(x TEXT) RETURNS TEXT LANGUAGE sql IMMUTABLE AS 'SELECT ''z'''`, 'SELECT 1'],
    ['called', `CREATE OR REPLACE FUNCTION shallow(x TEXT) RETURNS TEXT LANGUAGE sql IMMUTABLE AS 'SELECT ''u'''`, 'SELECT 1'],
    ['passed', `CREATE OR REPLACE FUNCTION passes(x TEXT) RETURNS BOOLEAN LANGUAGE sql IMMUTABLE AS 'SELECT false'`, 'SELECT 1'],
    ['moody', ...rename],
    ['cast_mood', ...rename],
    ['constants', ...rename],
    ['pairs', 'ALTER TYPE two ADD ATTRIBUTE c INTEGER', 'SELECT 1'],
    ['secured', 'ALTER ROLE warden BYPASSRLS', 'ALTER ROLE warden NOBYPASSRLS'],
    ['secured', 'GRANT watch TO warden', 'REVOKE watch FROM warden'],
    ['secured', 'ALTER TABLE secured OWNER TO warden', 'ALTER TABLE secured OWNER TO owner'],
    ['over_secured', 'ALTER VIEW over_secured OWNER TO keeper', 'ALTER VIEW over_secured OWNER TO owner'],
  ])('%s, and then %s: a release is a fault, never an answer about the former object', async (table, change, back) => {
    const engine = await open(table);
    const data = await engine.snapshot();
    const before = await read(data);
    await town.run(change);
    for (const work of [read, drained])
      await expect(work(data)).rejects.toMatchObject({ message: expect.stringMatching(/changed while/) });
    await data.close();
    // Later requests read the new objects.
    expect(await withSnapshot(engine, read)).not.toEqual(before);
    await town.run(back);
    await engine.close();
  });

  it("a view that changes to run with its reader's rights is a changed view", async () => {
    const [[version]] = (await town.run('SHOW server_version_num')) as [[string]];
    // Older servers have no such views.
    if (Number(version) < 150_000) return;
    await town.run('GRANT SELECT ON secured TO warden');
    const engine = await open('over_secured');
    await withSnapshot(engine, async (data) => {
      expect(await read(data)).toEqual([['x', 5n], ['y', 1n]]); // biome-ignore format: one line
      await town.run('ALTER VIEW over_secured SET (security_invoker = on)');
      await expect(read(data)).rejects.toMatchObject({ message: expect.stringMatching(/changed while/) });
    });
    expect(await withSnapshot(engine, read)).toEqual([['x', 5n]]);
    await town.run('ALTER VIEW over_secured RESET (security_invoker)');
    await engine.close();
  });

  it('a label that is renamed and renamed back is noticed, too', async () => {
    const engine = await open('moody');
    await withSnapshot(engine, async (data) => {
      await read(data);
      for (const change of rename) await town.run(change);
      await expect(read(data)).rejects.toMatchObject({ message: expect.stringMatching(/changed while/) });
    });
    await engine.close();
  });

  it('unrelated objects that others create are no change of a table', async () => {
    const engine = await open('plain');
    await withSnapshot(engine, async (data) => {
      await town.run(`CREATE FUNCTION new_one() RETURNS TEXT LANGUAGE sql AS 'SELECT ''x'''; CREATE TYPE other AS ENUM ('a')`);
      await town.run(`CREATE ROLE stranger; GRANT watch TO stranger; CREATE TABLE beside (id TEXT); ANALYZE plain`);
      expect(await read(data)).toEqual([['x', 5n]]);
    });
    await engine.close();
  });

  it('catalog objects are identified by number, under any name', async () => {
    await town.run(
      `CREATE TABLE called_so (x TEXT); CREATE TABLE naming AS SELECT CAST('called_so' AS REGCLASS) AS x; GRANT SELECT ON naming TO reader`,
    );
    const engine = await openEngine(town.source('naming'));
    await withSnapshot(engine, async (data) => {
      const look = async () => (await data.rows({ sql: 'SELECT x FROM fugu_data', values: [] })).open();
      const before = await look();
      expect(before[0]![0]).toMatch(/^[0-9]+$/);
      await town.run('ALTER TABLE called_so RENAME TO called_otherwise');
      expect(await look()).toEqual(before);
    });
    await engine.close();
  });

  it('a sequence is refused, because it is read outside of any snapshot', async () => {
    await expect(open('numbered')).rejects.toMatchObject({ code: 'DATA_NOT_FOUND', message: expect.stringMatching(/sequence/) });
  });

  it('a materialized view has rows of its own, computed from any source', async () => {
    await town.run(
      `CREATE FUNCTION fickle(x TEXT) RETURNS TEXT LANGUAGE sql STABLE AS 'SELECT x'; CREATE VIEW late AS SELECT id FROM plain WHERE now() > DATE '2000-01-01';
       CREATE MATERIALIZED VIEW kept AS SELECT fickle(late.id) AS id, n.last_value FROM late CROSS JOIN numbers AS n; GRANT SELECT ON kept TO warden`,
    );
    const engine = await open('kept');
    await withSnapshot(engine, async (data) => {
      await town.run(`SELECT setval('numbers', 7); CREATE OR REPLACE VIEW late AS SELECT id FROM plain WHERE false`);
      expect(await read(data)).toEqual([['x', 5n]]);
      await town.run('REFRESH MATERIALIZED VIEW kept');
      await expect(read(data)).rejects.toMatchObject({ message: expect.stringMatching(/changed while/) });
    });
    await engine.close();
  });

  it('a catalog check that is never answered ends a stream at its deadline', async () => {
    const engine = await open('plain', { deadline: 1500 });
    const data = await engine.snapshot();
    const { run } = PostgresConnection.prototype;
    vi.spyOn(PostgresConnection.prototype, 'run').mockImplementation(function (this: PostgresConnection, statement: string) {
      return statement.startsWith('SELECT md5(') ? new Promise(() => undefined) : run.call(this, statement);
    });
    await expect(drained(data)).rejects.toMatchObject({ code: 'ENGINE_DEADLINE' });
    await data.close();
    await engine.close();
  });

  it('a database restored from a copy at the same position is not taken for the former one', async () => {
    const started = await startServer(['fsync=off', 'autovacuum=off']);
    const [folder, copy] = ['data', 'copy'].map((name) => join(started.folder, name)) as [string, string];
    const asOwner = async (statement: string) => {
      const owner = new pg.Client({ host: '127.0.0.1', port: started.port, user: 'owner', password: started.owner, database: 'postgres' }); // biome-ignore format: one line
      await owner.connect();
      const { rows } = await owner.query({ text: statement, rowMode: 'array' });
      await owner.end();
      return rows;
    };
    try {
      await asOwner(`CREATE ROLE reader LOGIN PASSWORD '${server!.reader}'`);
      await asOwner('CREATE TABLE people (id TEXT)');
      await asOwner('GRANT SELECT ON people TO reader');
      started.run('pg_ctl', '-D', folder, '-m', 'fast', '-w', 'stop');
      execFileSync('cp', ['-a', folder, copy]);
      started.startAgain();
      await asOwner(`INSERT INTO people VALUES ('one')`);
      const engine = await openEngine({ source: `postgres://reader@127.0.0.1:${started.port}/postgres`, table: 'people' });
      const look = () => withSnapshot(engine, async (data) => [await data.id(), (await data.size()).open()]);
      const state = 'SELECT CAST(pg_current_snapshot() AS TEXT)';
      const [first, firstState] = [await look(), await asOwner(state)];
      started.kill();
      rmSync(folder, { recursive: true });
      execFileSync('cp', ['-a', copy, folder]);
      started.startAgain();
      await asOwner(`INSERT INTO people VALUES ('two'), ('three')`);
      expect(await asOwner(state)).toEqual(firstState);
      const second = await look();
      expect([first[1], second[1], first[0] === second[0]]).toEqual([1, 2, false]);
      await engine.close();
    } finally {
      started.remove();
    }
  });
});
