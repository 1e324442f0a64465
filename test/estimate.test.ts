import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { estimated } from '../src/app/api/estimate.js';
import { workload as kind } from '../src/app/api/kinds/workload.js';
import { registerEstimateCommand } from '../src/app/cli/estimate.js';
import { runCommand } from './command.js';
import { heldByKind } from './held-by-kind.js';
import { openWorkshop, type Workshop } from './workshop.js';

// Seeded noise: every run counts the same.
vi.mock('../src/privacy/noise/bits.js', async (original) =>
  (await import('./seeded-source.js')).seededNoise(await original<typeof import('../src/privacy/noise/bits.js')>(), 5),
);

const shops: Workshop[] = [];
afterAll(() => {
  for (const shop of shops) shop.remove();
});

function people(rows: number, shift = 0): readonly (readonly string[])[] {
  let seed = 29;
  const next = (m: number) => {
    seed = (seed * 48271) % 2147483647;
    return seed % m;
  };
  return Array.from({ length: rows }, (_, i) => {
    const own = next(4);
    const age = Math.min(89, 20 + own * 15 + next(20));
    return [`h${i >> 1}`, ['a', 'b', 'c', 'd'][(own + shift) % 4]!, next(5) === 0 ? '' : ['x', 'y', 'z'][own % 3]!, `${age}`];
  });
}
const csvOf = (rows: number, shift = 0): string =>
  `home,town,party,age\n${people(rows, shift)
    .map((row) => row.join())
    .join('\n')}\n`;
const policyOf = (more: { protect?: string; budget?: string; dependence?: string } = {}) => `data: { source: people.csv }
protect: ${more.protect ?? '{ secret: row }'}
budget: ${more.budget ?? '{ epsilon: 100, delta: 1e-6 }'}
population: town
ledger: ledger.db
dependence: ${more.dependence ?? 'none'}
columns:
  town: { type: category, values: [a, b, c, d] }
  party: { type: category, values: [x, y, z] }
  age: { type: integer, bounds: [20, 89], bins: [30, 40, 50, 60, 70, 80] }
`;
function open(rows: number, text = policyOf()): Workshop {
  const shop = openWorkshop(text);
  shops.push(shop);
  shop.write('people.csv', csvOf(rows));
  return shop;
}
type Opened = Awaited<ReturnType<Workshop['session']>>;

const levels = { town: { side: { west: ['a', 'b'], east: ['c', 'd'] } } };
const request = {
  tables: [{ by: ['town', 'party'] }, { by: ['town'] }, { by: ['age'] }, { by: ['side', 'party'] }, { by: ['up to'] }],
  levels,
  ranges: { age: { 'up to': 'prefixes' as const } },
};
/** Everything is paid for: a histogram, two crosstabs, a count, two workloads. */
async function payAll(session: Opened, epsilon: string): Promise<void> {
  const ask = { epsilon, fresh: true };
  await session.release({ kind: 'histogram', column: 'town' }, ask);
  await session.release({ queries: [{ kind: 'crosstab', columns: ['party', 'town'] }, { kind: 'count' }] }, ask);
  await kind.release(session, { workload: { tables: [{ all: 2, of: ['age', 'town', 'party'] }] } }, ask);
  await kind.release(session, { workload: { tables: [{ by: ['town', 'party'] }], aim: 'largest' } }, ask);
}

/** The exact answer behind a row of a table. */
function exactly(rows: readonly (readonly string[])[], names: readonly string[], keys: readonly string[]): number {
  const holds = (row: readonly string[], name: string, key: string): boolean => {
    const [, town, party, age] = row;
    if (name === 'town') return town === key;
    if (name === 'party') return (party === '' ? '(missing)' : party) === key;
    if (name === 'side') return (['a', 'b'].includes(town!) ? 'west' : 'east') === key;
    const [from, to] = key.split(' to ').map(Number);
    return key !== '(missing)' && Number(age) >= from! && Number(age) <= (to ?? from)!;
  };
  return rows.filter((row) => names.every((name, k) => holds(row, name, keys[k]!))).length;
}

describe('an estimate from all paid releases', () => {
  /** Number of turns; FUGU_COVERAGE sets it in a long run, where coverage must not drift. */
  const turns = Number(process.env.FUGU_COVERAGE ?? 20);
  const tolerance = process.env.FUGU_COVERAGE ? 0 : 0.012;
  it.each([300, 3_000, 100_000])('its intervals cover the truth in 93 to 98 of 100 cases, of %i rows', async (n) => {
    const session = await open(n, policyOf({ budget: '{ epsilon: 10000, delta: 1e-6 }' })).session();
    const rows = people(n);
    const truths = new Map<string, number>();
    const held = { raw: 0, tidy: 0, answers: 0, squares: 0, better: 0 };
    const kinds = heldByKind();
    for (let turn = 0; turn < turns; turn++) {
      const before = (await session.entries()).length;
      await payAll(session, '1');
      // Only entries of this turn: entries of other turns would be reused later, and one bad draw would count many times.
      const entries = (await session.entries()).slice(before).map(({ sequence }) => sequence);
      for (const tidy of [false, true])
        for (const { columns, rows: list } of (await estimated(session, { workload: request, tidy, entries })).tables)
          for (const { keys, value, low, high, standardError } of list) {
            const names = columns.slice(0, -1);
            const text = JSON.stringify([names, keys]);
            const truth = truths.get(text) ?? exactly(rows, names, keys);
            truths.set(text, truth);
            held[tidy ? 'tidy' : 'raw'] += Number(truth >= low! && truth <= high!);
            kinds.count(names.join(' x '), tidy ? 'tidied' : 'as noised', truth >= low! && truth <= high!);
            if (tidy) held.better += ((value! - truth) / standardError!) ** 2;
            else {
              held.answers++;
              held.squares += ((value! - truth) / standardError!) ** 2;
            }
          }
    }
    if (process.env.FUGU_COVERAGE) kinds.tell(n);
    for (const count of [held.raw, held.tidy]) {
      expect(count / held.answers).toBeGreaterThan(0.93 - tolerance);
      expect(count / held.answers).toBeLessThan(0.98 + tolerance);
    }
    expect(held.squares / held.answers).toBeGreaterThan(0.8);
    expect(held.squares / held.answers).toBeLessThan(1.2);
    expect(held.better).toBeLessThan(1.02 * held.squares);
    await session.close();
  });

  it('an estimate is better than each release, spends nothing, and lists its sources', async () => {
    const shop = open(2_000);
    const session = await shop.session();
    await payAll(session, '1');
    const before = await session.entries();
    const spent = await session.privacyLoss();
    const answer = await estimated(session, { workload: request });
    expect(await session.entries()).toEqual(before);
    expect(await session.privacyLoss()).toBe(spent);
    expect(answer.used.map(({ tables }) => tables)).toEqual([1, 2, 7, 4]);
    expect(answer.used.map(({ entry }) => entry)).toEqual(before.map(({ sequence }) => sequence));
    expect(answer).toMatchObject({ spent: 0, unused: [], untold: [] });
    expect(answer.used.map(({ hash }) => hash)).toEqual(before.map(({ hash }) => hash));
    const { squares, expected } = answer.agreement;
    expect(Math.abs(squares - expected)).toBeLessThan(6 * Math.sqrt(2 * expected));
    const alone = await session.release({ kind: 'crosstab', columns: ['party', 'town'] }, { epsilon: '1' });
    const errorOf = (tables: readonly { name: string; rows: readonly { standardError: number | null }[] }[], name: string) =>
      tables.find((table) => table.name === name)!.rows[0]!.standardError!;
    expect(errorOf(answer.tables, 'town x party')).toBeLessThan(0.75 * errorOf(alone.tables, 'party x town'));
    // All agree: towns add up to their side.
    const value = (name: string, ...keys: string[]) =>
      answer.tables.find((table) => table.name === name)!.rows.find((row) => row.keys.join() === keys.join())!.value!;
    expect(value('side x party', 'west', 'x')).toBeCloseTo(value('town x party', 'a', 'x') + value('town x party', 'b', 'x'), 6);
    expect(value('up to', '20 to 49')).toBeCloseTo(
      value('age', '20 to 29') + value('age', '30 to 39') + value('age', '40 to 49'),
      6,
    );
    await session.close();
  });

  it('an estimate uses axes of levels and ranges if those were paid for', async () => {
    const session = await open(2_000).session();
    await kind.release(session, { workload: { ...request, tables: [{ by: ['up to', 'side'] }] } }, { epsilon: '1' });
    const one = await estimated(session, {
      workload: { ...request, tables: [{ by: ['side'] }, { by: ['up to'] }, { by: ['town'] }] },
    });
    expect(one.tables.map(({ name }) => name)).toEqual(['side', 'up to']);
    expect(one.untold).toEqual(['town']);
    await session.close();
  });

  it('an estimate refuses entries about other rows, and names them', async () => {
    const shop = open(3_000);
    const first = await shop.session();
    await first.release({ kind: 'histogram', column: 'town' }, { epsilon: '5' });
    await first.release({ kind: 'crosstab', columns: ['town', 'party'] }, { epsilon: '5' });
    await first.close();
    shop.write('people.csv', csvOf(3_000, 1));
    const later = await shop.session();
    await later.release({ kind: 'count', by: ['town', 'age'] }, { epsilon: '5' });
    await expect(estimated(later, {})).rejects.toMatchObject({
      code: 'QUERY_UNSUPPORTED',
      message: expect.stringContaining('not about the same rows'),
    });
    const [one, two, three] = (await later.entries()).map(({ sequence }) => sequence);
    expect((await estimated(later, { entries: [one!, two!] })).used.map(({ entry }) => entry)).toEqual([one, two]);
    expect((await estimated(later, { entries: [three!] })).tables.map(({ name }) => name)).toEqual(['town x age']);
    await later.close();
    // Other terms: reading one column differently leaves the others usable.
    shop.write('policy.yaml', policyOf().replace('[a, b, c, d]', '[a, b, c]'));
    const other = await shop.session();
    await expect(estimated(other, { workload: { tables: [{ by: ['town'] }] } })).rejects.toMatchObject({
      code: 'QUERY_UNSUPPORTED',
    });
    await other.close();
    // Other ties may leave out other rows.
    shop.write('policy.yaml', policyOf({ dependence: '[{ kind: groups, by: home, oddsRatio: 2 }]' }));
    const tied = await shop.session();
    await expect(estimated(tied, { workload: { tables: [{ by: ['town'] }] }, entries: [one!] })).rejects.toMatchObject({
      code: 'QUERY_UNSUPPORTED',
    });
    await tied.close();
  });

  it('an estimate does not combine some rows of every person with all rows of some: pairs leave out persons with more rows', async () => {
    const person = (more: string) => policyOf({ protect: `{ secret: person, unit: home, maxRows: 1${more} }` });
    const shop = open(300, person(''));
    const first = await shop.session();
    await first.release({ kind: 'histogram', column: 'town' }, { epsilon: '5' });
    await first.close();
    const request = { workload: { tables: [{ by: ['town'] }] } };
    shop.write('policy.yaml', person(', pairs: { age: { within: 5 } }'));
    const paired = await shop.session();
    await expect(estimated(paired, request)).rejects.toMatchObject({ code: 'QUERY_UNSUPPORTED' });
    await paired.close();
    // Of rows all are used, whatever pairs there are.
    const rows = open(300);
    const plain = await rows.session();
    await plain.release({ kind: 'histogram', column: 'town' }, { epsilon: '5' });
    await plain.close();
    rows.write('policy.yaml', policyOf({ protect: '{ secret: row, pairs: { age: { within: 5 } } }' }));
    const near = await rows.session();
    expect((await estimated(near, request)).used).toHaveLength(1);
    await near.close();
  });

  it.each([
    ['no table that tells it', {}, 'Nothing was paid for'],
    ['a table that nothing says', { workload: { tables: [{ by: ['town', 'age'] }] } }, 'Nothing that was paid for says'],
    ['a day that is none', { since: 'yesterday' }, 'written as'],
    ['another word', { sinec: '2026-01-01' }, 'sinec'],
  ])('an estimate refuses %s', async (_, question, words) => {
    const session = await open(300).session();
    if ('workload' in question) await session.release({ kind: 'histogram', column: 'town' }, { epsilon: '1' });
    else await session.release({ kind: 'mean', column: 'age' }, { epsilon: '1' });
    await expect((async () => estimated(session, question))()).rejects.toThrow(words);
    await session.close();
  });

  it('an estimate handles persons, tied records and budgets without delta as its sources did', async () => {
    for (const text of [
      policyOf({ protect: '{ secret: person, unit: home, maxRows: 2 }' }),
      policyOf({ dependence: '[{ kind: groups, by: home, oddsRatio: 2 }]' }),
      policyOf({ budget: '{ epsilon: 100 }' }),
      policyOf({ protect: '{ secret: row, neighbours: add-remove }', budget: '{ epsilon: 100 }' }),
    ]) {
      const session = await open(400, text).session();
      await payAll(session, '2');
      const { tables, used } = await estimated(session, { tidy: true });
      expect(used.length).toBe(4);
      for (const row of tables.flatMap(({ rows }) => rows)) {
        expect(row.value).toBeGreaterThanOrEqual(0);
        expect(row.standardError).toBeGreaterThan(0);
      }
      await session.close();
    }
  });

  it('an estimate leaves out counts of other rows of persons: cut to one each, or without persons who have more', async () => {
    const text = policyOf({ protect: '{ secret: person, unit: home, maxRows: 1 }', budget: '{ epsilon: 100 }' });
    const shop = open(400, text);
    const first = await shop.session();
    await first.release({ kind: 'histogram', column: 'town' }, { epsilon: '2' });
    expect((await estimated(first, {})).used.length).toBe(1);
    await first.close();
    for (const other of [
      text.replace('maxRows: 1', 'maxRows: 1, pairs: { age: { within: 5 } }'),
      text.replace('people.csv', 'people.csv, links: [party]'),
      text.replace('maxRows: 1', 'maxRows: 2'),
    ]) {
      shop.write('policy.yaml', other);
      const session = await shop.session();
      await expect(estimated(session, {})).rejects.toMatchObject({ message: expect.stringContaining('Nothing was paid for') });
      await session.close();
    }
  });

  it('an estimate reads no row: it is the same if the data differs', async () => {
    const shop = open(400);
    const first = await shop.session();
    await first.release({ kind: 'histogram', column: 'town' }, { epsilon: '50' });
    const before = await estimated(first, { tidy: true });
    await first.close();
    shop.write('people.csv', csvOf(1));
    const later = await shop.session();
    expect(await estimated(later, { tidy: true })).toEqual(before);
    await later.close();
  });

  it('the command writes the tables of the estimate and their sources', async () => {
    const shop = open(500);
    const session = await shop.session();
    await payAll(session, '1');
    const entries = (await session.entries()).map(({ sequence }) => sequence);
    await session.close();
    const out = join(shop.folder, 'out');
    const stdout = await runCommand(registerEstimateCommand, 'estimate', shop.policyFile, '--tidy', '--out', out);
    expect(stdout).toContain(`Made of entries ${entries.join(', ')} of the ledger; nothing was read or spent.`);
    const document = JSON.parse(readFileSync(join(out, 'estimate.json'), 'utf8'));
    expect(document).toMatchObject({ spent: 0, used: entries.map((entry) => ({ entry })) });
    expect(readFileSync(join(out, '1-town-x-party.csv'), 'utf8').split('\n').length).toBeGreaterThan(20);
  });
});
