import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Fault } from '../src/base/errors.js';
import type { Cell, Snapshot, Statement } from '../src/data/engine/engine.js';
import {
  type Course,
  type File,
  fuzz as fuzzIn,
  type MemoryTable,
  neighboursDiffer,
  streaming,
  type Tally,
  wanted,
} from './cell-fuzz.js';
import { type StoredType, storedTypes, type UglyCell } from './ugly-cells.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'fugu-cells-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function run(statements: readonly string[]): Promise<readonly (readonly unknown[])[]> {
  const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
  const connection = await instance.connect();
  let last: readonly (readonly unknown[])[] = [];
  for (const sql of statements) last = (await connection.runAndReadAll(sql)).getRows();
  connection.closeSync();
  instance.closeSync();
  return last;
}
const fill = (name: string, { columns, rows }: MemoryTable): string[] => [
  `CREATE TABLE ${name} (${columns.map((c) => `${c.name} ${c.stored.type}`).join(', ')})`,
  `INSERT INTO ${name} VALUES ${rows.map((row) => `(${row.map(({ sql }) => sql).join(', ')})`).join(', ')}`,
];
const pick = ({ columns, rows }: MemoryTable, names: ReadonlySet<string>): MemoryTable => {
  const kept = columns.flatMap(({ name }, i) => (names.has(name) ? [i] : []));
  return { columns: kept.map((i) => columns[i]!), rows: rows.map((row) => kept.map((i) => row[i]!)) };
};

/** The table in every kind of file, held by the engine and not. */
async function files(name: string, table: MemoryTable): Promise<readonly File[]> {
  const path = (ending: string) => join(folder, `${name}.${ending}`);
  const quoted = (cell: UglyCell) => (cell.text === null ? '' : `"${cell.text.replaceAll('"', '""')}"`);
  writeFileSync(
    path('csv'),
    [table.columns.map((c) => c.name).join(','), ...table.rows.map((row) => row.map(quoted).join(',')), ''].join('\n'),
  );
  await run([`ATTACH '${path('duckdb')}' AS d (STORAGE_VERSION 'v1.5.0')`, ...fill('d.data', table)]);
  // Only the types that Parquet gives back as they were.
  const types = async (from: string) =>
    (await run([`ATTACH '${path('duckdb')}' AS d (READ_ONLY)`, `DESCRIBE SELECT * FROM ${from}`])).map((r) => r.join());
  const writable = table.columns.filter((c) => !/UNION|VARIANT|INTERVAL|TIMESTAMP_M?S/.test(c.stored.type)).map((c) => c.name);
  const copy = (names: readonly string[], to: string) =>
    run([`ATTACH '${path('duckdb')}' AS d (READ_ONLY)`, `COPY (SELECT ${names.join(', ')} FROM d.data) TO '${path(to)}'`]);
  await copy(writable, 'first.parquet');
  const stored = new Set(await types('d.data'));
  const same = (await types(`'${path('first.parquet')}'`)).filter((t) => stored.has(t)).map((t) => t.split(',')[0]!);
  const some = pick(table, new Set(same));
  await copy(
    some.columns.map((c) => c.name),
    'parquet',
  );
  const little = 80 * 2 ** 20;
  return [
    { kind: 'csv', source: path('csv'), table, csv: true },
    { kind: 'csv read again', source: path('csv'), table, csv: true, memory: little },
    { kind: 'duckdb', source: path('duckdb'), table, csv: false },
    { kind: 'parquet', source: path('parquet'), table: some, csv: false },
    { kind: 'parquet read again', source: path('parquet'), table: some, csv: false, memory: little },
  ];
}

const fuzz = (seed: number, course: Omit<Course, 'stored' | 'write'>): Promise<Tally> =>
  fuzzIn(seed, { stored: storedTypes, write: files, ...course });
const oneDuckdb = async (name: string, table: MemoryTable): Promise<readonly File[]> => {
  const source = join(folder, `${name}.duckdb`);
  await run([`ATTACH '${source}' AS d (STORAGE_VERSION 'v1.5.0')`, ...fill('d.data', table)]);
  return [{ kind: 'duckdb', source, table, csv: false }];
};
const oneFile: Course['files'] = (list, reading) => [list[reading.length % list.length]!];

describe('one ugly cell', () => {
  it('an ugly cell never decides between an answer and a fault, and all counting methods agree with a reference', {
    timeout: 1e7,
  }, async () => {
    const tally: Tally = { cases: 0, wrong: [] };
    for (let seed = 1; seed === 1 || tally.cases < wanted; seed++) {
      const found = await fuzz(seed, { files: wanted > 0 ? (list) => list : oneFile });
      tally.cases += found.cases;
      tally.wrong.push(...found.wrong);
      if (wanted > 0) console.log(`seed ${seed}: ${tally.cases} cases, ${tally.wrong.length} wrong`);
      if (tally.wrong.length > 50) break;
    }
    expect(tally.wrong.slice(0, 10)).toEqual([]);
    expect(tally.cases).toBeGreaterThan(Math.max(1000, wanted));
  });

  const near = { stored: storedTypes, write: oneDuckdb, files: (list: readonly File[]) => list };
  it('an ugly cell changes neither the queries of the data, nor their trips, nor their outcome', { timeout: 1e7 }, async () => {
    for (const seed of wanted > 0 ? [1, 2, 3, 4, 5, 6] : [1]) {
      const { tried, asked: statements, wrong } = await neighboursDiffer(seed, { ...near, most: 4 });
      if (wanted > 0)
        console.log(`neighbours, seed ${seed}: ${tried} tried, ${statements} questions of each, ${wrong.length} wrong`);
      expect(wrong.slice(0, 5)).toEqual([]);
      expect([tried > 4, statements > 20]).toEqual([true, true]);
    }
  });

  it('the test detects a cell without a value that ends differently', async () => {
    const failing = (engine: Snapshot): Snapshot =>
      Object.assign(Object.create(engine) as Snapshot, {
        async *stream(statement: Statement) {
          for await (const block of engine.stream(statement)) {
            const { columns, rows } = block.open();
            if (columns.some((cells) => Array.from({ length: rows }, (_, i) => cells[i]).includes(null)))
              throw new Fault('ENGINE_FAILED', 'Nothing is there.', '');
            yield block;
          }
        },
      });
    const types = (list: readonly StoredType[]) => list.slice(0, 6).map((t) => ({ ...t, cells: t.cells.slice(0, 1) }));
    const { wrong } = await neighboursDiffer(1, { ...near, types, most: 2, twin: failing });
    expect(wrong.length).toBe(2);
  });

  const any = () => true;
  const marked = (cell: UglyCell) => cell.text?.startsWith('\ufeff') ?? false;
  it.each<[string, RegExp, (cell: UglyCell) => boolean, string, string]>([
    ['integers under fractional bounds', /^(INTEGER|BIGINT)$/, any, 'an integer with fractional bounds', 'duckdb'],
    ['integers beyond 64 bits', /^U?HUGEINT$/, any, 'an integer below a missing code above 2^53', 'duckdb'],
    ['missing codes beyond 2^53', /^(BIGINT|DECIMAL\(18,0\))$/, any, 'an integer below a missing code above 2^53', 'parquet'],
    ['times that no cast can read', /^TIMESTAMP_NS$/, any, 'whole codes', 'duckdb'],
    ['byte order marks', /^VARCHAR$/, marked, 'options', 'parquet read again'],
  ])('an ugly cell is read alike where it once was not: %s', async (_, types, cells, reading, kind) => {
    const { wrong, cases } = await fuzz(3, {
      files: (list, name) => (name === reading ? list.filter((file) => file.kind === kind) : []),
      types: (list) => list.filter((t) => types.test(t.type)).map((t) => ({ ...t, cells: t.cells.filter(cells) })),
    });
    expect(wrong.slice(0, 5)).toEqual([]);
    expect(cases).toBeGreaterThan(100);
  });

  it.each<[string, string, string, (cell: UglyCell) => boolean, (cell: Cell) => Cell, RegExp]>([
    [
      'takes numbers for integers',
      'DOUBLE',
      'a fine number',
      () => true,
      (c) => (typeof c === 'number' ? BigInt(c) : c),
      /RangeError/,
    ],
    [
      'keeps numbers in four bytes',
      'DOUBLE',
      'a fine number',
      () => true,
      (c) => (typeof c === 'number' ? Math.fround(c) : c),
      /instead/,
    ],
    [
      'leaves out byte order marks',
      'VARCHAR',
      'options',
      marked,
      (c) => (typeof c === 'string' ? c.replace(/^\ufeff/, '') : c),
      /instead/,
    ],
  ])('the test detects a reader that %s', async (_, type, reading, cells, change, sign) => {
    const { wrong } = await fuzz(1, {
      files: (list, name) => (name === reading ? list.filter(({ kind }) => kind === 'duckdb') : []),
      types: (list) => list.filter((t) => t.type === type).map((t) => ({ ...t, cells: t.cells.filter(cells) })),
      twin: (engine) => streaming(engine, change),
    });
    expect(wrong.length).toBeGreaterThan(0);
    expect(wrong.every(({ where }) => where.endsWith('streamed'))).toBe(true);
    expect(wrong.some(({ found }) => sign.test(found))).toBe(true);
  });
});
