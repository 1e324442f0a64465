import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCommand } from '../../../test/command.js';
import { openWorkshop, type Workshop } from '../../../test/workshop.js';
import { registerLearnCommand } from './learn.js';

let shop: Workshop;
const [people, days] = [300, 12];
/** Somebody moves on one day in four. */
const place = (p: number, day: number) => ['home', 'work', 'shop'][Math.floor((p + day) / 4) % 3]!;
const visits = `person,day,place\n${Array.from({ length: people * days }, (_, k) => {
  const [p, day] = [Math.floor(k / days), 1 + (k % days)];
  return `p${p},${day},${place(p, day)}`;
}).join('\n')}\n`;
const policy = (dependence: string, protect = '{ secret: person, unit: person, maxRows: 12 }') => `data: { source: visits.csv }
protect: ${protect}
budget: { epsilon: 4 }
population: town
ledger: ledger.db
dependence: ${dependence}
columns:
  day: { type: integer, bounds: [1, 12], public: true }
  place: { type: category, values: [home, work, shop] }
`;
beforeEach(() => {
  shop = openWorkshop(policy('none'));
  shop.write('visits.csv', visits);
});
afterEach(() => shop.remove());

const out = () => join(shop.folder, 'daily.json');
const steps = ['--order', 'day', '--state', 'place'];
const run = (...words: string[]) =>
  runCommand(registerLearnCommand, 'learn', 'transitions', shop.policyFile, '--out', out(), ...words);
const json = async (...words: string[]) => JSON.parse(await run(...words, '--json'));

describe('the command fugu learn transitions', () => {
  it('fugu learn transitions pays for a matrix that a policy can declare, and repeats it for free', async () => {
    const found = await json(...steps, '--epsilon', '1');
    expect(found).toMatchObject({ states: ['home', 'work', 'shop'], origin: { learned: 'paid', epsilon: '1', delta: '0' } });
    // Eleven pairs of a person, each from one cell to another.
    expect(found.noiseScale).toBeCloseTo(22, 6);
    expect(found.receipt.ledger.entry).toBeGreaterThan(0);
    for (const [k, row] of found.transition.entries()) {
      expect(row[k]).toBeGreaterThan(0.6);
      expect(row[k]).toBeLessThan(0.9);
    }
    const again = await json(...steps, '--epsilon', '1');
    expect(again.transition).toEqual(found.transition);
    expect(again.receipt.ledger.entry).toBe(found.receipt.ledger.entry);
    const session = await shop.session();
    expect((await session.plan({ kind: 'count' })).budget.spent).toBeCloseTo(1, 9);
    await session.close();
  });

  it('a policy declares a learned matrix in a sequence, and its promise states the origin', async () => {
    for (const [words, expected] of [
      [['--epsilon', '1'], 'learned from the data and paid for (epsilon 1'],
      [[], 'NOT PAID FOR'],
      [['--public'], 'learned from public data (visits.csv)'],
    ] as const) {
      await run(...steps, ...words);
      shop.write(
        'policy2.yaml',
        policy('[{ kind: sequence, by: person, order: day, state: place, transition: daily.json }]', '{ secret: step }').replace(
          'ledger.db',
          `${expected.length}.db`,
        ),
      );
      const session = await shop.session(join(shop.folder, 'policy2.yaml'));
      const plan = await session.plan({ kind: 'count' });
      expect(JSON.stringify(plan.guarantee)).toContain(expected);
      await session.close();
    }
  });

  it('an unpaid matrix is exact and marked as unpaid', async () => {
    const found = await json(...steps);
    expect(found.origin).toEqual({ learned: 'unpaid' });
    expect(found.pairs).toBe(people * (days - 1));
    expect(JSON.parse(readFileSync(out(), 'utf8')).origin).toEqual({ learned: 'unpaid' });
    expect(await run(...steps)).toContain('NOT PAID FOR');
  });

  it('fugu learn transitions takes the unit of the steps from a declared sequence', async () => {
    await run(...steps, '--public');
    shop.write(
      'policy.yaml',
      policy('[{ kind: sequence, by: person, order: day, state: place, transition: daily.json }]', '{ secret: step }'),
    );
    const found = await json('--epsilon', '1');
    expect(found.states).toEqual(['home', 'work', 'shop']);
    expect(found.noiseScale).toBeGreaterThan(4);
  });

  it.each([
    [['--state', 'place'], 'QUERY_INVALID'],
    [['--order', 'place', '--state', 'place'], 'QUERY_UNSUPPORTED'],
    [['--order', 'day', '--state', 'nowhere'], 'COLUMN_UNKNOWN'],
    [[...steps, '--epsilon', '1', '--public'], 'USAGE'],
    [[...steps, '--epsilon', '9'], 'BUDGET_EXCEEDED'],
  ])('fugu learn transitions refuses %j', async (words, code) => {
    await expect(run(...words)).rejects.toMatchObject({ code });
  });

  it('fugu learn transitions spends nothing on steps of a unit that the data does not name', async () => {
    await expect(run('--by', 'nobody', ...steps, '--epsilon', '1')).rejects.toMatchObject({ code: 'COLUMN_UNKNOWN' });
    const session = await shop.session();
    expect(await session.entries()).toEqual([]);
    await session.close();
  });

  it('a policy refuses a matrix file whose states have another order', async () => {
    await run(...steps, '--public');
    const learned = JSON.parse(readFileSync(out(), 'utf8'));
    shop.write('daily.json', JSON.stringify({ ...learned, states: ['work', 'home', 'shop'] }));
    shop.write(
      'policy.yaml',
      policy('[{ kind: sequence, by: person, order: day, state: place, transition: daily.json }]', '{ secret: step }'),
    );
    await expect(shop.session()).rejects.toMatchObject({ code: 'MODEL_INVALID' });
  });
});
