import { afterEach, describe, expect, it } from 'vitest';
import { planDegrees } from '../src/analysis/pattern/degrees/release.js';
import { planPattern } from '../src/analysis/pattern/release.js';
import { releaseContextOf } from '../src/release/session/session.js';
import { now } from './now.js';
import { openWorkshop, policyYaml, type Workshop } from './workshop.js';

let shop: Workshop;
afterEach(() => shop?.remove());

const people = 60;
/** p0 knows everybody, the others form a ring. */
const friends = (known = people) =>
  `a,b\n${Array.from({ length: people - 1 }, (_, k) => `p0,p${1 + (k % (known - 1))}\np${k + 1},p${((k + 1) % (people - 1)) + 1}`).join('\n')}\n`;
const csv = (change: Record<string, string> = {}) =>
  `id,home,party,age,weight,media\n${Array.from({ length: people }, (_, i) => `p${i},h0,${change[`p${i}`] ?? ['dem', 'rep'][i % 2]},30,1,tv`).join('\n')}\n,h0,dem,30,1,tv\n`;
const policy = (maxTies: number | undefined, budget = '{ epsilon: 1 }', protect = '{ secret: row, unit: id }') =>
  policyYaml({
    budget,
    protect,
    dependence: `[{ kind: ties, relation: friend, oddsRatio: 2, ${maxTies === undefined ? '' : `maxTies: ${maxTies}`} }]`,
    extra: 'relations:\n  friend: { table: friends.csv, columns: [a, b], domain: 100, symmetric: true }\n',
  });
const open = (yaml: string, data = csv()) => {
  shop = openWorkshop(yaml);
  shop.write('people.csv', data);
  shop.write('friends.csv', friends());
  return shop.session();
};
const kept = async (session: Awaited<ReturnType<typeof open>>) =>
  (await (await now(releaseContextOf(session).engine)).rows({ sql: 'SELECT id FROM fugu_data', values: [] }))
    .open()
    .map(([id]) => id);

describe('the contribution bound maxTies', () => {
  it('maxTies leaves rows out, keeps rows without a name, and reports how many and why', async () => {
    const session = await open(policy(6));
    const plan = await session.plan({ kind: 'histogram', column: 'party' });
    const names = await kept(session);
    expect(names).toContain(null);
    expect(plan.records).toEqual({ used: names.length, leftOut: people + 1 - names.length });
    expect(plan.records!.leftOut).toBeGreaterThan(20);
    expect(plan.guarantee.assumptions.join(' ')).toMatch(
      /left out of every release.* more than 6 .* ties only, never on a value/,
    );
    expect(plan.whatIf.find((w) => w.change === 'one more tie per record')!.leakage).toBeGreaterThan(1.01);
    const { receipt } = await session.release({ kind: 'histogram', column: 'party' });
    expect(receipt.records).toEqual(plan.records);
    await session.close();
  });

  it('maxTies lowers the noise that hubs cause', async () => {
    const error = async (maxTies: number | undefined) => {
      const session = await open(policy(maxTies));
      const { halfWidth } = (await session.plan({ kind: 'histogram', column: 'party' }, { epsilon: '1' })).errors[0]!;
      await session.close();
      shop.remove();
      return halfWidth;
    };
    const [everybody, twenty, six] = [await error(undefined), await error(20), await error(6)];
    expect(six).toBeLessThan(everybody / 5);
    expect(six).toBeLessThanOrEqual(twenty);
    expect(await error(people)).toBeCloseTo(everybody, 9);
  });

  it('no value of a record left out by maxTies changes an answer', async () => {
    // A budget so large that the noise is zero: the release is the exact count of the used records.
    const rich = policy(6, '{ epsilon: 100000 }');
    const answer = async (change: Record<string, string>) => {
      const session = await open(rich, csv(change));
      const { tables } = await session.release(
        { queries: [{ kind: 'count' }, { kind: 'histogram', column: 'party' }, { kind: 'mean', column: 'age' }] },
        { epsilon: '100000' },
      );
      const names = await kept(session);
      await session.close();
      shop.remove();
      return { values: tables.map((t) => t.rows.map((r) => r.value)), names };
    };
    const before = await answer({});
    const out = Array.from({ length: people }, (_, i) => `p${i}`).filter((name) => !before.names.includes(name));
    const changed = await answer(Object.fromEntries(out.map((name) => [name, 'other'])));
    expect(changed.values).toEqual(before.values);
    const inside = before.names.find((name) => name !== null) as string;
    expect((await answer({ [inside]: 'other' })).values).not.toEqual(before.values);
  });

  it('maxTies leaves out all rows of a person', async () => {
    const twice = `${csv()}${csv().split('\n').slice(1, -2).join('\n')}\n`;
    const session = await open(policy(6, '{ epsilon: 1 }', '{ secret: person, unit: id, maxRows: 2 }'), twice);
    const names = (await kept(session)).filter((name) => name !== null);
    expect(names.length).toBe(2 * new Set(names).size);
    expect((await session.plan({ kind: 'count' })).records!.used).toBe(new Set(names).size + 1);
    await session.close();
  });

  it('everybody counts as used once the ties, and with them the records left out, have changed', async () => {
    const session = await open(policy(6));
    await session.release({ kind: 'histogram', column: 'party' }, { epsilon: '0.02' });
    const before = await session.plan({ kind: 'count' });
    expect(before.budget.spent).toBeCloseTo(0.02, 6);
    expect(before.route).toMatch(/used records/);
    await session.close();
    shop.write('friends.csv', friends(30));
    const later = await shop.session();
    const after = await later.plan({ kind: 'count' });
    expect(after.budget.spent).toBeGreaterThan(0.03);
    expect(after.route).not.toMatch(/used records/);
    expect(await later.privacyLoss()).toBeGreaterThan(0.02);
    await later.close();
  });

  it('an open session refuses to go on when the ties change', async () => {
    const session = await open(policy(6));
    await session.plan({ kind: 'count' });
    shop.write('friends.csv', friends(30));
    await expect(session.release({ kind: 'count', where: [{ column: 'party', op: '=', value: 'dem' }] })).rejects.toMatchObject({
      code: 'ENGINE_FAILED',
    });
    expect((await session.spent()).pure.perRecord.size).toBe(0);
    await session.close();
  });

  it('maxTies does not cover reads of other tables: records left out have ties that count there', async () => {
    const session = await open(policy(6, '{ epsilon: 1 }', '{ secret: person, unit: id, maxRows: 1 }'));
    expect((await session.plan({ kind: 'count' })).route).toMatch(/used records/);
    for (const plan of [await planDegrees(session, { degree: 5 }), await planPattern(session, 'edges of friend')]) {
      expect(plan.route).not.toMatch(/used records/);
      expect(plan.records).toBeUndefined();
    }
    await session.close();
  });
});
