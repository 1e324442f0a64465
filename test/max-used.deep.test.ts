import { afterEach, describe, expect, it } from 'vitest';
import { releaseContextOf } from '../src/release/session/session.js';
import { now } from './now.js';
import { openWorkshop, policyYaml, type Workshop } from './workshop.js';

let shop: Workshop;
afterEach(() => shop?.remove());

/** 100 couples; the last home has six more people, and one without a name. */
const people = 206;
const home = (i: number) => `h${Math.min(99, Math.floor(i / 2))}`;
const csv = (change: Record<string, string> = {}) =>
  `id,home,party,age,weight,media\n${Array.from({ length: people }, (_, i) => `p${i},${home(i)},${change[`p${i}`] ?? ['dem', 'rep'][i % 2]},30,1,tv`).join('\n')}\n,h99,dem,30,1,tv\n`;
const policy = (more: string, budget = '{ epsilon: 1 }', protect = '{ secret: row, unit: id }') =>
  policyYaml({ budget, protect, dependence: `[{ kind: groups, by: home${more} }]` });
const open = (yaml: string, data = csv()) => {
  shop = openWorkshop(yaml);
  shop.write('people.csv', data);
  return shop.session();
};
const kept = async (session: Awaited<ReturnType<typeof open>>): Promise<unknown[][]> =>
  (
    await (await now(releaseContextOf(session).engine)).rows({ sql: 'SELECT id, home FROM fugu_data', values: [] })
  ).open() as unknown[][];

describe('the contribution bound maxUsed', () => {
  it('maxUsed uses so many of each group, those without a name first, and reports how many records are left out', async () => {
    const session = await open(policy(', maxUsed: 2'));
    const rows = await kept(session);
    const sizes = new Map<unknown, number>();
    for (const [, h] of rows) sizes.set(h, (sizes.get(h) ?? 0) + 1);
    expect(Math.max(...sizes.values())).toBe(2);
    expect(sizes.size).toBe(100);
    expect(rows.map(([id]) => id)).toContain(null);
    const plan = await session.plan({ kind: 'histogram', column: 'party' });
    expect(plan.records).toEqual({ used: 200, leftOut: 7 });
    expect(plan.guarantee.assumptions.join(' ')).toMatch(
      /7 of 207 records are left out .* no group has more than 2 used members.* ties only, never on a value/,
    );
    const { receipt } = await session.release({ kind: 'histogram', column: 'party' });
    expect(receipt.records).toEqual(plan.records);
    await session.close();
  });

  it('a large household costs its own members their place under maxUsed, not everybody accuracy', async () => {
    const error = async (more: string, data = csv()) => {
      const session = await open(policy(more), data);
      const { halfWidth } = (await session.plan({ kind: 'histogram', column: 'party' }, { epsilon: '1' })).errors[0]!;
      await session.close();
      shop.remove();
      return halfWidth;
    };
    const couples = csv().split('\n').slice(0, 201).join('\n');
    for (const strength of ['', ', oddsRatio: 4', ', oddsRatio: 4, hidden: true']) {
      const [all, two, one] = [
        await error(strength),
        await error(`${strength}, maxUsed: 2`),
        await error(`${strength}, maxUsed: 1`),
      ];
      expect(two).toBeLessThan(0.8 * all);
      expect(one).toBeLessThan(two);
      expect(await error(`${strength}, maxUsed: 9`)).toBeCloseTo(all, 9);
      // For copies, exactly as with couples only. Otherwise records left out still transmit influence between the used ones.
      if (strength === '') expect(two).toBeCloseTo(await error(strength, couples), 9);
    }
  });

  it('no value of a record left out by maxUsed changes an answer', async () => {
    const answer = async (change: Record<string, string>) => {
      const session = await open(policy(', maxUsed: 2', '{ epsilon: 100000 }'), csv(change));
      const { tables } = await session.release({ kind: 'histogram', column: 'party' }, { epsilon: '100000' });
      const names = (await kept(session)).map(([id]) => id as string | null);
      await session.close();
      shop.remove();
      return { values: tables.map((t) => t.rows.map((r) => r.value)), names };
    };
    const before = await answer({});
    const out = Array.from({ length: people }, (_, i) => `p${i}`).filter((name) => !before.names.includes(name));
    expect(out).toHaveLength(7);
    const changed = await answer(Object.fromEntries(out.map((name) => [name, 'other'])));
    expect(changed).toEqual(before);
    const inside = before.names.find((name) => name !== null)!;
    expect((await answer({ [inside]: 'other' })).values).not.toEqual(before.values);
  });

  it('maxUsed leaves out all rows of a person, and refuses a name that several records share', async () => {
    const twice = `${csv()}${csv().split('\n').slice(1, -2).join('\n')}\n`;
    const session = await open(policy(', maxUsed: 2', '{ epsilon: 1 }', '{ secret: person, unit: id, maxRows: 2 }'), twice);
    const names = (await kept(session)).map(([id]) => id).filter((name) => name !== null);
    expect(names.length).toBe(2 * new Set(names).size);
    expect((await session.plan({ kind: 'count' })).records).toEqual({ used: 200, leftOut: 7 });
    await session.close();
    shop.remove();
    await expect(open(policy(', maxUsed: 2'), twice)).rejects.toMatchObject({ code: 'DATA_MALFORMED' });
  });

  it.each([
    ['in a home that leaves nobody out', 0],
    ['in the home that leaves members out', 198],
  ])('two rows of one name are refused alike, independent of the records that the digest leaves out: %s', async (_, from) => {
    // The name of one row after the other is given to its neighbour in the file: some pairs are used, some are left out.
    const outcomes: string[] = [];
    for (let i = from; i < from + 7; i++) {
      const opened = await open(policy(', maxUsed: 2'), csv().replace(`\np${i},`, `\np${i + 1},`)).then(
        async (session) => {
          await session.close();
          return 'opened';
        },
        (error: unknown) => (error as { code: string }).code,
      );
      outcomes.push(opened);
      shop.remove();
    }
    expect(new Set(outcomes)).toEqual(new Set(['DATA_MALFORMED']));
  });

  it('a shared name is refused even if no group is large enough to leave anybody out', async () => {
    const twice = csv().replace('\np3,', '\np2,');
    await expect(open(policy(', maxUsed: 9'), twice)).rejects.toMatchObject({
      code: 'DATA_MALFORMED',
      message: expect.stringContaining('maxUsed'),
    });
  });

  it('maxUsed needs names, and cannot be combined with maxSize', async () => {
    await expect(open(policy(', maxUsed: 2', '{ epsilon: 1 }', '{ secret: row }'))).rejects.toMatchObject({
      code: 'POLICY_INVALID',
      message: expect.stringContaining('named'),
    });
    shop.remove();
    await expect(open(policy(', maxUsed: 2, maxSize: 9'))).rejects.toMatchObject({ code: 'POLICY_INVALID' });
  });
});
