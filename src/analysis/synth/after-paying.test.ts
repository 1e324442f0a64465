import { afterAll, describe, expect, it, vi } from 'vitest';
import { openWorkshop, type Workshop } from '../../../test/workshop.js';
import { fitModel as modelOf } from '../graphical/fit.js';
import { candidatesFor } from './candidates.js';
import { drawableRows } from './memory.js';
import { modelCells, withinModelLimit } from './model-size.js';
import { planSynth, releaseSynth } from './release.js';
import { makeSynthResult } from './synth-result.js';

// Seeded noise: every run draws the same.
vi.mock('../../privacy/noise/bits.js', async (original) =>
  (await import('../../../test/seeded-source.js')).seededNoise(
    await original<typeof import('../../privacy/noise/bits.js')>(),
    82,
  ),
);
/** A planted limit on the cells of models and of marginals computed from them. */
const most = 1000;
vi.mock('../../base/input/limits.js', async (original) => {
  const real = await original<typeof import('../../base/input/limits.js')>();
  return {
    ...real,
    limits: { ...real.limits, graphicalCells: { ...real.limits.graphicalCells, most: 1000 } },
    within: (name: Parameters<typeof real.within>[0], size: number) =>
      name === 'graphicalCells' && size > 1000 ? real.within(name, Number.MAX_SAFE_INTEGER) : real.within(name, size),
  };
});

const shops: Workshop[] = [];
afterAll(() => {
  for (const shop of shops) shop.remove();
});

const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
const values = ['1', '2', '3', '4', '5', '6'];
/** Columns that all depend on one another, so that every table is informative and all trees are equally good. */
const rows = (n: number): string =>
  `${names.join()}\n${Array.from({ length: n }, (_, i) => `${names.map((_, c) => 1 + ((i + (i % (c + 7) === 0 ? c : 0)) % 6)).join()}`).join('\n')}\n`;

async function opened(delta: string, records = 400) {
  const shop = openWorkshop(`data: { source: rows.csv }
protect: { secret: row }
budget: { epsilon: 400${delta} }
population: a
ledger: ledger.db
dependence: none
columns:
${names.map((name) => `  ${name}: { type: category, values: [${values.map((v) => `"${v}"`).join(', ')}] }`).join('\n')}
`);
  shops.push(shop);
  shop.write('rows.csv', rows(records));
  return shop.session();
}
/** Three pairs of columns that form cycles with any tree of all columns. */
const impossible = [
  { a: '1', b: '2' },
  { c: '1', d: '2' },
  { e: '1', f: '2' },
];

describe('measurements under a limit on the model', () => {
  it.each([
    ['aim', ', delta: 1e-6', {}],
    ['aim', '', {}],
    ['aim', ', delta: 1e-6', { impossible }],
    ['mst', ', delta: 1e-6', { impossible }],
    ['privbayes', '', { impossible }],
  ] as const)('every paid measurement is published when the model is too large: %s%s %o', async (mode, delta, more) => {
    const session = await opened(delta);
    const { result } = await releaseSynth(session, { mode, columns: names, cells: most, ...more }, { epsilon: '100' });
    await session.close();
    expect(result.rows).toBe(400);
    // Every measured column and pair is published, whether rows could be made with it or not.
    expect(result.measured.length).toBeGreaterThanOrEqual(names.length - 1);
  });

  it.each(['mst', 'privbayes'] as const)(
    'rows of one column follow what %s measured of it, or are refused in advance',
    async (mode) => {
      const session = await opened('');
      const one = releaseSynth(session, { mode, columns: ['a'] }, { epsilon: '100' });
      if (mode === 'privbayes') await expect(one).rejects.toMatchObject({ code: 'QUERY_UNSUPPORTED' });
      else {
        const { result } = await one;
        const answered = result.columns[0]!.values.filter((value) => value !== null).length;
        expect(answered).toBeGreaterThan(390);
      }
      await session.close();
    },
  );

  it.each(['aim', 'mst', 'privbayes'] as const)('synthetic rows of no records are refused in advance: %s', async (mode) => {
    const session = await opened('', 0);
    await expect(releaseSynth(session, { mode }, { epsilon: '1' })).rejects.toMatchObject({ code: 'QUERY_UNSUPPORTED' });
    await session.close();
  });

  it('a request for more cells than the limit is refused in advance', async () => {
    const session = await opened('');
    await expect(planSynth(session, { columns: names, cells: most + 1 }, { epsilon: '1' })).rejects.toMatchObject({
      code: 'QUERY_INVALID',
    });
    await session.close();
  });
});

describe('synthetic rows whose number is estimated', () => {
  it('the number of synthetic rows is at most what memory holds', () => {
    const setting = { sizes: [2], change: 'removed', each: 1, impossible: [], mostCells: 10 } as const;
    const modelled = [{ name: 'a', size: 2, labels: ['0', '1'] }];
    const measurements = { measured: [{ columns: [0], counts: Float64Array.of(1e11, 1e11), sd: 1e11 }], pairs: [] };
    const ground = { form: { tables: [] }, mode: 'mst', columns: [], coded: [], modelled, setting, mostDrawn: 100 } as const;
    expect(makeSynthResult(ground, measurements)).toMatchObject({ rows: 100, total: 2e11 });
    const held = { rows: 0, perRow: 8, counted: 0, cells: 10, drawn: 0, columns: 2 };
    expect(drawableRows(held, 10_000)).toBe(128);
    expect(drawableRows(held, 1e15)).toBe(20_000_000);
    expect(drawableRows(held, 1)).toBe(1);
  });
});

describe('requests that would fill the memory', () => {
  it('all marginals of a named table of many columns are refused before they are listed', () => {
    const options = Array.from({ length: 30 }, (_, k) => ({ name: `m: ${k}`, size: 2, labels: [], column: { name: 'm' } }));
    expect(() => candidatesFor(options, { upTo: 2, tables: [{ by: ['m'], weight: 1 }] }, 1000)).toThrow(
      expect.objectContaining({ code: 'DOMAIN_EXCEEDED' }),
    );
  });

  it('structural zeros of columns that the model cannot hold together are refused before they are listed', async () => {
    const session = await opened('');
    const many = Array.from({ length: 1000 }, () => '1');
    await expect(
      planSynth(session, { cells: most, impossible: [{ a: many, b: many, c: many, d: many }] }, { epsilon: '1' }),
    ).rejects.toMatchObject({ code: 'DOMAIN_EXCEEDED' });
    await planSynth(session, { cells: most, impossible: [{ a: many, b: many, c: many }] }, { epsilon: '1' });
    await session.close();
  });
});

describe('tables that would make the model too large', () => {
  const sizes = [6, 6, 6, 6];
  const pair = (columns: readonly number[]) => ({ columns, counts: new Float64Array(36).fill(1), sd: 1 });
  const ring = [
    [0, 1],
    [1, 2],
    [2, 3],
    [0, 3],
  ].map(pair);

  it('tables are left out from the last on, and all are kept when they fit', () => {
    const setting = { sizes, impossible: [], mostCells: 431 };
    expect(
      modelCells(
        sizes,
        ring.map(({ columns }) => columns),
        [],
      ),
    ).toBe(432);
    expect(withinModelLimit(setting, ring)).toEqual(ring.slice(0, 3));
    expect(withinModelLimit({ ...setting, mostCells: 432 }, ring)).toBe(ring);
    // The marginal of a column in no other table is taken from the table that was left out.
    const last = withinModelLimit({ ...setting, mostCells: 78 }, [ring[0]!, ring[1]!, ring[2]!]);
    expect(last.map(({ columns }) => columns)).toEqual([[0, 1], [1, 2], [3]]);
    expect(last[2]).toEqual({ columns: [3], counts: new Float64Array(6).fill(6), sd: Math.sqrt(6) });
    expect(() =>
      modelOf({
        sizes: [12, 12, 12, 12],
        measured: ring.map(({ columns }) => ({ columns, counts: new Float64Array(144), sd: 1 })),
        total: 1,
      }),
    ).toThrow(expect.objectContaining({ code: 'MODEL_TOO_LARGE' }));
  });
});
