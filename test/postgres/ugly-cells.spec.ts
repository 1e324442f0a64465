import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { countByDatabase, countStreaming } from '../../src/count/count.js';
import type { Cell } from '../../src/engine/engine.js';
import { bindBatch } from '../../src/query/bind.js';
import { parseBatch } from '../../src/query/parse.js';
import { type Course, type File, fuzz, streaming, type Table, type Tally, wanted } from '../cell-fuzz.js';
import { openNow } from '../now.js';
import { category, multi, number, samplePolicy } from '../sample-policy.js';
import { postgresTypes, type Ugly } from '../ugly-cells.js';
import { server, Town } from './town.js';

describe.skipIf(!server)('one ugly cell in PostgreSQL', () => {
  let town: Town;
  beforeAll(async () => {
    town = await Town.open('cells');
  });
  afterAll(() => town?.close());

  /** Cells are literals of their own types: what the server cannot hold, it refuses here. */
  const write = async (named: string, table: Table): Promise<readonly File[]> => {
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

  it('never decides between an answer and a fault, and all ways of counting read it as a plain reference does', {
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

  it.each<[string, string, string, (cell: Cell) => Cell, RegExp]>([
    [
      'keeps numbers in four bytes',
      'DOUBLE PRECISION',
      'a fine number',
      (c) => (typeof c === 'number' ? Math.fround(c) : c),
      /instead/,
    ],
    ['leaves out byte order marks', 'TEXT', 'options', (c) => (typeof c === 'string' ? c.replace(/^\ufeff/, '') : c), /instead/],
  ])('is caught when a reader %s', async (_, type, reading, change, sign) => {
    const marked = (cell: Ugly) => type !== 'TEXT' || (cell.text?.startsWith('\ufeff') ?? false);
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

  it('does not decide between a moment and a minute, however long it is', { timeout: 300_000 }, async () => {
    const million = 1 << 18;
    const cells = {
      tame: '3',
      digits: '1'.repeat(million),
      'digits with an end': `${'1'.repeat(million)}x`,
      blanks: `${' '.repeat(million)}1${' '.repeat(million)}`,
      options: '1;'.repeat(million / 2),
      commas: ', '.repeat(million / 2),
      letters: 'x'.repeat(million),
      accents: `e${'\u0301'.repeat(million / 2)}`,
      zeros: `0.${'0'.repeat(million)}`,
      points: '.'.repeat(million),
      powers: `1e${'9'.repeat(million)}`,
      quotes: '"'.repeat(million),
    };
    const slow: string[] = [];
    for (const [name, cell] of Object.entries(cells)) {
      const table = await town.table([
        ['x', 'g'],
        [cell, 'a'],
        ['2', 'b'],
      ]);
      const columns = [number('x', '0', '10'), category('g', ['a', 'b'])];
      const readings = [columns, [category('x', ['1', '2']), columns[1]!], [multi('x', ['1', '2'], ';'), columns[1]!]];
      for (const own of readings) {
        const policy = { ...samplePolicy(own), data: { source: town.address(), table } };
        const kind = own[0]!.type === 'integer' ? 'mean' : 'histogram';
        const engine = await openNow(policy, { threads: 1 });
        const { measures } = bindBatch(parseBatch({ kind, column: 'x' }), policy);
        const started = performance.now();
        await countByDatabase(engine, policy, measures);
        await countStreaming(engine, policy, measures);
        const took = performance.now() - started;
        await engine.close();
        if (process.env.FUGU_FUZZ_TIMES) console.log(name, own[0]!.type, took.toFixed(0));
        if (took > 15_000) slow.push(`${name} as ${own[0]!.type}: ${took.toFixed(0)} ms`);
      }
    }
    expect(slow).toEqual([]);
  });
});
