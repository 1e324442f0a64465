import { afterEach, describe, expect, it } from 'vitest';
import { auditOutputs, type Output } from './statistical/statistical.js';
import { openWorkshop, policyYaml, type Workshop } from './workshop.js';

/** The auditor on the real path: policy, engine, ledger, session, noise. Only the data differ between the two worlds. */
const counts = 100;
const rounds = 40;
const perCount = 1;

let shops: Workshop[] = [];
afterEach(() => {
  for (const shop of shops) shop.remove();
  shops = [];
});

/** Thirty people in homes of three; in one world the first `changed` of them are dem, in the other rep. */
const people = (party: string, changed: number) =>
  `id,home,party,age,weight,media\n${Array.from({ length: 30 }, (_, i) => `p${i},h${Math.floor(i / 3)},${i < changed ? party : 'other'},30,1,tv`).join('\n')}\n`;

async function outputs(dependence: string, party: string, changed: number): Promise<Output[]> {
  const shop = openWorkshop(policyYaml({ dependence, budget: `{ epsilon: ${counts * rounds * perCount} }` }));
  shops.push(shop);
  shop.write('people.csv', people(party, changed));
  const session = await shop.session();
  const seen: Output[] = [];
  for (let round = 0; round < rounds; round++) {
    const queries = Array.from({ length: counts }, (_, k) => ({
      kind: 'count' as const,
      name: `count ${round} ${k}`,
      // Everyone is 30: a hundred different questions with one answer (the same question twice would be answered once).
      where: [
        { column: 'party', op: '=' as const, value: 'dem' },
        { column: 'age', op: '<=' as const, value: 31 + (k % 50) },
        { column: 'age', op: '>=' as const, value: 20 + Math.floor(k / 50) },
      ],
    }));
    const { tables } = await session.release({ queries }, { epsilon: `${counts * perCount}`, fresh: true });
    for (const table of tables) seen.push(table.rows[0]!.value!);
  }
  await session.close();
  expect(seen).toHaveLength(counts * rounds);
  return seen;
}

const audit = async (dependence: string, changed: number) =>
  auditOutputs(await outputs(dependence, 'dem', changed), await outputs(dependence, 'rep', changed));

describe('the statistical auditor on whole releases', () => {
  it('the auditor finds no more than the promised loss about one person among strangers, and most of it', async () => {
    const { epsilon } = await audit('none', 1);
    expect(epsilon).toBeLessThanOrEqual(perCount);
    expect(epsilon).toBeGreaterThan(perCount * 0.5);
  });

  it('the auditor finds no more than the promised loss about a declared home of three copies', async () => {
    const { epsilon } = await audit('[{ kind: groups, by: home }]', 3);
    expect(epsilon).toBeLessThanOrEqual(perCount);
  });

  it('the auditor detects an undeclared home of three copies', async () => {
    const { epsilon } = await audit('none', 3);
    expect(epsilon).toBeGreaterThan(perCount * 1.5);
  });
});
