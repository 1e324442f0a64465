import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { surveyRandom } from '../../test/garbage-survey.js';
import { openNow } from '../../test/now.js';
import { category, number, samplePolicy } from '../../test/sample-policy.js';
import { toNumber } from '../base/exact/rational.js';
import type { Snapshot } from '../data/engine/engine.js';
import { bindBatch } from './bind.js';
import type { NoisyMeasure } from './bound.js';
import { countByDatabase, countStreaming } from './count/count.js';
import { compileMeasures, readCounts } from './count/groups.js';
import { parseSql } from './sql/sql.js';

/** More expressions: FUGU_EXPRESSIONS=5000 npx vitest run src/query/expressions.test.ts */
const many = Number(process.env.FUGU_EXPRESSIONS ?? 12);
const rows = 400;

const columns = [
  number('x', '-5', '20'),
  number('y', '0', '8', '0.5'),
  category('p', ['a', 'b', 'c']),
  category('q', ['1', '2']),
];
const policy = { ...samplePolicy(columns), data: { source: '/data/survey.csv' } };
const folder = mkdtempSync(join(tmpdir(), 'fugu-expressions-'));
let data: Snapshot;
let raw: Awaited<ReturnType<DuckDBInstance['connect']>>;

beforeAll(async () => {
  const instance = await DuckDBInstance.create(join(folder, 'data.duckdb'));
  const connection = await instance.connect();
  const pick = surveyRandom(11);
  const list = Array.from({ length: rows }, () => {
    const x = pick(8) === 0 ? 'NULL' : `${pick(26) - 5}`;
    const y = ['NULL', "'NaN'::DOUBLE"][pick(12)] ?? `${pick(17) / 2}`;
    const p = pick(7) === 0 ? 'NULL' : `'${['a', 'b', 'c'][pick(3)]}'`;
    return `(${x}, ${y}, ${p}, ${pick(9) === 0 ? 'NULL' : `'${1 + pick(2)}'`})`;
  });
  await connection.run(`CREATE TABLE people AS SELECT * FROM (VALUES ${list.join(', ')}) AS t(x, y, p, q)`);
  // Fugu reads NaN as missing; DuckDB reads it as a number.
  await connection.run(`CREATE TABLE survey AS SELECT x, CASE WHEN isnan(y) THEN NULL ELSE y END AS y, p, q FROM people`);
  connection.closeSync();
  instance.closeSync();
  data = await openNow({ source: join(folder, 'data.duckdb'), table: 'people' });
  raw = await (await DuckDBInstance.create(join(folder, 'data.duckdb'), { access_mode: 'READ_ONLY' })).connect();
});
afterAll(async () => {
  raw?.closeSync();
  await data?.close();
  rmSync(folder, { recursive: true, force: true });
});

const random = (seed: number) => {
  const pick = surveyRandom(seed);
  const one = <T>(list: readonly T[]): T => list[pick(list.length)]!;
  const numeric = (depth: number): string => {
    if (depth === 0) return one(['x', 'y', `${pick(9) - 3}`, '0.5', 'x', 'y']);
    const own = () => numeric(depth - 1);
    return one([
      () => `(${own()} + ${own()})`,
      () => `(${own()} - ${own()})`,
      () => `(${own()} * ${one(['2', '3', '-1', 'x', 'y'])})`,
      () => `FLOOR(${own()} / ${one(['2.0', '3.0', '10.0'])})`,
      () => `CEIL(${own()} / 4.0)`,
      () => `COALESCE(${own()}, 1)`,
      () => `CASE WHEN ${test(depth - 1)} THEN ${own()} WHEN ${test(depth - 1)} THEN NULL ELSE ${own()} END`,
    ])();
  };
  const label = (depth: number): string =>
    depth === 0
      ? 'p'
      : `CASE WHEN ${test(depth - 1)} THEN 'low' WHEN ${test(depth - 1)} THEN p ELSE ${one(["'rest'", 'NULL', "'a'"])} END`;
  const test = (depth: number): string => {
    if (depth === 0)
      return one([
        () => `x ${one(['<', '<=', '>', '>=', '=', '<>'])} ${pick(22) - 4}`,
        () => `y BETWEEN ${pick(5)} AND ${3 + pick(5)}.5`,
        () => `p ${one(['=', '<>'])} '${one(['a', 'b', 'c'])}'`,
        () => `p ${one(['IN', 'NOT IN'])} ('a', 'c')`,
        () => `x ${one(['IN', 'NOT IN'])} (1, 2, 7)`,
        () => `${one(['x', 'y', 'p', 'q'])} IS ${one(['', 'NOT '])}NULL`,
        () => `x > y`,
      ])();
    const own = () => test(depth - 1);
    return one([
      () => `(${own()} AND ${own()})`,
      () => `(${own()} OR ${own()})`,
      () => `NOT (${own()})`,
      () => `${numeric(1)} ${one(['<', '>=', '='])} ${pick(6)}`,
      () => `${label(1)} ${one(["= 'low'", "IN ('rest', 'a')", 'IS NULL'])}`,
      own,
    ])();
  };
  return { numeric, label, test, one, pick };
};

/** The integers of a statement, by every way of counting, finished without noise. */
async function answers(sql: string): Promise<ReadonlyMap<string, number | null>> {
  const bound = bindBatch(parseSql(sql, policy), policy);
  const counted = (await countByDatabase(data, policy, bound.measures)).map((cells) => [...cells.open()]);
  const streamed = (await countStreaming(data, policy, bound.measures)).map((cells) => [...cells.open()]);
  expect([sql, streamed]).toEqual([sql, counted]);
  for (const plan of compileMeasures(bound.measures, { dialect: data.dialect, policy: policy, columns: await data.columns() }))
    for (const [i, cells] of readCounts(plan, bound.measures, (await data.rows(plan.statement)).open()))
      expect([sql, cells]).toEqual([sql, counted[i]]);
  const noisy = counted.map((values): NoisyMeasure => ({ noise: { kind: 'none' }, values }));
  const [table] = bound.finish(noisy);
  return new Map(table!.rows.map(({ keys, value }) => [keys.join(), value]));
}
async function own(sql: string): Promise<readonly (readonly [string, number])[]> {
  const found = await (await raw.runAndReadAll(sql)).getRows();
  return found.map((row) => [row.length === 1 ? '' : row[0] === null ? '(missing)' : `${row[0]}`, Number(row.at(-1))] as const);
}

describe('SQL expressions over rows', () => {
  it(`is what DuckDB says of them: ${many} random expressions`, { timeout: 3_600_000 }, async () => {
    let refused = 0;
    for (let seed = 1; seed <= many; seed++) {
      const make = random(seed);
      const test = make.test(make.pick(4));
      const key = make.label(1 + make.pick(2));
      const value = make.numeric(1 + make.pick(2));
      const statements = [
        `SELECT COUNT(*) FROM survey WHERE ${test}`,
        `SELECT ${key} AS k, COUNT(*) FROM survey WHERE ${test} GROUP BY k`,
        `SELECT SUM(${value}) FROM survey WHERE ${test}`,
        `SELECT COUNT(DISTINCT ${value}) FROM survey WHERE ${test}`,
      ];
      for (const sql of statements) {
        let found: ReadonlyMap<string, number | null>;
        try {
          found = await answers(sql);
        } catch (error) {
          // Codes that an expression cannot have, a value in no row: refused, never counted wrongly.
          if (!/is not in the declared domain|has no value in any row/.test(`${error}`)) throw error;
          refused++;
          continue;
        }
        const expected = await own(sql.replace('AS k, COUNT', 'AS k, COUNT'));
        for (const [group, n] of expected) expect([sql, group, found.get(group) ?? 0]).toEqual([sql, group, n]);
        const rest = [...found].filter(([group, n]) => n !== 0 && n !== null && !expected.some(([other]) => other === group));
        expect([sql, rest]).toEqual([sql, []]);
      }
    }
    expect(refused).toBeLessThan(many);
  });

  it('an expression has exactly the bounds that its parts allow', () => {
    const bounds = (expression: string) => {
      const [measure] = bindBatch(parseSql(`SELECT SUM(${expression}) FROM survey`, policy), policy).measures;
      const { column } = measure!.counting.derived!.at(-1)!;
      return 'bounds' in column ? [...column.bounds.map(toNumber), toNumber(column.step)] : [];
    };
    expect(bounds('x + y')).toEqual([-5, 28, 0.5]);
    expect(bounds('x * y')).toEqual([-40, 160, 0.5]);
    expect(bounds('2 - x / 4')).toEqual([-3, 3.25, 0.25]);
    expect(bounds('FLOOR(x / 10) * 10')).toEqual([-10, 20, 10]);
    expect(bounds('ROUND(y)')).toEqual([0, 8, 1]);
    expect(bounds('(x + 5) % 7')).toEqual([0, 6, 1]);
    expect(bounds("CASE WHEN p = 'a' THEN 1 ELSE 0 END")).toEqual([0, 1, 1]);
  });

  it('an expression without bounds is refused, with a way to write it', () => {
    const fault = (sql: string) => {
      try {
        bindBatch(parseSql(sql, policy), policy);
      } catch (error) {
        return error as { code: string; hint: string };
      }
      throw new Error(`accepted: ${sql}`);
    };
    expect(fault('SELECT SUM(x / y) FROM survey').hint).toContain('SUM(a) / SUM(b)');
    expect(fault('SELECT SUM(p + 1) FROM survey').hint).toContain('CASE grade');
    expect(fault('SELECT SUM(x * x * x * x * x * x * x * x * x * x) FROM survey').hint).toContain('ROUND or FLOOR');
    // Each square fits, and so does the difference; the intermediate values do not.
    const far = {
      ...samplePolicy([number('g', '60000000', '60000001'), number('h', '60000900', '60000901')]),
      data: policy.data,
    };
    const between = 'SELECT SUM(FLOOR(g * g / 1000003 - h * h / 1000033)) FROM survey';
    expect(() => bindBatch(parseSql(between, far), far)).toThrow(/more possible values/);
    expect(fault("SELECT COUNT(*) FROM survey WHERE CASE WHEN x > 1 THEN 'a' END = 'z'").code).toBe('VALUE_UNKNOWN');
  });
});
