import { afterAll, describe, expect, it, vi } from 'vitest';
import { openWorkshop, type Workshop } from '../../../test/workshop.js';
import { planPaidNetwork } from '../learn/network/learn-columns.js';
import { defaultModelCells, refuseBeyondMemory } from './memory.js';
import { planSynth, releaseSynth, type SynthResult } from './release.js';

// Seeded noise: every run draws the same.
vi.mock('../../privacy/noise/bits.js', async (original) =>
  (await import('../../../test/seeded-source.js')).seededNoise(
    await original<typeof import('../../privacy/noise/bits.js')>(),
    46,
  ),
);

const shops: Workshop[] = [];
afterAll(() => {
  for (const shop of shops) shop.remove();
});

/** Young people have no job and the code -9 (not applicable); the party depends on the town. */
const people = (n: number): string =>
  `id,town,party,age,job,media,height,wide,wider\n${Array.from({ length: n }, (_, i) => {
    const town = ['north', 'south'][i % 2]!;
    const party = i % 10 < 8 ? (town === 'north' ? 'dem' : 'rep') : i % 10 === 8 ? 'other' : '';
    const age = 10 + ((i * 7) % 60);
    const job = age < 20 ? '-9' : ['yes', 'no'][i % 3 === 0 ? 1 : 0]!;
    return `p${i},${town},${party},${age},${job},${['tv', 'tv;web', ''][i % 3]},${(150 + ((i * 13) % 500) / 10).toFixed(1)},${i % 40},${i % 50}`;
  }).join('\n')}\n`;
const policy = (more: { budget?: string; protect?: string; extra?: string } = {}) => `data: { source: people.csv }
protect: ${more.protect ?? '{ secret: row }'}
budget: ${more.budget ?? '{ epsilon: 200, delta: 1e-6 }'}
population: town
ledger: ledger.db
dependence: none
columns:
  town: { type: category, values: [north, south] }
  party: { type: category, values: [dem, rep, other] }
  age: { type: integer, bounds: [10, 69], bins: [20, 40] }
  job: { type: category, values: ["yes", "no"], missing: ["-9"] }
  media: { type: multi, values: [tv, web], separator: ";" }
  height: { type: number, bounds: [150, 200], step: 0.1, bins: 5 }
${more.extra ?? ''}`;

async function opened(text = policy(), rows = 2000) {
  const shop = openWorkshop(text);
  shops.push(shop);
  shop.write('people.csv', people(rows));
  return shop.session();
}
const valuesOf = ({ columns }: SynthResult, name: string) => columns.find((c) => c.name === name)!.values;
const shareOf = (result: SynthResult, is: (row: (name: string) => unknown) => boolean): number => {
  let hits = 0;
  for (let r = 0; r < result.rows; r++) if (is((name) => valuesOf(result, name)[r])) hits++;
  return hits / result.rows;
};

describe('synthetic rows', () => {
  it.each(['aim', 'mst', 'privbayes'] as const)(
    'synthetic rows have the tables of the data when the budget is large: %s',
    async (mode) => {
      const session = await opened();
      const { result } = await releaseSynth(session, { mode }, { epsilon: '50' });
      await session.close();
      expect(result.rows).toBe(2000);
      expect(result.columns.map(({ name }) => name)).toEqual(['town', 'party', 'age', 'job', 'media', 'height']);
      expect(Math.abs(shareOf(result, (at) => at('town') === 'north' && at('party') === 'dem') - 0.4)).toBeLessThan(0.03);
      expect(shareOf(result, (at) => at('town') === 'south' && at('party') === 'dem')).toBeLessThan(0.03);
      expect(Math.abs(shareOf(result, (at) => at('party') === null) - 0.1)).toBeLessThan(0.03);
      expect(Math.abs(shareOf(result, (at) => at('media') === 'tv;web') - 1 / 3)).toBeLessThan(0.04);
      const pair = result.quality.pairs.find(({ columns }) => columns.join() === 'town,party')!;
      expect(Math.abs(pair.measured - pair.synthetic)).toBeLessThan(0.05);
      for (const { distance, noise } of result.quality.tables) expect(distance).toBeLessThan(3 * noise + 0.03);
    },
  );

  it('synthetic rows have the format of the data: codes, numbers on their grid, missing answers as written', async () => {
    const session = await opened();
    const { result } = await releaseSynth(session, { mode: 'mst', rows: 500 }, { epsilon: '20' });
    await session.close();
    for (const age of valuesOf(result, 'age'))
      expect(age === null || (Number.isInteger(age) && +age! >= 10 && +age! <= 69)).toBe(true);
    for (const height of valuesOf(result, 'height'))
      if (height !== null) expect(Math.abs(+height * 10 - Math.round(+height * 10))).toBeLessThan(1e-9);
    expect(new Set(valuesOf(result, 'job'))).toEqual(new Set(['yes', 'no', '-9']));
    for (const media of valuesOf(result, 'media')) expect([null, 'tv', 'web', 'tv;web']).toContain(media);
  });

  it('synthetic rows are drawn again, and more of them, at no cost', async () => {
    const session = await opened();
    const first = await releaseSynth(session, { mode: 'mst', columns: ['town', 'party'] }, { epsilon: '1' });
    const more = await releaseSynth(session, { mode: 'mst', columns: ['town', 'party'], rows: 5000 }, { epsilon: '1' });
    expect(more.receipt.ledger).toMatchObject({ replayed: true, entry: first.receipt.ledger.entry });
    expect(more.result.rows).toBe(5000);
    expect(more.result.measured).toEqual(first.result.measured);
    const other = await releaseSynth(session, { mode: 'mst', columns: ['town', 'job'] }, { epsilon: '1' });
    expect(other.receipt.ledger.replayed).toBe(false);
    await session.close();
  });

  it('synthetic rows never contain what the questionnaire excludes or what is declared impossible', async () => {
    const extra = `merge:
  - columns: [town, party]
    support: [[north, dem], [south, rep], [north, other], [south, other], [north, ""], [south, ""]]
`;
    const session = await opened(policy({ extra }));
    const { result } = await releaseSynth(
      session,
      { columns: ['town', 'party', 'age', 'job'], impossible: [{ age: { to: 19 }, job: ['yes', 'no'] }] },
      { epsilon: '1/20' },
    );
    await session.close();
    expect(shareOf(result, (at) => at('town') === 'south' && at('party') === 'dem')).toBe(0);
    expect(shareOf(result, (at) => at('age') !== null && +(at('age') as number) < 20 && at('job') !== '-9')).toBe(0);
    expect(shareOf(result, (at) => at('age') !== null && +(at('age') as number) < 20)).toBeGreaterThan(0);
  });

  it('the whole budget is spent on single columns when there is no table to choose', async () => {
    const session = await opened(policy({ budget: '{ epsilon: 8 }' }));
    const { result, receipt } = await releaseSynth(session, { upTo: 1, columns: ['town', 'party'] }, { epsilon: '8' });
    await session.close();
    expect(receipt.profile.perRecord).toEqual({ '*': '8' });
    // Four for each of two columns, which a replaced row moves by two.
    expect(result.measured.map(({ sd }) => sd < 0.71)).toEqual([true, true]);
  });

  it('synthetic rows need no public number of rows when a person has several', async () => {
    const session = await opened(policy({ protect: '{ secret: person, unit: id, maxRows: 3 }' }));
    const { result } = await releaseSynth(session, { columns: ['town', 'party'] }, { epsilon: '50' });
    await session.close();
    expect(Math.abs(result.total - 2000)).toBeLessThan(100);
  });

  it.each(['aim', 'mst'] as const)(
    'the number of synthetic rows is estimated from noisy tables when pairs leave persons out: %s',
    async (mode) => {
      const shop = openWorkshop(
        policy({
          budget: '{ epsilon: 400 }',
          protect: '{ secret: person, unit: id, maxRows: 1, pairs: { age: { within: 5 } } }',
        }),
      );
      shops.push(shop);
      // Nineteen people with two rows each.
      shop.write('people.csv', people(2000).concat(people(20).split('\n').slice(1, 20).join('\n'), '\n'));
      const session = await shop.session();
      const { result } = await releaseSynth(session, { mode, columns: ['town', 'party'] }, { epsilon: '400' });
      expect(Math.abs(result.total - 1981)).toBeLessThan(10);
      await expect(planSynth(session, { mode: 'privbayes' }, { epsilon: '1' })).rejects.toMatchObject({
        code: 'QUERY_UNSUPPORTED',
      });
      await expect(planPaidNetwork(session, { epsilon: '1' })).rejects.toMatchObject({ code: 'QUERY_UNSUPPORTED' });
      await session.close();
    },
  );

  it.each(['aim', 'mst'] as const)(
    'the number of synthetic rows is estimated from noisy tables when records are added or removed: %s',
    async (mode) => {
      const session = await opened(policy({ budget: '{ epsilon: 200 }', protect: '{ secret: row, neighbours: add-remove }' }));
      const plan = await planSynth(session, { mode, columns: ['town', 'party'] }, { epsilon: '100' });
      // No row of the data is counted before it is paid for.
      const few = await opened(policy({ budget: '{ epsilon: 200 }', protect: '{ secret: row, neighbours: add-remove }' }), 20);
      const other = await planSynth(few, { mode, columns: ['town', 'party'] }, { epsilon: '100' });
      await few.close();
      expect(other).toEqual(plan);
      const { result, receipt } = await releaseSynth(session, { mode, columns: ['town', 'party'] }, { epsilon: '100' });
      await session.close();
      expect(receipt.profile.perRecord).toEqual({ '*': '100' });
      expect(Math.abs(result.total - 2000)).toBeLessThan(20);
      expect(Math.abs(shareOf(result, (at) => at('town') === 'north' && at('party') === 'dem') - 0.4)).toBeLessThan(0.03);
    },
  );

  it('Laplace noise is used when the budget has no delta, and the whole record is paid for once', async () => {
    const session = await opened(policy({ budget: '{ epsilon: 3 }' }));
    const plan = await planSynth(session, { columns: ['town', 'party'] }, { epsilon: '3' });
    expect(plan.measures.map(({ noise }) => noise.kind)).toEqual(['laplace', 'laplace']);
    expect(plan.synth).toMatchObject({ mode: 'aim', columns: 2, tables: 1 });
    const { receipt } = await releaseSynth(session, { columns: ['town', 'party'] }, { epsilon: '3' });
    expect(receipt.profile.perRecord).toEqual({ '*': '3' });
    await session.close();
  });
});

describe('refusals of synthetic rows before anything is spent', () => {
  it('a synthesis beyond the memory is refused with the hint that helps most', () => {
    const held = { rows: 1e6, perRow: 40, counted: 1e6, cells: 2e5, drawn: 1e6, columns: 10 };
    expect(refuseBeyondMemory(held, 1e9)).toBe(4e7 + 1.6e7 + 7.68e7 + 2.4e8);
    expect(() => refuseBeyondMemory(held, 1e8)).toThrow(
      expect.objectContaining({ code: 'ENGINE_MEMORY', hint: expect.stringContaining('fewer rows') }),
    );
    expect(() => refuseBeyondMemory({ ...held, drawn: 10, cells: 1e5 }, 9e7)).toThrow(
      expect.objectContaining({ hint: expect.stringContaining('fewer columns') }),
    );
    expect(() => refuseBeyondMemory({ ...held, drawn: 10, cells: 2e6 }, 1e8)).toThrow(
      expect.objectContaining({ hint: expect.stringContaining('fewer cells') }),
    );
  });

  it('a model is not refused for memory when the former smaller default would have fitted', async () => {
    expect([256e6, 1.2e9, 1.3e9, 1e11].map(defaultModelCells)).toEqual([400_000, 400_000, 800_000, 800_000]);
    const session = await opened(policy());
    const { synth } = await planSynth(session, {}, { epsilon: '1' });
    expect(synth.cells).toBe(defaultModelCells(session.memoryLimit));
    expect(synth.memory).toBeGreaterThan(384 * synth.cells);
    await session.close();
  });

  it('a table of three wide columns, which was never a candidate before, is not a reason to refuse unless more cells are requested', async () => {
    const values = Array.from({ length: 90 }, (_, i) => i).join(', ');
    const columns = ['id', 'wide', 'wider'];
    const extra = columns.map((name) => `  ${name}: { type: category, values: [${values}] }\n`).join('');
    const session = await opened(policy({ extra }), 20);
    const tables = async (more: object) => (await planSynth(session, { columns, ...more }, { epsilon: '1' })).synth.tables;
    expect([await tables({}), await tables({ cells: 800_000 })]).toEqual([3, 4]);
    await session.close();
  });

  it.each<[string, object, RegExp, string?]>([
    [
      'a model that is too large, with what to drop',
      { cells: 1000, mode: 'mst', columns: ['age', 'wide', 'wider'] },
      /DOMAIN_EXCEEDED/,
    ],
    ['combinations that leave no row', { columns: ['town'], impossible: [{ town: ['north', 'south', null] }] }, /MODEL_INVALID/],
    ['a code that is not declared', { impossible: [{ town: 'west' }] }, /QUERY_INVALID/],
    ['a range whose end lies inside a bin', { impossible: [{ age: { to: 15 }, job: 'yes' }] }, /QUERY_INVALID/],
    ['a range that ends before it begins', { impossible: [{ age: { from: 40, to: 20 }, job: 'yes' }] }, /QUERY_INVALID/],
    ['a range beyond the bounds', { impossible: [{ age: { from: 200 } }] }, /QUERY_INVALID/],
    ['a range whose beginning lies inside a bin', { impossible: [{ age: { from: 21 }, job: 'yes' }] }, /QUERY_INVALID/],
    ['a column that is not there', { columns: ['west'] }, /COLUMN_UNKNOWN/],
    [
      'a mode that needs a public number of rows',
      { mode: 'privbayes' },
      /QUERY_UNSUPPORTED/,
      policy({ budget: '{ epsilon: 2 }', protect: '{ secret: row, neighbours: add-remove }' }),
    ],
    ['a mode that is not there', { mode: 'gan' }, /QUERY_INVALID/],
  ])('synthetic rows are refused, at no cost: %s', async (_, question, code, text = policy()) => {
    const numbers = (n: number) => Array.from({ length: n }, (_, i) => i).join(', ');
    const extra = `  wide: { type: category, values: [${numbers(40)}] }\n  wider: { type: category, values: [${numbers(50)}] }\n`;
    const session = await opened(text.replace(/$/, extra), 20);
    const refused = await planSynth(session, question, { epsilon: '1' }).then(
      () => undefined,
      (fault: { code: string; hint: string }) => fault,
    );
    expect(refused?.code).toMatch(code);
    if (refused?.code === 'DOMAIN_EXCEEDED') expect(refused.hint).toContain('"wider" (51 places) or "wide" (41 places)');
    expect((await session.entries()).length).toBe(0);
    await session.close();
  });
});
