import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openNow } from '../../../test/now.js';
import { category, number, sampleColumns, samplePolicy } from '../../../test/sample-policy.js';
import type { Snapshot } from '../../data/engine/engine.js';
import { sourceOf } from '../../data/terms/source.js';
import type { DeclaredTie } from '../../data/ties/kinds.js';
import type { Column, Policy } from '../../policy/policy.js';
import { bindBatch } from '../bind.js';
import { parseBatch } from '../parse.js';
import { countByDatabase, countStreaming } from './count.js';
import { compileMeasures, readCounts } from './groups.js';
import type { Measure } from './measure.js';
import { columnsRead } from './measure.js';
import { compileStream } from './stream.js';

const folder = mkdtempSync(join(tmpdir(), 'fugu-count-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Codes, blanks around them, codes outside the domain, missing codes, other spellings of a number, nothing. */
const texts = {
  age: ['17', ' 18', '44.5', '90', '99', 'nan', ''],
  income: ['-2.5', '0.025', '7.2', '-9', '1e400', ''],
  party: ['dem', ' rep', 'other ', 'refused', 'REP', '\tdem', '"dem\n"', 'unheard of', ''],
  grade: ['1', '2.0', '3.00', ' 3', '4', '\t1.0', '1.5', '+1', '-0', ''],
  media: ['tv', 'web;tv', ';', 'radio', 'tv;tv', ''],
  w: ['0.2', '1', '4.96', '-1', ''],
};
const names = Object.keys(texts) as (keyof typeof texts)[];

const spare = Array.from({ length: 40 }, (_, k) => `spare${k}`);
const little = { memory: 72 * 2 ** 20, threads: 1 };

function csv(rows: number): string {
  let state = 7;
  const pick = (n: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
  // Undeclared columns make the table too wide to be held in little memory.
  const line = () => [...names.map((n) => texts[n][pick(texts[n].length)]!), `p${pick(rows / 5)}`, ...spare].join(',');
  return `${[...names, 'who', ...spare].join(',')}\n${Array.from({ length: rows }, line).join('\n')}\n`;
}

const batch = parseBatch([
  { kind: 'count' },
  { kind: 'histogram', column: 'party' },
  { kind: 'histogram', column: 'grade', by: ['party'] },
  { kind: 'histogram', column: 'media', by: ['grade'] },
  { kind: 'crosstab', columns: ['grade', 'age'] },
  { kind: 'share', column: 'party', values: ['dem', 'rep'], by: ['grade'] },
  { kind: 'count', where: [{ column: 'party', op: '!=', value: 'rep' }], by: ['grade'] },
  { kind: 'count', where: [{ column: 'party', op: 'missing' }] },
  { kind: 'mean', column: 'age', by: ['party'] },
  { kind: 'variance', column: 'income', by: ['grade'], weight: 'w' },
  { kind: 'quantile', column: 'age', at: [0.5], by: ['party'] },
]);

async function bySql(engine: Snapshot, policy: Policy, measures: readonly Measure[]): Promise<bigint[][]> {
  const found: bigint[][] = [];
  for (const plan of compileMeasures(measures, { dialect: engine.dialect, policy: policy, columns: await engine.columns() }))
    for (const [i, cells] of readCounts(plan, measures, (await engine.rows(plan.statement)).open())) found[i] = cells;
  return found;
}

const policies: readonly [string, Policy][] = [
  ['rows', samplePolicy(sampleColumns)],
  ['persons', samplePolicy(sampleColumns, { secret: 'person', unit: 'who', maxRows: 3 })],
];

/** The same data from an engine that was given no domains and keeps every text, so only spellings of codes are normalised. */
const keeping = (policy: Policy) => ({ ...sourceOf(policy), domains: new Map() });

describe.each(policies)('counting a table of %s', (secret, bare) => {
  const source = join(folder, `${secret}.csv`);
  const policy = { ...bare, data: { source } };
  const { measures } = bindBatch(batch, policy);
  let truth: bigint[][];
  beforeAll(async () => {
    writeFileSync(source, csv(3000));
    const engine = await openNow(keeping(policy));
    truth = await bySql(engine, policy, measures);
    await engine.close();
  });

  const agree = async (engine: Snapshot, coded: boolean) => {
    const { statement } = compileStream(columnsRead([measures[1]!]), {
      dialect: engine.dialect,
      policy: policy,
      columns: await engine.columns(),
    });
    for await (const block of engine.stream(statement)) expect(block.open().stored?.[0]?.words !== undefined).toBe(coded);
    expect(await bySql(engine, policy, measures)).toEqual(truth);
    expect((await countByDatabase(engine, policy, measures)).map((cells) => cells.open())).toEqual(truth);
    expect((await countStreaming(engine, policy, measures)).map((cells) => cells.open())).toEqual(truth);
    expect((await countStreaming(engine, policy, measures, 2)).map((cells) => cells.open())).toEqual(truth);
    await engine.close();
  };

  it('categories held as codes and categories read as text give the same integers', async () => {
    await agree(await openNow(policy), true);
    await agree(await openNow(policy, little), true);
    await agree(await openNow(keeping(policy)), false);
  });

  it('a database that keeps its text gives the same integers', async () => {
    const copy = { ...policy, data: { source: join(folder, `${secret}.duckdb`) } };
    const engine = await openNow({ source, codes: new Set(['party', 'grade']) });
    const all = [...names, 'who'];
    const shown = all.map((n) => `"${n}"`).join(', ');
    const rows = (await engine.rows({ sql: `SELECT ${shown} FROM fugu_data`, values: [] })).open();
    await engine.close();
    const instance = await DuckDBInstance.create(copy.data.source);
    const connection = await instance.connect();
    await connection.run(`CREATE TABLE t (${all.map((n) => `"${n}" VARCHAR`).join(', ')})`);
    const appender = await connection.createAppender('t');
    for (const row of rows) {
      for (const cell of row) cell === null ? appender.appendNull() : appender.appendVarchar(`${cell}`);
      appender.endRow();
    }
    appender.closeSync();
    connection.closeSync();
    instance.closeSync();
    await agree(await openNow(copy), true);
  });

  it('counting in the database and counting here give the same integers', async () => {
    await agree(await openNow(policy), true);
  });
});

describe('a category that names tied records', () => {
  it('a category that names ties keeps its own text, declared or not', async () => {
    const source = join(folder, 'tied.csv');
    writeFileSync(source, 'party,grade,who\ndem,1,a\nnobody knows,7,b\n');
    const groups: DeclaredTie = { kind: 'groups', by: ['party'], oddsRatio: 2, hidden: false };
    const policy: Policy = {
      ...samplePolicy(sampleColumns.filter(({ name }) => name === 'party' || name === 'grade')),
      data: { source },
      dependence: [groups],
    };
    const engine = await openNow(policy);
    const rows = (await engine.rows({ sql: 'SELECT party, grade FROM fugu_data ORDER BY who', values: [] })).open();
    expect(rows).toEqual([
      ['dem', '1'],
      ['nobody knows', null],
    ]);
    await engine.close();
  });
});

describe('numbers in a Parquet file', () => {
  const cases = ['SMALLINT', 'UTINYINT', 'BIGINT', 'DOUBLE', 'FLOAT', 'DECIMAL(9,2)', 'HUGEINT', 'BOOLEAN'];
  it.each(cases)('numbers with NULLs, fractions, negative and large values are counted alike (%s)', async (type) => {
    const source = join(folder, `whole-${cases.indexOf(type)}.parquet`);
    const instance = await DuckDBInstance.create(':memory:');
    const connection = await instance.connect();
    await connection.run(
      `COPY (SELECT TRY_CAST(CASE WHEN i % 7 = 0 THEN NULL WHEN i % 11 = 0 THEN 'nan' WHEN i % 13 = 0 THEN '1e300' WHEN i % 17 = 0 THEN '2.5'
         WHEN i % 19 = 0 THEN '-0.0' ELSE (i % 300 - 3)::VARCHAR END AS ${type}) AS grade, (i % 256)::UTINYINT AS age, i AS who
       FROM range(6000) t(i)) TO '${source}'`,
    );
    instance.closeSync();
    const policy: Policy = {
      ...samplePolicy([...sampleColumns.filter(({ name }) => name === 'age'), category('grade', ['0', '1', '2', '250', '-3'])]),
      data: { source },
    };
    const { measures } = bindBatch(
      parseBatch([
        { kind: 'histogram', column: 'grade' },
        { kind: 'crosstab', columns: ['grade', 'age'] },
        { kind: 'count', where: [{ column: 'grade', op: 'in', values: ['1', '2'] }], by: ['grade'] },
      ]),
      policy,
    );
    const bare = await openNow({ source });
    const truth = await bySql(bare, policy, measures);
    expect((await countStreaming(bare, policy, measures)).map((cells) => cells.open())).toEqual(truth);
    expect((await countByDatabase(bare, policy, measures)).map((cells) => cells.open())).toEqual(truth);
    await bare.close();
    // Once held in memory, once read from the file every time.
    for (const limits of [{}, { memory: 5 * 2 ** 20, threads: 1 }]) {
      const engine = await openNow(policy, limits);
      expect(await bySql(engine, policy, measures)).toEqual(truth);
      expect((await countStreaming(engine, policy, measures)).map((cells) => cells.open())).toEqual(truth);
      expect((await countByDatabase(engine, policy, measures)).map((cells) => cells.open())).toEqual(truth);
      await engine.close();
    }
    expect(truth[0]!.filter((n) => n > 5n).length).toBeGreaterThan(type === 'BOOLEAN' ? 0 : 3);
  });
});

describe('places of numbers that the engine stores', () => {
  it('stored places serve the grid they were computed for, and no other', async () => {
    const source = join(folder, 'places.csv');
    writeFileSync(
      source,
      `age,party\n${['17', '18.5', '44', '90.2', '1e9', '-3', '99', 'nan', '', '25'].map((x) => `${x},dem`).join('\n')}\n`,
    );
    const declared = (low: string, high: string, step: string, missing: readonly string[]) => ({
      ...samplePolicy([{ ...number('age', low, high, step), missing } as Column, category('party', ['dem', 'rep'])]),
      data: { source },
    });
    const policies = [
      declared('17', '90', '1', ['99']),
      declared('17', '90', '1', []),
      declared('0', '50', '0.5', ['99']),
      declared('17', '90', '2', ['25']),
    ];
    const { measures: selected } = bindBatch(parseBatch([{ kind: 'mean', column: 'age' }]), policies[0]!);
    expect(selected.length).toBe(2);
    for (const opened of policies) {
      const engine = await openNow(opened);
      const bare = await openNow({ source });
      expect((await engine.columns()).filter((c) => c.places).map((c) => c.name)).toEqual(['age']);
      expect((await bare.columns()).filter((c) => c.places)).toEqual([]);
      for (const policy of policies) {
        const { measures } = bindBatch(
          parseBatch([
            { kind: 'mean', column: 'age', by: ['party'] },
            { kind: 'variance', column: 'age' },
            { kind: 'count', where: [{ column: 'age', op: '>', value: 20 }] },
            { kind: 'count', where: [{ column: 'age', op: '!=', value: 44 }] },
            { kind: 'histogram', column: 'age' },
            { kind: 'quantile', column: 'age', at: [0.5] },
          ]),
          policy,
        );
        const truth = (await countStreaming(bare, policy, measures)).map((cells) => cells.open());
        expect((await countByDatabase(engine, policy, measures)).map((cells) => cells.open())).toEqual(truth);
        expect((await countStreaming(engine, policy, measures)).map((cells) => cells.open())).toEqual(truth);
      }
      await bare.close();
      await engine.close();
    }
  });
});

describe('a table of many columns', () => {
  it('no statement over a wide table names more than a thousand of its columns', async () => {
    const wide = Array.from({ length: 2_500 }, (_, k) => `q${k}`);
    writeFileSync(join(folder, 'wide.csv'), `${wide.join()}\n${wide.map(() => 'a').join()}\n${wide.map(() => 'b').join()}\n`);
    const policy = samplePolicy(wide.map((name) => category(name, ['a', 'b'])));
    const { measures } = bindBatch({ queries: wide.map((column) => ({ kind: 'histogram', column })) }, policy);
    const engine = await openNow({ source: join(folder, 'wide.csv'), codes: new Set(wide) });
    const named: number[] = [];
    const watched: Snapshot = Object.assign(Object.create(engine) as Snapshot, {
      columns: () => engine.columns(),
      stream: (statement: Parameters<Snapshot['stream']>[0]) => {
        named.push(statement.sql.match(/"q\d+"/g)!.length);
        return engine.stream(statement);
      },
    });
    const counted = await countStreaming(watched, policy, measures);
    expect(counted.map((cells) => cells.open())).toEqual(wide.map(() => [1n, 1n, 0n]));
    expect(named).toEqual([834, 834, 832]);
    await engine.close();
  });

  it('a wide table has the same cells when it is split, read whole, or narrow enough to be held', async () => {
    const cells = [
      ...texts.grade,
      '\u00a01',
      '1\u00a0',
      '\u2003\t1',
      '\t\u20031',
      '\u3000 2.0',
      '\ufeff1',
      '\u200b1',
      '1\u0000',
      ' 1.0 ',
      '01',
      '1.',
      '.0',
      '10.0',
      'é',
      'x'.repeat(200),
    ].filter((t) => !t.includes('"'));
    const all = Array.from({ length: 2_100 }, (_, k) => `q${k}`);
    const selected = [...all.slice(0, 20), ...all.slice(690, 710), ...all.slice(-20)];
    const cell = (i: number, name: string) =>
      cells[(i * 7 + Number(name.slice(1)) * 3) % (i % 5 === 0 ? cells.length : cells.length - 1)]!;
    const table = (columns: readonly string[], quoted = '') =>
      `${columns.join()}\n${Array.from({ length: 60 }, (_, i) => columns.map((name, c) => (i === 7 && c === 3 && quoted ? `"${cell(i, name)}"` : cell(i, name))).join()).join('\n')}\n`;
    const columns = selected.map((name) => category(name, ['1', '2', '3', '10', '-0', 'é']));
    const found: bigint[][][] = [];
    for (const [name, text] of [
      ['split', table(all)],
      ['whole', table(all, 'quoted')],
      ['narrow', table(selected)],
    ] as const) {
      const source = join(folder, `${name}.csv`);
      writeFileSync(source, text);
      const policy = { ...samplePolicy(columns), data: { source } };
      const { measures } = bindBatch({ queries: selected.map((column) => ({ kind: 'histogram', column })) }, policy);
      const engine = await openNow(policy);
      const shown = await engine.columns();
      expect(shown.some((c) => c.block !== undefined)).toBe(name === 'split');
      expect(shown.some((c) => c.written !== undefined)).toBe(name === 'split');
      found.push((await countStreaming(engine, policy, measures)).map((c) => [...c.open()]));
      // By the database, which reads codes as it shows them.
      const few = measures.slice(0, 3);
      expect((await countByDatabase(engine, policy, few)).map((c) => c.open())).toEqual(found.at(-1)!.slice(0, 3));
      await engine.close();
    }
    expect(found[0]).toEqual(found[2]);
    expect(found[1]).toEqual(found[2]);
    expect(found[0]!.flat().filter((n) => n > 0n).length).toBeGreaterThan(120);
  });

  it('the rows of a person in a wide table are chosen by all of its columns', async () => {
    const wide = Array.from({ length: 1_100 }, (_, k) => `p${k}`);
    const line = (who: string, cell: string) => `${who},${wide.map(() => cell).join()}`;
    writeFileSync(
      join(folder, 'persons.csv'),
      [`who,${wide.join()}`, line('x', 'a'), line('x', 'a'), line('y', 'b'), ''].join('\n'),
    );
    const base = samplePolicy(wide.map((name) => category(name, ['a', 'b'])));
    const policy: Policy = { ...base, protect: { ...base.protect, secret: 'person', unit: 'who', maxRows: 1 } };
    const { measures } = bindBatch({ queries: [{ kind: 'histogram', column: 'p7' }] }, policy);
    const engine = await openNow({ source: join(folder, 'persons.csv'), codes: new Set(wide) });
    const counted = await countByDatabase(engine, policy, measures);
    expect(counted.map((cells) => cells.open())).toEqual([[1n, 1n, 0n]]);
    await engine.close();
  });
});

describe('whole numbers as group keys', () => {
  it('whole numbers are clamped to their bounds, and missing ones have no place', async () => {
    const source = join(folder, 'whole.duckdb');
    const instance = await DuckDBInstance.create(source);
    const connection = await instance.connect();
    await connection.run(
      "CREATE TABLE people AS SELECT * FROM (VALUES (3, 'a'), (17, 'a'), (18, NULL), (18, 'b'), (20, 'b'), (21, 'a'), (NULL, 'a'), (-2147483648, 'b'), (30, 'b')) AS v(age, g)",
    );
    instance.closeSync();
    const policy = { ...samplePolicy([number('age', '17', '20'), category('g', ['a', 'b'])]), data: { source, table: 'people' } };
    const selected = [{ kind: 'quantile', column: 'age', at: [0.5] }, { kind: 'quantile', column: 'age', at: [0.5], by: ['g'] }, { kind: 'sum', column: 'age' }]; // biome-ignore format: one line
    const { measures } = bindBatch(parseBatch(selected), policy);
    // Read as it is, without stored places.
    const engine = await openNow({ source, table: 'people' });
    const found = (await bySql(engine, policy, measures)).map((cells) => cells.map(Number));
    expect((await countStreaming(engine, policy, measures)).map((cells) => cells.open().map(Number))).toEqual(found);
    await engine.close();
    expect(found).toEqual([[3, 2, 0, 3], [2, 0, 0, 1, 1, 1, 0, 2, 0, 1, 0, 0], [3 * 17 + 2 * 18 + 3 * 20]]); // biome-ignore format: one line
  });
});
