import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Fault } from '../../src/base/errors.js';
import { withSnapshot } from '../../src/data/engine/engine.js';
import { openEngine } from '../../src/data/terms/open.js';
import { followerOf, type Standby } from './standby.js';
import { freePort, isInstalled, type Started, startServer } from './start-server.js';

describe.skipIf(!isInstalled())('data on a server that follows another', () => {
  let primary: Started;
  let follower: Standby;
  const opened: pg.Client[] = [];
  const owner = async () => {
    const client = new pg.Client({
      host: '127.0.0.1',
      port: primary.port,
      user: 'owner',
      password: primary.owner,
      database: 'postgres',
    });
    client.on('error', () => undefined);
    await client.connect();
    opened.push(client);
    return client;
  };
  beforeAll(async () => {
    primary = await startServer(['fsync=off', 'max_connections=60']);
    const client = await owner();
    await client.query("CREATE ROLE reader LOGIN PASSWORD 'reader-s3cret'; CREATE TABLE people AS SELECT i AS id, 'dem' AS party FROM generate_series(1, 100) AS s(i)"); // biome-ignore format: one line
    await client.query('CREATE TABLE noise (i INTEGER); GRANT SELECT ON people TO reader');
    follower = await followerOf(primary, await freePort());
    process.env.PGPASSWORD = 'reader-s3cret';
  });
  afterAll(async () => {
    for (const client of opened) await client.end().catch(() => undefined);
    try {
      follower?.kill();
    } finally {
      primary?.remove();
    }
  });
  const open = () =>
    openEngine({ source: `postgres://reader@127.0.0.1:${follower.port}/postgres`, table: 'people' }, { deadline: 30_000, release: 60_000 }); // biome-ignore format: one line

  it("the engine checks again when one of two writers has ended, which the follower's snapshot name does not show", async () => {
    const [first, second] = [await owner(), await owner()];
    // Both are under way, the first for longer than everything that follows, and a third has come later and ended before them.
    await first.query('BEGIN; INSERT INTO noise VALUES (1)');
    await second.query("BEGIN; INSERT INTO people VALUES (101, 'rep')");
    await (await owner()).query('INSERT INTO noise VALUES (3)');
    const engine = await open();
    const look = () => withSnapshot(engine, async (data) => [(await data.size()).open(), await data.id()] as const);
    await follower.caughtUp();
    const before = await look();
    expect(before[0]).toBe(100);
    await second.query('COMMIT');
    await follower.caughtUp();
    const after = await look();
    expect(after[0]).toBe(101);
    expect(after[1]).not.toBe(before[1]);
    // And where nothing has changed since, it is the same.
    expect(await look()).toEqual(after);
    await first.query('COMMIT');
    await engine.close();
  });

  it('a release sees one moment while the follower takes over, or ends in a fault', async () => {
    await follower.caughtUp();
    const engine = await open();
    const ask = async (data: Parameters<Parameters<typeof withSnapshot>[1]>[0]) =>
      (await data.rows({ sql: 'SELECT count(*), max(id) FROM fugu_data', values: [] })).open();
    const answer = await withSnapshot(engine, async (data) => {
      const before = await ask(data);
      follower.promote();
      const own = new pg.Client({
        host: '127.0.0.1',
        port: follower.port,
        user: 'owner',
        password: primary.owner,
        database: 'postgres',
      });
      await own.connect();
      await own.query("INSERT INTO people VALUES (500, 'rep')");
      await own.end();
      const after = await Promise.all([ask(data), ask(data)]).catch((error: unknown) => error);
      return { before, after };
    });
    if (answer.after instanceof Error) expect(answer.after).toBeInstanceOf(Fault);
    else expect(answer.after).toEqual([answer.before, answer.before]);
    expect((await withSnapshot(engine, ask))[0]![1]).toBe(500);
    await engine.close();
  });
});
