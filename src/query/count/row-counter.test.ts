import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { garbageBatch as batch, randomRows, surveyNames } from '../../../test/garbage-survey.js';
import { sampleColumns, samplePolicy } from '../../../test/sample-policy.js';
import { duckdb } from '../../data/engine/duckdb/dialect.js';
import type { Cell, SourceColumn, Statement } from '../../data/engine/engine.js';
import type { Policy } from '../../policy/policy.js';
import { bindBatch } from '../bind.js';
import { parseBatch } from '../parse.js';
import { compileMeasures, readCounts, readGroups } from './groups.js';
import type { Measure } from './measure.js';
import { columnsRead } from './measure.js';
import { rowCounter } from './row-counter.js';
import { compileStream } from './stream.js';

type Connection = Awaited<ReturnType<DuckDBInstance['connect']>>;
let instance: DuckDBInstance;
let connection: Connection;
beforeAll(async () => {
  instance = await DuckDBInstance.create(':memory:', { threads: '2' });
  connection = await instance.connect();
});
afterAll(() => {
  connection.closeSync();
  instance.closeSync();
});

const rowsOf = async ({ sql, values }: Statement): Promise<Cell[][]> =>
  (await connection.runAndReadAll(sql, [...values])).getRows() as Cell[][];

async function bySql(measures: readonly Measure[], policy: Policy, source: readonly SourceColumn[]): Promise<bigint[][]> {
  const found: bigint[][] = [];
  for (const plan of compileMeasures(measures, { dialect: duckdb, policy: policy, columns: source }))
    for (const [i, cells] of readCounts(plan, measures, await rowsOf(plan.statement))) found[i] = cells;
  return found;
}

/** Codes looked up here instead of by the database, where possible. With `rows`, numbers may be added in doubles; without, in integers. */
async function byGroups(
  measures: readonly Measure[],
  policy: Policy,
  source: readonly SourceColumn[],
  rows?: number,
): Promise<bigint[][]> {
  const found: bigint[][] = [];
  for (const plan of compileMeasures(measures, { dialect: duckdb, policy: policy, columns: source, rows: rows })) {
    const few = plan.groups && readGroups(plan, measures, await rowsOf(plan.groups.statement));
    if (few) for (const [i, cells] of few) found[i] = cells;
  }
  return found;
}

async function byStream(measures: readonly Measure[], policy: Policy, source: readonly SourceColumn[]): Promise<bigint[][]> {
  const { statement, columns } = compileStream(columnsRead(measures), { dialect: duckdb, policy: policy, columns: source });
  const counter = rowCounter(measures, columns, policy);
  const rows = await rowsOf(statement);
  for (let from = 0; from < rows.length; from += 100) {
    const part = rows.slice(from, from + 100);
    counter.add({ columns: columns.map((_, j) => part.map((row) => row[j]!)), rows: part.length });
  }
  return counter.totals();
}

async function load(
  types: Record<string, string>,
  rows: readonly (readonly (string | null)[])[],
): Promise<readonly SourceColumn[]> {
  await connection.run('DROP VIEW IF EXISTS fugu_data; DROP TABLE IF EXISTS raw');
  await connection.run(`CREATE TABLE raw (${surveyNames.map((n) => `${n} VARCHAR`).join(', ')}, who VARCHAR)`);
  const quote = (x: string | null) => (x === null ? 'NULL' : `'${x.replaceAll("'", "''")}'`);
  await connection.run(`INSERT INTO raw VALUES ${rows.map((row) => `(${row.map(quote).join(', ')})`).join(', ')}`);
  const columns = [...surveyNames, 'who'].map((n) => (types[n] ? `TRY_CAST(${n} AS ${types[n]}) AS ${n}` : n));
  await connection.run(
    `CREATE TABLE IF NOT EXISTS typed AS SELECT 1; DROP TABLE typed; CREATE TABLE typed AS SELECT ${columns.join(', ')} FROM raw`,
  );
  const shown = [...surveyNames, 'who'].map((name) => ({ name, ...showAs(types[name]) }));
  await connection.run(
    `CREATE VIEW fugu_data AS SELECT ${shown.map(({ name, cast }) => `CAST(${name} AS ${cast}) AS ${name}`).join(', ')} FROM typed`,
  );
  return shown;
}
/** As an engine shows stored types. */
function showAs(type = 'VARCHAR'): { readonly type: SourceColumn['type']; readonly cast: string } {
  if (/HUGEINT|UBIGINT|VARCHAR/.test(type)) return { type: 'text', cast: 'VARCHAR' };
  if (/INT/.test(type)) return { type: 'integer', cast: type };
  return { type: 'real', cast: 'DOUBLE' };
}

describe('the ways to count', () => {
  const typings: readonly [string, Record<string, string>][] = [
    ['text', {}],
    ['stored numbers', { age: 'INTEGER', income: 'DOUBLE', grade: 'DOUBLE', w: 'DOUBLE' }],
    ['odd types', { age: 'DOUBLE', income: 'DECIMAL(9,4)', grade: 'BIGINT', w: 'FLOAT', party: 'VARCHAR' }],
    ['tiny and huge integers', { age: 'UTINYINT', income: 'HUGEINT', grade: 'SMALLINT', w: 'UBIGINT' }],
  ];
  it.each(typings)('all ways to count give the same integers on garbage, NULL, NaN and infinities (%s)', async (_, types) => {
    const policy = samplePolicy(sampleColumns);
    const { measures } = bindBatch(batch, policy);
    for (const seed of [1, 2]) {
      const source = await load(types, randomRows(seed, 700));
      const sql = await bySql(measures, policy, source);
      const stream = await byStream(measures, policy, source);
      const groups = await byGroups(measures, policy, source);
      const quick = await byGroups(measures, policy, source, 700);
      measures.forEach((measure, i) => {
        expect([measure.name, i, stream[i]]).toEqual([measure.name, i, sql[i]]);
        if (groups[i]) expect([measure.name, i, groups[i]]).toEqual([measure.name, i, sql[i]]);
        if (quick[i]) expect([measure.name, i, quick[i]]).toEqual([measure.name, i, sql[i]]);
      });
      expect(groups.filter(Boolean).length).toBeGreaterThan(measures.length / 2);
      expect(sql.flat().filter((n) => n !== 0n).length).toBeGreaterThan(100);
    }
  });

  it('special doubles stay distinct in all ways to count', async () => {
    const policy = samplePolicy(sampleColumns);
    const { measures } = bindBatch(
      parseBatch([
        { kind: 'histogram', column: 'income' },
        { kind: 'sum', column: 'income' },
      ]),
      policy,
    );
    const source = await load({ income: 'DOUBLE' }, [
      ...['NaN', 'Infinity', '-Infinity', null].map((x) => [null, x, null, null, null, null, null]),
      ...['1.7976931348623157e308', '-1.7976931348623157e308', '5e-324', '-0'].map((x) => [
        null,
        x,
        null,
        null,
        null,
        null,
        null,
      ]),
    ]);
    const sql = await bySql(measures, policy, source);
    expect(sql).toEqual(await byStream(measures, policy, source));
    expect(sql[0]!.at(-1)).toBe(4n);
    expect(sql[1]![0]).toBe(BigInt(Math.round((7.25 - 2.5) / 0.05)));
  });

  it('halves are rounded alike in all ways to count', async () => {
    const policy = samplePolicy(sampleColumns);
    const { measures } = bindBatch(
      parseBatch([
        { kind: 'quantile', column: 'income', at: [0.5] },
        { kind: 'mean', column: 'income' },
      ]),
      policy,
    );
    const halves = Array.from({ length: 195 }, (_, p) => [null, `${-2.5 + (p + 0.5) * 0.05}`, null, null, null, null, null]);
    const exact = Array.from({ length: 196 }, (_, p) => [null, `${(-250 + p * 5) / 100}`, null, null, null, null, null]);
    for (const type of ['DOUBLE', 'FLOAT', '']) {
      const source = await load(type ? { income: type } : {}, [...halves, ...exact]);
      const sql = await bySql(measures, policy, source);
      expect(sql).toEqual(await byStream(measures, policy, source));
      expect(await byGroups(measures, policy, source, halves.length + exact.length)).toEqual(sql);
      expect(sql[0]!.every((n) => n > 0n)).toBe(true);
    }
    const [grid] = await bySql(measures, policy, await load({ income: 'DOUBLE' }, exact));
    expect(grid!.every((n) => n === 1n)).toBe(true);
  });

  it('all ways to count agree with a count by hand', async () => {
    const policy = samplePolicy(sampleColumns);
    const ask = parseBatch([
      { kind: 'histogram', column: 'party' },
      { kind: 'sum', column: 'age' },
      { kind: 'histogram', column: 'media' },
    ]);
    const { measures } = bindBatch(ask, policy);
    const row = (age: string | null, party: string | null, media: string | null) => [age, null, party, null, media, null, null];
    const source = await load({}, [
      row('16', 'dem', 'tv;web'),
      row('100', ' dem ', 'tv'),
      row('99', 'rep', 'radio'),
      row('20', 'refused', null),
      row('nan', null, 'web;web'),
    ]);
    const expected = [[2n, 1n, 0n, 2n], [17n + 90n + 20n], [2n, 2n, 0n, 2n]];
    expect(await bySql(measures, policy, source)).toEqual(expected);
    expect(await byStream(measures, policy, source)).toEqual(expected);
  });

  it('the database looks up codes when text outside the domain makes too many groups', async () => {
    const policy = samplePolicy(sampleColumns);
    const { measures } = bindBatch(parseBatch({ kind: 'histogram', column: 'party' }), policy);
    const source = await load({}, [[null, null, 'rep', null, null, null, null]]);
    await connection.run("INSERT INTO typed (party) SELECT 'made up ' || range FROM range(20000)");
    const [plan] = compileMeasures(measures, { dialect: duckdb, policy: policy, columns: source });
    const rows = await rowsOf(plan!.groups!.statement);
    expect(rows.length).toBe(plan!.groups!.most + 1);
    expect(readGroups(plan!, measures, rows)).toBeUndefined();
    expect(await bySql(measures, policy, source)).toEqual([[0n, 1n, 0n, 20000n]]);
  });
});

describe('rows of one person', () => {
  const protect = { secret: 'person', unit: 'who', maxRows: 2 } as const;
  const policy = samplePolicy(sampleColumns, protect);
  const { measures } = bindBatch(parseBatch([{ kind: 'count' }, { kind: 'histogram', column: 'party' }]), policy);
  const line = (who: string | null, party: string): (string | null)[] => [null, null, party, null, null, null, who];

  it("a person's rows are bounded to maxRows, and rows without a name are left out", async () => {
    const source = await load({}, [
      line('a', 'dem'),
      line('a', 'dem'),
      line('a', 'dem'),
      line('b', 'rep'),
      line(null, 'other'),
      line(' ', 'other'),
    ]);
    const expected = [[3n], [2n, 1n, 0n, 0n]];
    expect(await bySql(measures, policy, source)).toEqual(expected);
    expect(await byStream(measures, policy, source)).toEqual(expected);
  });

  const kept = async (rows: (string | null)[][]) => (await bySql(measures, policy, await load({}, rows)))[1]!;
  const mine = ['dem', 'rep', 'other', 'dem', 'rep'];

  it('the kept rows of a person do not depend on other people or on the order of the file', async () => {
    const people = ['a', 'b', 'c', 'd'];
    const rows = people.flatMap((who) => mine.map((party) => line(who, party)));
    const alone = await kept(rows);
    const strangers = Array.from({ length: 9 }, (_, i) => line(`s${i}`, 'refused'));
    const crowded = await kept([...strangers, ...rows.flatMap((row, i) => [row, line(`t${i}`, 'refused')])]);
    expect(crowded.slice(0, 3)).toEqual(alone.slice(0, 3));
    expect(await kept([...rows].reverse())).toEqual(alone);
    expect(await kept([...rows.slice(7), ...rows.slice(0, 7)])).toEqual(alone);
    expect(alone.slice(0, 3).reduce((a, b) => a + b)).toBe(8n);
  });

  it('the choice of kept rows favours no value and no position in the file', async () => {
    const people = Array.from({ length: 300 }, (_, i) => `q${i}`);
    const rows = people.flatMap((who) => ['dem', 'dem', 'dem', 'rep'].map((party) => line(who, party)));
    const [dem, rep] = await kept(rows);
    expect(dem! + rep!).toBe(600n);
    // One row in four is "rep": 150 of 600 expected, standard deviation below 9.
    expect(Math.abs(Number(rep) - 150)).toBeLessThan(40);
  });

  it('all ways to count keep the same rows of a person', async () => {
    const all = bindBatch(batch, policy).measures;
    const source = await load({}, randomRows(5, 400));
    const sql = await bySql(all, policy, source);
    expect(await byStream(all, policy, source)).toEqual(sql);
    (await byGroups(all, policy, source)).forEach((cells, i) => {
      expect(cells).toEqual(sql[i]);
    });
  });
});
