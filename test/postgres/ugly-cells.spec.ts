import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Cell } from '../../src/data/engine/engine.js';
import type { Column } from '../../src/policy/policy.js';
import { bindBatch } from '../../src/query/bind.js';
import { countByDatabase, countStreaming } from '../../src/query/count/count.js';
import { spareGroups } from '../../src/query/count/rows-to-groups.js';
import { parseBatch } from '../../src/query/parse.js';
import { type Course, type File, fuzz, type MemoryTable, neighboursDiffer, streaming, type Tally, wanted } from '../cell-fuzz.js';
import { openNow } from '../now.js';
import { category, multi, number, samplePolicy } from '../sample-policy.js';
import { postgresTypes, type UglyCell } from '../ugly-cells.js';
import { quickerThan } from './quicker.js';
import { PostgresTown, server } from './town.js';

describe.skipIf(!server)('one ugly cell in PostgreSQL', () => {
  let town: PostgresTown;
  beforeAll(async () => {
    town = await PostgresTown.open('cells');
  });
  afterAll(() => town?.close());

  /** Cells are literals of their own types: the server refuses values it cannot hold here. */
  const write = async (named: string, table: MemoryTable): Promise<readonly File[]> => {
    const { columns, rows } = table;
    const type = (t: string) => (t === 'VARCHAR' ? 'TEXT' : t);
    await town.run(`CREATE TABLE ${named} (${columns.map((c) => `${c.name} ${type(c.stored.type)}`).join(', ')})`);
    for (let from = 0; from < rows.length; from += 32)
      await town.run(
        `INSERT INTO ${named} VALUES ${rows
          .slice(from, from + 32)
          .map((row) => `(${row.map(({ sql }) => sql).join(', ')})`)
          .join(', ')}`,
      );
    return [{ kind: 'postgres', source: town.address(), named, table, csv: false, longestNumber: 1100 }];
  };
  const course = (more: Partial<Course> = {}): Course => ({ stored: postgresTypes, write, files: (list) => list, ...more });

  it('an ugly cell never decides between an answer and a fault, and all counting methods agree with a reference', {
    timeout: 1e7,
  }, async () => {
    const tally: Tally = { cases: 0, wrong: [] };
    for (let seed = 1; seed === 1 || tally.cases < wanted; seed++) {
      const found = await fuzz(seed, course());
      tally.cases += found.cases;
      tally.wrong.push(...found.wrong);
      if (wanted > 0) console.log(`seed ${seed}: ${tally.cases} cases, ${tally.wrong.length} wrong`);
      if (tally.wrong.length > 50) break;
    }
    expect(tally.wrong.slice(0, 10)).toEqual([]);
    expect(tally.cases).toBeGreaterThan(Math.max(1000, wanted));
  });

  /** Texts as sent to the server, without the names of snapshots and tables. */
  const wire = ({ named }: File) => {
    const texts: string[] = [];
    const spy = vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: pg.Client, ...words: unknown[]) {
      const [statements] = words as [string | { text: string; values?: unknown[] }];
      const text = typeof statements === 'string' ? statements : JSON.stringify([statements.text, statements.values]);
      texts.push(
        text
          .replaceAll(named!, 'near')
          .replace(/SNAPSHOT '[^']*'/, 'SNAPSHOT')
          .replace(/fugu.session = '[^']*'/, 'SESSION')
          .replaceAll(/'\{[\d,]*\}'/g, 'TABLES'),
      );
      return (query as (...w: unknown[]) => unknown).apply(this, words);
    } as never);
    return () => {
      if (texts.length > 0) spy.mockRestore();
      return texts.splice(0);
    };
  };
  const { query } = pg.Client.prototype;
  afterEach(() => vi.restoreAllMocks());

  it('an ugly cell changes neither the statements sent to the server, nor their trips, nor their outcome', {
    timeout: 1e7,
  }, async () => {
    for (const seed of wanted > 0 ? [1, 2, 3, 4, 5, 6] : [1]) {
      const { tried, asked: statements, wrong } = await neighboursDiffer(seed, { ...course(), most: 12, wire });
      if (wanted > 0)
        console.log(`neighbours, seed ${seed}: ${tried} tried, ${statements} questions of each, ${wrong.length} wrong`);
      expect(wrong.slice(0, 5)).toEqual([]);
      expect([tried > 12, statements > 40]).toEqual([true, true]);
    }
  });

  it('undeclared texts never turn one statement into two, however many there are', async () => {
    const statements: number[] = [];
    for (const texts of [cells + spareGroups - 1, cells + spareGroups, cells + spareGroups + 1]) {
      const table = `many_${texts}`;
      await town.run(`CREATE TABLE ${table} AS SELECT CAST('x' || n AS TEXT) AS g FROM generate_series(1, ${texts}) AS s(n)`);
      const policy = { ...samplePolicy([category('g', ['a', 'b'])]), data: { source: town.address(), table } };
      const { measures } = bindBatch(parseBatch({ kind: 'histogram', column: 'g' }), policy);
      const engine = await openNow(policy);
      const rows = vi.spyOn(engine, 'rows');
      const [counted] = await countByDatabase(engine, policy, measures);
      expect(counted!.open()).toEqual([0n, 0n, BigInt(texts)]);
      statements.push(rows.mock.calls.length);
      await engine.close();
    }
    expect(statements).toEqual([1, 1, 1]);
  });
  const cells = 3;

  it.each<[string, string, string, (cell: Cell) => Cell, RegExp]>([
    [
      'keeps numbers in four bytes',
      'DOUBLE PRECISION',
      'a fine number',
      (c) => (typeof c === 'number' ? Math.fround(c) : c),
      /instead/,
    ],
    ['leaves out byte order marks', 'TEXT', 'options', (c) => (typeof c === 'string' ? c.replace(/^\ufeff/, '') : c), /instead/],
  ])('the test detects a reader that %s', async (_, type, reading, change, sign) => {
    const marked = (cell: UglyCell) => type !== 'TEXT' || (cell.text?.startsWith('\ufeff') ?? false);
    const { wrong } = await fuzz(
      1,
      course({
        files: (list, name) => (name === reading ? list : []),
        types: (list) => list.filter((t) => t.type === type).map((t) => ({ ...t, cells: t.cells.filter(marked) })),
        twin: (engine) => streaming(engine, change),
      }),
    );
    expect(wrong.length).toBeGreaterThan(0);
    expect(wrong.every(({ where }) => where.endsWith('streamed'))).toBe(true);
    expect(wrong.some(({ found }) => sign.test(found))).toBe(true);
  });

  it('a long cell never decides between a moment and a minute', async () => {
    const million = 1 << 18;
    const cells = {
      tame: '3',
      digits: '1'.repeat(million),
      'digits with an end': `${'1'.repeat(million)}x`,
      blanks: `${' '.repeat(million)}1${' '.repeat(million)}`,
      options: '1;'.repeat(million / 2),
      separators: ';'.repeat(1_000_000),
      commas: ', '.repeat(million / 2),
      letters: 'x'.repeat(million),
      accents: `e${'\u0301'.repeat(million / 2)}`,
      zeros: `0.${'0'.repeat(million)}`,
      points: '.'.repeat(million),
      powers: `1e${'9'.repeat(million)}`,
      quotes: '"'.repeat(million),
    };
    const counting = async (cell: string, own: readonly Column[]) => {
      const table = await town.table([
        ['x', 'g'],
        [cell, 'a'],
        ['2', 'b'],
      ]);
      const policy = { ...samplePolicy([...own]), data: { source: town.address(), table } };
      const kind = own[0]!.type === 'integer' ? 'mean' : 'histogram';
      const engine = await openNow(policy, { threads: 1 });
      const { measures } = bindBatch(parseBatch({ kind, column: 'x' }), policy);
      const count = async () => {
        await countByDatabase(engine, policy, measures);
        await countStreaming(engine, policy, measures);
      };
      return { count, close: () => engine.close() };
    };
    const group = category('g', ['a', 'b']);
    const readings = [number('x', '0', '10'), category('x', ['1', '2']), multi('x', ['1', '2'], ';')].map((x) => [x, group]);
    const slow: string[] = [];
    for (const own of readings) {
      // As long as the others, and nothing to look for in it.
      const letters = await counting(cells.letters, own);
      for (const [name, cell] of Object.entries(cells)) {
        const { count, close } = await counting(cell, own);
        // A cell of options is parted or not: by its length, which the policy bounds, before its separators are looked for.
        const times = name === 'separators' ? 10 : 50;
        if (!(await quickerThan(letters.count, count, times))) slow.push(`${name} as ${own[0]!.type}`);
        await close();
      }
      await letters.close();
    }
    expect(slow).toEqual([]);
  });
});
