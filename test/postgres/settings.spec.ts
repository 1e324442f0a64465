import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Snapshot, withSnapshot } from '../../src/data/engine/engine.js';
import { openEngine } from '../../src/data/terms/open.js';
import { faultOf } from '../fault.js';
import { PostgresTown, server } from './town.js';

describe.skipIf(!server)('settings of a role', () => {
  let town: PostgresTown;
  beforeAll(async () => {
    town = await PostgresTown.open('settings');
    await town.run(`DROP ROLE IF EXISTS settled; CREATE ROLE settled LOGIN PASSWORD '${server!.reader}'`);
    await town.run(
      'DROP ROLE IF EXISTS somebody; CREATE ROLE somebody; GRANT somebody TO settled; GRANT CONNECT ON DATABASE settings TO settled',
    );
    await town.run(`CREATE TABLE cells AS SELECT i AS id, CASE WHEN i % 3 = 0 THEN 'settled' ELSE 'somebody' END AS own,
        CAST(i + 0.5 AS NUMERIC) AS much, CAST(0.1 AS DOUBLE PRECISION) * i AS part, DATE '2020-01-31' + i AS day, TIMESTAMPTZ '2020-01-31 23:00Z' AS at,
        INTERVAL '1 day 2 hours' AS span, CAST('12.5' AS MONEY) AS paid, CAST('ab' AS BYTEA) AS raw, ARRAY['a', NULL] AS tags, 'plain' AS word
      FROM generate_series(1, 3000) AS s(i)`);
    await town.run('CREATE INDEX ON cells USING gin (tags); ANALYZE cells');
    await town.run(`CREATE VIEW shown AS SELECT *, to_char(much, '9999D9') AS spelt, to_char(day, 'TMMonth') AS month, quote_ident(word) AS quoted,
        to_json(raw) AS told, xmlelement(name a, raw) AS marked, current_user AS who FROM cells WHERE tags @> ARRAY['a']`);
    await town.run(
      'CREATE TABLE own AS SELECT id, own FROM cells; ALTER TABLE own ENABLE ROW LEVEL SECURITY; CREATE POLICY mine ON own USING (own = current_user)',
    );
    await town.run('GRANT SELECT ON cells, shown, own TO settled, somebody');
  });
  afterAll(async () => {
    await town?.run('DROP OWNED BY settled, somebody; DROP ROLE settled, somebody');
    await town?.close();
  });

  const read = async (table: string) => {
    const engine = await openEngine({ source: town.address('settled'), table });
    const names = async (data: Snapshot) => (await data.columns()).map(({ name }) => `max(CAST("${name}" AS TEXT) COLLATE "C")`);
    const look = async (data: Snapshot) =>
      (await data.rows({ sql: `SELECT count(*), ${(await names(data)).join(', ')} FROM fugu_data`, values: [] })).open();
    return withSnapshot(engine, look).finally(() => engine.close());
  };
  const all = async () => [await read('cells'), await read('shown'), await read('own')];

  it('the settings change nothing that is read: neither text nor rows nor the reader', async () => {
    const before = await all();
    expect(before[2]![0]![0]).toBe(1000n);
    const settings = [
      'role = somebody', 'row_security = off', "datestyle = 'German'", 'intervalstyle = sql_standard', 'extra_float_digits = -15', "timezone = 'Asia/Tokyo'",
      'bytea_output = escape', 'standard_conforming_strings = off', 'quote_all_identifiers = on', 'transform_null_equals = on', 'array_nulls = off', 'xmlbinary = hex',
      'xmloption = document', 'search_path = settled, public', 'default_transaction_isolation = serializable', 'default_transaction_deferrable = on',
      'default_transaction_read_only = off', 'statement_timeout = 1', 'lock_timeout = 1', 'idle_in_transaction_session_timeout = 1', 'client_encoding = LATIN1',
      'enable_seqscan = off; ALTER ROLE settled SET gin_fuzzy_search_limit = 5',
    ]; // biome-ignore format: one line
    await town.run(settings.map((setting) => `ALTER ROLE settled SET ${setting}`).join('; '));
    const after = await all().finally(() => town.run('ALTER ROLE settled RESET ALL'));
    expect(after).toEqual(before);
  });

  it('settings that change during a release do not give it two readers', async () => {
    const engine = await openEngine({ source: town.address('settled'), table: 'own' });
    const counts = await withSnapshot(engine, async (data) => {
      const ask = () => data.rows({ sql: 'SELECT count(*), min(own) FROM fugu_data', values: [] });
      const first = (await ask()).open();
      await town.run('ALTER ROLE settled SET role = somebody');
      // Two at once take two connections, of which one is new.
      return [first, ...(await Promise.all([ask(), ask()])).map((found) => found.open())];
    });
    await engine.close();
    await town.run('ALTER ROLE settled RESET ALL');
    expect(counts.map((rows) => rows[0])).toEqual(Array.from({ length: 3 }, () => [1000n, 'settled']));
  });

  it('the settings do not hide that a role may do everything', async () => {
    await town.run('ALTER ROLE settled SUPERUSER; ALTER ROLE settled SET role = somebody');
    expect((await faultOf(openEngine({ source: town.address('settled'), table: 'cells' }))).code).toBe('ACCESS_DENIED');
    await town.run('ALTER ROLE settled NOSUPERUSER; ALTER ROLE settled RESET ALL');
  });
});
