import { afterEach, describe, expect, it } from 'vitest';
import { parseRational, toNumber } from '../src/base/exact/rational.js';
import { declaredAmplifiers } from '../src/data/ties/declared.js';
import { readPolicy } from './inside.js';
import { openNow } from './now.js';
import { openWorkshop, type Workshop } from './workshop.js';

let shop: Workshop;
afterEach(() => shop?.remove());

/** Three people of each home answer yes or no in each of 52 weeks. */
const homes = 4;
const weeks = 52;
const rows = Array.from({ length: homes * 3 * weeks }, (_, i) => {
  const person = Math.floor(i / weeks);
  return `${person},${Math.floor(person / 3)},${i % weeks},${(person + (i % weeks) * 7) % 5 < 2 ? 'yes' : 'no'},good`;
});
const yaml = (groups: string, protect = '{ secret: row }') => `data: { source: panel.csv }
protect: ${protect}
budget: { epsilon: 1 }
population: panel
ledger: ledger.db
columns:
  ill: { type: category, values: [yes, no] }
  mood: { type: category, values: [good, fair, bad] }
dependence:
  - { kind: sequence, by: person, order: week, state: ill, transition: weekly.json }
  - { kind: groups, ${groups} }
`;
async function opened(groups: string, stay = 0.75) {
  shop = openWorkshop(yaml(groups));
  shop.write('panel.csv', `person,home,week,ill,mood\n${rows.join('\n')}\n`);
  shop.write(
    'weekly.json',
    JSON.stringify([
      [stay, 1 - stay],
      [1 - stay, stay],
    ]),
  );
  const policy = await readPolicy(shop.policyFile);
  const engine = await openNow(policy);
  try {
    const { amplifiers } = await declaredAmplifiers(policy, engine);
    return amplifiers.map((a) => ({
      times: 1 / toNumber(a.largestBase(parseRational('1'))),
      assumptions: a.assumptions.join(' '),
    }));
  } finally {
    await engine.close();
  }
}

describe('a panel of households', () => {
  const same = 'by: {all: [home, week]}, column: ill, oddsRatio: 4';
  it('the panel costs a fifth if ties pull together, and the plan reports it', async () => {
    const [together] = await opened(`${same}, pull: alike`);
    shop.remove();
    const [any] = await opened(same);
    // By transfer matrix, 23.79 times the base for the record in the middle; without the direction nearly the 156 of the whole household.
    expect(together!.times).toBeGreaterThan(23.7);
    expect(together!.times).toBeLessThan(23.9);
    // The result of version 0.1, and the cap of the whole household: 156.
    expect(any!.times).toBeGreaterThan(140);
    expect(any!.times).toBeLessThanOrEqual(3 * weeks);
    expect(any!.times).toBeGreaterThan(5 * together!.times);
    expect(together!.assumptions).toContain('pull it together');
    expect(any!.assumptions).not.toContain('pull');
  });
  it('the panel saves nothing if states alternate, because ties then pull in opposite directions', async () => {
    const [separate] = await opened(`${same}, pull: alike`, 0.25);
    expect(separate!.times).toBeGreaterThan(100);
  });
  it('the panel ties those who share all of the columns, not any', async () => {
    const [all] = await opened(`${same}, pull: alike`);
    shop.remove();
    const [any] = await opened('by: [home, week], column: ill, oddsRatio: 4, pull: alike');
    expect(any!.times).toBeGreaterThan(2 * all!.times);
  });
});

describe('whole persons', () => {
  /** Homes alone: no ties between steps. */
  async function timesOf(maxRows: number, pull: string) {
    const protect = `{ secret: person, unit: person, maxRows: ${maxRows} }`;
    shop = openWorkshop(yaml(`by: home, column: ill, oddsRatio: 4${pull}`, protect).replace(/ {2}- \{ kind: sequence.*\n/, ''));
    shop.write('panel.csv', `person,home,week,ill,mood\n${rows.join('\n')}\n`);
    const policy = await readPolicy(shop.policyFile);
    const engine = await openNow(policy);
    try {
      const [first] = (await declaredAmplifiers(policy, engine)).amplifiers;
      return 1 / toNumber(first!.largestBase(parseRational('1')));
    } finally {
      await engine.close();
      shop.remove();
    }
  }
  it('whole persons save by ties that pull together only if each has one answer', async () => {
    expect(await timesOf(1, ', pull: alike')).toBeLessThan(await timesOf(1, ''));
    // The answers of several rows are more than two values.
    expect(await timesOf(2, ', pull: alike')).toBe(await timesOf(2, ''));
  });
});

describe('the declaration pull: alike where it does not hold', () => {
  it.each([
    ['without a column', 'by: home, oddsRatio: 4, pull: alike'],
    ['for three values', 'by: home, column: mood, oddsRatio: 4, pull: alike'],
    ['under another name', 'by: home, column: ill, oddsRatio: 4, pull: apart'],
  ])('the declaration is refused: %s', async (_, groups) => {
    shop = openWorkshop(yaml(groups));
    shop.write('weekly.json', '[[0.75, 0.25], [0.25, 0.75]]');
    await expect(readPolicy(shop.policyFile)).rejects.toMatchObject({ code: 'POLICY_INVALID' });
  });
});
