import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { category, samplePolicy } from '../../../test/sample-policy.js';
import { duckdb } from '../../data/engine/duckdb/dialect.js';
import type { Cell, SourceColumn } from '../../data/engine/engine.js';
import type { MergedColumns, Policy, Protect } from '../../policy/policy.js';
import type { AdditiveDistribution } from '../../privacy/mechanism/distribution.js';
import { bindBatch } from '../bind.js';
import { compileMeasures, readCounts } from '../count/groups.js';
import type { Measure } from '../count/measure.js';
import { rowCounter } from '../count/row-counter.js';
import { parseBatch } from '../parse.js';

const names = ['served', 'branch', 'years'];
/** Persons who did not serve have no branch and no years. */
const cluster: MergedColumns = {
  columns: names,
  support: [['2', null, null], [null, null, null], ...['army', 'navy'].flatMap((b) => ['1', '2', '3'].map((y) => ['1', b, y]))],
};
const policyOf = (protect: Partial<Protect> = {}, merge: readonly MergedColumns[] = [cluster]): Policy => ({
  ...samplePolicy(
    [
      category('served', ['1', '2'], { missing: ['-9'] }),
      category('branch', ['army', 'navy'], { missing: ['-1'] }),
      category('years', ['1', '2', '3'], { missing: ['-1'] }),
      category('form', ['a', 'b'], { public: true }),
    ],
    protect,
  ),
  merge,
});
const policy = policyOf();
const merged = (more: object = {}) => names.map((column) => ({ kind: 'histogram', column, merged: true, ...more }));
const separately = (more: object = {}) => names.map((column) => ({ kind: 'histogram', column, ...more }));

type Row = readonly [string | null, string | null, string | null, string | null];
let state = 7;
const below = (n: number): number => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return Math.floor((state / 2 ** 32) * n);
};
const pick = <T>(list: readonly T[]): T => list[below(list.length)]!;
const allowedRow = (): Row => {
  const form = pick(['a', 'b']);
  const served = pick(['1', '1', '2', '-9']);
  return served === '1' ? ['1', pick(['army', 'navy']), pick(['1', '2', '3']), form] : [served, '-1', '-1', form];
};
const anyRow = (): Row => [
  pick(['1', '2', '-9', null]),
  pick(['army', 'navy', '-1', 'marines']),
  pick(['1', '2', '3', '-1', '77']),
  pick(['a', 'b', null]),
];

const counted = (measures: readonly Measure[], rows: readonly Row[]): bigint[][] => {
  const columns = ['served', 'branch', 'years', 'form'];
  const counter = rowCounter(measures, columns, policy);
  for (let from = 0; from < rows.length; from += 64) {
    const part = rows.slice(from, from + 64);
    counter.add({ columns: columns.map((_, c) => part.map((row) => row[c]!)), rows: part.length });
  }
  return counter.totals();
};
const none: AdditiveDistribution<number> = { kind: 'none' };
const tables = (queries: readonly object[], rows: readonly Row[]) => {
  const bound = bindBatch(parseBatch(queries), policy);
  return bound
    .finish(counted(bound.measures, rows).map((values) => ({ noise: none, values })))
    .map((table) => table.rows.map(({ keys, value }) => [...keys, value]));
};

describe('tables from a joint histogram', () => {
  it('tables from a joint histogram equal those of the single columns when every row is allowed, by group and with a filter', () => {
    const rows = Array.from({ length: 500 }, allowedRow);
    for (const more of [{}, { by: ['form'] }, { where: [{ column: 'form', op: '=', value: 'a' }] }])
      expect(tables(merged(more), rows)).toEqual(tables(separately(more), rows));
  });

  it('a row with a combination that is not allowed counts as missing in every table', () => {
    const rows: Row[] = [
      ['2', 'army', '1', 'a'],
      ['1', 'navy', '3', 'a'],
    ];
    const [served, branch, years] = tables(merged(), rows);
    expect(served).toEqual([
      ['1', 1],
      ['2', 0],
      ['(missing)', 1],
    ]);
    expect(branch!.at(-1)).toEqual(['(missing)', 1]);
    expect(years!.at(-1)).toEqual(['(missing)', 1]);
  });

  it('a joint histogram is one measure in which replacing a row changes two cells', () => {
    const { measures } = bindBatch(parseBatch(merged()), policy);
    expect(measures).toHaveLength(1);
    expect(measures[0]!.cells).toHaveLength(cluster.support.length + 1);
    expect(measures[0]).toMatchObject({ tables: 3 });
    expect([...measures[0]!.sensitivity]).toEqual([['*', { l1: 2n, l2squared: 2n }]]);
  });

  it('a joint histogram charges all merged answers, and only those, under secret answers', () => {
    const [measure] = bindBatch(parseBatch(merged()), policyOf({ secret: 'answer' })).measures;
    expect([...measure!.sensitivity.keys()].sort()).toEqual(['*', 'branch', 'served', 'years']);
    for (const stated of measure!.sensitivity.values()) expect(stated).toEqual({ l1: 2n, l2squared: 2n });
  });

  it('no replaced row and no changed answer exceeds the stated sensitivity of a joint histogram', () => {
    const [measure] = bindBatch(parseBatch(merged()), policy).measures;
    const rows = Array.from({ length: 300 }, anyRow);
    const vectors = rows.map((row) => counted([measure!], [row])[0]!);
    let most = 0;
    for (const a of vectors)
      for (const b of vectors)
        most = Math.max(
          most,
          a.reduce((sum, x, i) => sum + Math.abs(Number(x - b[i]!)), 0),
        );
    expect(most).toBe(2);
  });

  it('the error of a merged table grows with the number of joint cells that are added', () => {
    const bound = bindBatch(parseBatch(merged()), policy);
    const noise = { kind: 'laplace', scale: 10 } as const;
    const values = bound.measures[0]!.cells.map(() => 100n);
    const [served] = bound.finish([{ noise, values }]);
    const [yes, no, missing] = served!.rows;
    // 6 combinations have yes, 1 has no; (missing) holds the empty combination and all that are not allowed
    expect([yes!.value, no!.value, missing!.value]).toEqual([600, 100, 200]);
    expect(yes!.standardError! / no!.standardError!).toBeCloseTo(Math.sqrt(6), 6);
    expect(served!.error).toBe('combined');
    const half = yes!.high! - yes!.value!;
    expect(half).toBeGreaterThan(1.9 * yes!.standardError!);
    expect(half).toBeLessThan(2.1 * yes!.standardError!);
    const [expected] = bound.expectedErrors([noise]);
    expect(expected!.cells).toBe(3);
    expect(expected!.halfWidth).toBeCloseTo(half, 9);
  });

  it('a merged table of an unmerged column is refused', () => {
    expect(() => bindBatch(parseBatch({ kind: 'histogram', column: 'form', merged: true }), policy)).toThrow(/with no other/);
  });
});

describe('counting the joint histogram', () => {
  let instance: DuckDBInstance;
  beforeAll(async () => {
    instance = await DuckDBInstance.create(':memory:', { threads: '1' });
  });
  afterAll(() => instance.closeSync());

  it('the joint histogram is the same counted by the database and row by row', async () => {
    const rows = Array.from({ length: 400 }, (_, i) => (i % 2 ? allowedRow() : anyRow()));
    const connection = await instance.connect();
    const text = (cell: Cell) => (cell === null ? 'NULL' : `'${cell}'`);
    await connection.run(
      `CREATE TABLE fugu_data AS SELECT * FROM (VALUES ${rows.map((row) => `(${row.map(text).join(', ')})`).join(', ')}) AS t(served, branch, years, form)`,
    );
    const source: SourceColumn[] = ['served', 'branch', 'years', 'form'].map((name) => ({ name, type: 'text' }) as SourceColumn);
    const { measures } = bindBatch(parseBatch([...merged({ by: ['form'] }), ...merged()]), policy);
    expect(measures).toHaveLength(2);
    const found: bigint[][] = [];
    for (const plan of compileMeasures(measures, { dialect: duckdb, policy: policy, columns: source })) {
      const { sql, values } = plan.statement;
      const result = (await connection.runAndReadAll(sql, [...values])).getRows() as Cell[][];
      for (const [i, cells] of readCounts(plan, measures, result)) found[i] = cells;
    }
    expect(found).toEqual(counted(measures, rows));
    expect(found[1]!.reduce((a, b) => a + b)).toBe(400n);
    connection.closeSync();
  });
});
