import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCommand } from '../../../test/command.js';
import { openWorkshop, type Workshop } from '../../../test/workshop.js';
import { registerLearnCommand } from './learn.js';

const people = 6000;
const cities = ['Ulm', 'Bonn', 'Köln'];
const policy = (dependence: string) => `data: { source: people.csv }
protect: { secret: person, unit: person, maxRows: 1 }
budget: { epsilon: 16 }
population: town
ledger: ledger.db
dependence: ${dependence}
columns:
  # who they are
  age: { type: integer, bounds: [0, 99] }
tables:
  visits:
    source: visits.csv
    unit: person
    maxRows: 2
    columns: { cost: { type: integer, bounds: [0, 99] } }
`;
let shop: Workshop;
beforeEach(() => {
  shop = openWorkshop(policy('[{kind: groups, by: home, oddsRatio: 2}]'));
  const rows = Array.from({ length: people }, (_, i) => [
    `p${i}`,
    `h${i >> 1}`,
    i % 90,
    cities[i % 3],
    1000 + (i % 900) * 10,
    (i % 100) / 10,
  ]);
  shop.write('people.csv', `person,home,age,city,income,score\n${rows.map((row) => row.join()).join('\n')}\n`);
  // Nearly everybody has up to six visits, and one in a hundred has 30.
  const visits = Array.from({ length: people }, (_, i) =>
    Array.from({ length: i % 100 === 0 ? 30 : 1 + (i % 6) }, (_, k) => `p${i},${k},${k % 2 ? 'home' : 'clinic'}`),
  );
  shop.write('visits.csv', `person,cost,place\n${visits.flat().join('\n')}\n`);
});
afterEach(() => shop.remove());

const run = (what: string, ...words: string[]) =>
  runCommand(registerLearnCommand, 'learn', what, shop.policyFile, '--epsilon', '5', ...words);
const json = async (what: string, ...words: string[]) => JSON.parse(await run(what, ...words, '--json'));
const text = () => readFileSync(shop.policyFile, 'utf8');

describe('the commands fugu learn keys, bounds and rows', () => {
  it('fugu learn keys finds frequent values, under ties, and enters them with the number of the ledger entry', async () => {
    const found = await json('keys', '--column', 'city', '--longest', '6', '--most', '5');
    expect(
      found.result.keys
        .map(({ key }: { key: string }) => key)
        .sort()
        .filter((key: string) => cities.includes(key)),
    ).toEqual([...cities].sort());
    expect(text()).toContain(`learned: "ledger entry ${found.receipt.ledger.entry}"`);
    expect(text()).toContain('# who they are');
    await expect(run('keys', '--column', 'city')).rejects.toThrow('declares "city" already');
    const session = await shop.session();
    const { tables, receipt } = await session.release({ kind: 'count', by: ['city'] }, { epsilon: '5' });
    const counts = new Map(tables[0]!.rows.map(({ keys, value }) => [keys[0], value]));
    for (const city of cities) expect(Math.abs(counts.get(city)! - people / 3)).toBeLessThan(100);
    // Both entries are in one account.
    expect(receipt.ledger.entry).toBeGreaterThan(found.receipt.ledger.entry);
    expect((await session.plan({ kind: 'count' })).budget.spent).toBeCloseTo(10, 6);
    await session.close();
  });

  it('fugu learn bounds finds round bounds and the digits of numbers', async () => {
    expect((await json('bounds', '--column', 'income', '--tail', '0.05')).result).toMatchObject({
      bounds: [1000, 10000],
      step: 1,
    });
    expect((await json('bounds', '--column', 'score', '--within', '1000', '--tail', '0.05')).result).toMatchObject({
      bounds: [0, 10],
      step: 0.1,
    });
    expect(text()).toMatch(/income: \{ type: integer, bounds: \[1000, 10000\], learned: "ledger entry \d+" \}/);
    expect(text()).toMatch(/score: \{ type: number, bounds: \[0, 10\], step: 0.1, learned: "ledger entry \d+" \}/);
    expect(await run('bounds', '--column', 'cost2', '--table', 'visits').catch((fault) => fault.message)).toContain('cost2');
  });

  it('fugu learn rows finds the number of rows that nearly everybody has, and learn keys the values of a table', async () => {
    const { result, receipt } = await json('rows', '--table', 'visits', '--most', '100');
    expect(result.maxRows).toBe(6);
    expect(text()).toContain('maxRows: 6');
    expect(text()).toContain(`learned: "ledger entry ${receipt.ledger.entry}"`);
    const output = await run('keys', '--column', 'place', '--table', 'visits', '--longest', '6', '--most', '4');
    expect(output).toMatch(/home .*\d+/);
    expect(text()).toMatch(/place: \{ type: category, values: \[.*"clinic".*\]/);
    const session = await shop.session();
    const plan = await session.plan({ kind: 'count', by: ['place'], from: 'visits' });
    expect(plan.fits).toBe(true);
    await session.close();
  });

  it('fugu learn refuses unknown and declared columns before anything is spent', async () => {
    const before = text();
    for (const words of [
      ['keys', '--column', 'town'],
      ['keys', '--column', 'place', '--table', 'trips'],
      ['keys', '--column', 'town', '--table', 'visits'],
      ['keys', '--column', 'age'],
      ['keys', '--column', 'person'],
      ['keys', '--column', 'city', '--most', '0'],
      ['bounds', '--column', 'age'],
      ['bounds', '--column', 'income', '--tail', 'x'],
      ['rows', '--table', 'data'],
    ])
      await expect(run(words[0]!, ...words.slice(1)), words.join(' ')).rejects.toThrow();
    expect(text()).toBe(before);
    const session = await shop.session();
    expect((await session.plan({ kind: 'count' })).budget.spent).toBe(0);
    await session.close();
  });

  it("fugu learn keys does not confuse the person column of the data with a table's column of the same name", async () => {
    shop.write('visits.csv', 'who,person,cost\np1,a,3\np2,b,4\n');
    shop.write('policy.yaml', text().replace('unit: person\n', 'unit: who\n'));
    const file = shop.policyFile.replace(/[^/]*$/, 'policy.yaml');
    const words = ['learn', 'keys', file, '--epsilon', '5', '--column', 'person', '--table', 'visits'];
    await expect(runCommand(registerLearnCommand, ...words)).rejects.toThrow('"person" names the persons');
  });

  it('fugu learn returns a recorded result for free, and no declaration where nothing is above the noise', async () => {
    expect(await run('keys', '--column', 'income', '--longest', '4')).toMatch(/No value was seen above the noise|Entered into/);
    const first = await json('rows', '--table', 'visits', '--most', '50');
    const again = await json('rows', '--table', 'visits', '--most', '50');
    expect(again.receipt.ledger).toMatchObject({ entry: first.receipt.ledger.entry, replayed: true });
  });
});
