import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Snapshot, withSnapshot } from '../../src/data/engine/engine.js';
import { openEngine } from '../../src/data/terms/open.js';
import { gridOf, positionOf } from '../../src/policy/grid.js';
import type { NumberColumn } from '../../src/policy/policy.js';
import { bindBatch } from '../../src/query/bind.js';
import { countByDatabase, countStreaming } from '../../src/query/count/count.js';
import { parseBatch } from '../../src/query/parse.js';
import { openNow } from '../now.js';
import { category, number, samplePolicy } from '../sample-policy.js';
import { PostgresTown, server } from './town.js';

/** Data that makes a statement fail or count differently elsewhere: a fault would disclose a record, or an integer would be wrong. */
describe.skipIf(!server)('counts in PostgreSQL that never fail', () => {
  let town: PostgresTown;
  beforeAll(async () => {
    town = await PostgresTown.open('hazards');
  });
  afterAll(() => town?.close());

  const open = (table: string) => openNow(town.source(table));
  async function counted(table: string, column: ReturnType<typeof number>, ...queries: object[]): Promise<bigint[][]> {
    const policy = samplePolicy([column]);
    const { measures } = bindBatch(parseBatch(queries), policy);
    const data = await open(table);
    const bySql = (await countByDatabase(data, policy, measures)).map((c) => [...c.open()]);
    const streamed = (await countStreaming(data, policy, measures)).map((c) => [...c.open()]);
    await data.close();
    expect(streamed).toEqual(bySql);
    return bySql;
  }
  const missing = { kind: 'count', where: [{ column: 'x', op: 'missing' }] };
  const sum = { kind: 'sum', column: 'x' };
  const shown = async (data: Snapshot, sql: string) => (await data.rows({ sql, values: [] })).open();

  it('a product that underflows is counted (5e-324 on a coarse grid)', async () => {
    const table = await town.table([['x'], ['5e-324'], ['-5e-324'], ['1e-310'], ['2000']], ['DOUBLE PRECISION']);
    // The planted twin: the plain arithmetic of the other engine does fail here.
    await expect(town.run(`SELECT x * 0.001::double precision FROM ${table}`)).rejects.toMatchObject({ code: '22003' });
    expect(await counted(table, number('x', '0', '100000', '1000'), sum, missing)).toEqual([[2n], [0n]]);
  });

  it('fractions are placed as each is rounded: halves, both ends and beyond them, missing codes', async () => {
    const columns = [
      number('x', '0', '100', '0.1'),
      { ...number('x', '-7', '3', '0.25'), missing: ['-1', '99'] },
      number('x', '1000000', '1000001', '0.000001'),
      number('x', '0', '9', '3'),
    ] as const;
    for (const column of columns) {
      const grid = gridOf(column as NumberColumn);
      const { from, top, rate, last } = grid;
      const halves = Array.from({ length: 400 }, (_, k) => from + (((k * 7919) % last) + 0.5) / rate);
      const near = [from, top].flatMap((x) => [x, x - 0.5 / rate, x + 0.5 / rate, x - 1e6, x + 1e6]);
      const cells = [...halves, ...near, -1, 99, 5e-324, Number.MAX_VALUE, -Number.MAX_VALUE, Infinity, -Infinity, Number.NaN];
      const table = await town.table([['x'], ...cells.map((x) => [String(x)]), [null]], ['DOUBLE PRECISION']);
      const places = cells.map((x) => positionOf(grid, x)).filter((p) => p >= 0);
      const units = places.reduce((all, p) => all + grid.lowUnits + grid.stride * BigInt(p), 0n);
      expect(await counted(table, column, sum, missing)).toEqual([[units], [BigInt(cells.length + 1 - places.length)]]);
    }
  });

  it('text that is no number, or no double, is counted', async () => {
    const texts = [
      '1e400',
      '-1e400',
      '1e-400',
      '0x1F',
      'NaN',
      'inf',
      '1_0',
      '1e99999',
      '9'.repeat(400),
      '',
      ' ',
      "'; DROP TABLE t",
      '7',
    ];
    const table = await town.table([['x'], ...texts.map((t) => [t])]);
    await expect(town.run(`SELECT CAST('1e400' AS double precision)`)).rejects.toMatchObject({ code: '22003' });
    // '1e-400' is 0, and 7 is 7.
    expect(await counted(table, number('x', '0', '10'), sum, missing)).toEqual([[7n], [BigInt(texts.length - 2)]]);
  });

  it('decimals larger than doubles, or that are no numbers, are counted', async () => {
    const types = ['NUMERIC', 'NUMERIC(12,2)', 'NUMERIC(9,0)', 'NUMERIC(500,400)'];
    for (const type of types) {
      const own = type === 'NUMERIC' ? ['1e500', '-1e500', 'NaN', 'Infinity', '3.5', '4'] : ['NaN', '3.5', '4'];
      const table = await town.table([['x'], ...own.map((t) => [t])], [type]);
      const nothing = type === 'NUMERIC' ? 4n : 1n;
      const total = type === 'NUMERIC(9,0)' ? 8n : 8n;
      expect([type, await counted(table, number('x', '0', '10'), sum, missing)]).toEqual([type, [[total], [nothing]]]);
    }
  });

  it('NaN is counted although it sorts above everything', async () => {
    const table = await town.table([['x'], ['NaN'], ['Infinity'], ['-Infinity'], ['5'], [null]], ['DOUBLE PRECISION']);
    const above = { kind: 'count', where: [{ column: 'x', op: '>=', value: 1 }] };
    expect(await counted(table, number('x', '0', '10'), above, missing, sum)).toEqual([[1n], [4n], [5n]]);
  });

  it('integers beyond doubles, and sums beyond integers, are counted', async () => {
    const rows = ['9223372036854775807', '-9223372036854775808', '9007199254740993'];
    const table = await town.table([['x'], ...rows.map((r) => [r])], ['BIGINT']);
    // Pulled to the bounds: twice the upper one, once the lower.
    expect(await counted(table, number('x', '-1000', '100000'), sum, missing)).toEqual([[199_000n], [0n]]);
    const data = await open(table);
    expect((await shown(data, 'SELECT sum(x * CAST(4611686018427387904 AS NUMERIC)) FROM fugu_data'))[0]![0]).toBe(
      (9007199254740993n - 1n) * 4611686018427387904n,
    );
    await data.close();
  });

  it('codes in any text type are counted: padded, without case, with its own order or equality', async () => {
    await town.run('CREATE EXTENSION IF NOT EXISTS citext');
    await town.run(`CREATE COLLATION IF NOT EXISTS blind (provider = icu, locale = 'und-u-ks-level1', deterministic = false)`);
    await town.run(`CREATE DOMAIN code AS TEXT CHECK (length(value) < 9)`);
    await town.run(`CREATE TYPE mood AS ENUM ('dem', 'REP')`);
    const policy = samplePolicy([category('x', ['dem', 'rep'])]);
    const { measures } = bindBatch(parseBatch([{ kind: 'histogram', column: 'x' }]), policy);
    for (const type of ['CHAR(6)', 'CITEXT', 'TEXT COLLATE blind', 'VARCHAR(9)', 'code', 'NAME', 'mood']) {
      const cells = type === 'mood' ? ['dem', 'dem', 'REP', null] : ['dem', 'dem ', 'REP', null];
      const table = await town.table([['x'], ...cells.map((c) => [c])], [type]);
      const data = await open(table);
      expect([type, (await data.columns())[0]!.type]).toEqual([type, 'text']);
      const found = await Promise.all([countByDatabase(data, policy, measures), countStreaming(data, policy, measures)]);
      for (const cells of found) expect([type, cells.map((c) => [...c.open()])]).toEqual([type, [[2n, 0n, 2n]]]);
      await data.close();
    }
  });

  it('ties sort by code points, though the database sorts by a language', async () => {
    const ties = await town.table([
      ['a', 'b'],
      ['a', 'B'],
      ['B', 'a'],
      ['Z', 'a'],
      ['a', 'Z'],
      ['é', 'f'],
    ]);
    const people = await town.table([['id'], ['a']]);
    const relations = [{ name: 'friend', table: ties, columns: ['a', 'b'], symmetric: true }];
    const data = await openNow(town.source(people, { relations }));
    expect((await town.run(`SELECT 'a' < 'B'`))[0]![0]).toBe(true);
    const found = await shown(data, 'SELECT c0, c1 FROM fugu_relation_friend WHERE c0 < c1');
    expect(found.map((row) => row.join()).sort()).toEqual(['B,a', 'Z,a', 'f,é']);
    await data.close();
  });

  it('columns named like our own views and aliases are counted', async () => {
    const own = [
      'fugu_name',
      'fugu_left_out',
      'fugu_all_rows',
      'fugu_data',
      'fugu_row',
      'fugu_rows',
      'cell',
      'person',
      'content',
      'copy',
      'rank',
      'c0',
      'read',
      'Age',
      'it"s $1',
    ];
    for (const unit of own) {
      const x = unit === 'Age' ? 'age' : 'x';
      const rows = [[unit, x], ['a', '1'], ['b', '2'], ['b', '3'], ['c', '4'], [null, '5']]; // biome-ignore format: one line
      const engine = await openEngine(town.source(await town.table(rows as string[][])));
      const less = await engine.without(unit, ['b', 'z']);
      const sql = `SELECT "${unit.replaceAll('"', '""')}", "${x}" FROM fugu_data`;
      const left = await withSnapshot(less, async (data) => [(await data.id()).length, await shown(data, sql)]);
      expect([unit, left]).toEqual([unit, [64, [['a', '1'], ['c', '4'], [null, '5']]]]); // biome-ignore format: one line
      const protect = { ...samplePolicy([category(x, ['1'])]).protect, secret: 'person' as const, unit, maxRows: 1 };
      const policy = { ...samplePolicy([category(x, ['1', '2', '3', '4'])]), protect };
      const { measures } = bindBatch(parseBatch({ kind: 'histogram', column: x }), policy);
      const counts = await withSnapshot(engine, async (data) => (await countByDatabase(data, policy, measures))[0]!.open());
      expect([unit, counts[0], counts[1]! + counts[2]!, counts[3]]).toEqual([unit, 1n, 1n, 1n]);
      await engine.close();
    }
  });

  it("every other type is text that is independent of the server's location", async () => {
    await town.run(
      `CREATE TABLE others (d DATE, z TIMESTAMPTZ, i INTERVAL, u UUID, j JSONB, b BYTEA, a INTEGER[], f REAL, o BOOLEAN, m MONEY)`,
    );
    await town.run(
      `INSERT INTO others VALUES ('2020-01-02', '2020-01-02 03:04:05+02', '1 day 2 hours', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '{"a": 1}', '\\xdeadbeef', '{1,2}', 0.1, true, 1)`,
    );
    await town.run(
      `ALTER ROLE reader SET datestyle = 'German'; ALTER ROLE reader SET timezone = 'Asia/Tokyo'; ALTER ROLE reader SET extra_float_digits = 0; ALTER ROLE reader SET statement_timeout = 0`,
    );
    const data = await open('others');
    expect((await data.columns()).map((c) => c.type)).toEqual([
      'text',
      'text',
      'text',
      'text',
      'text',
      'text',
      'text',
      'real',
      'boolean',
      'text',
    ]);
    const [row] = await shown(data, 'SELECT d, z, i, u, j, b, a, f, o, m FROM fugu_data');
    expect(row).toEqual([
      '2020-01-02',
      '2020-01-02 01:04:05+00',
      'P1DT2H',
      'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11',
      '{"a": 1}',
      '\\xdeadbeef',
      '{1,2}',
      Math.fround(0.1),
      true,
      '$1.00',
    ]);
    await data.close();
  });
});
