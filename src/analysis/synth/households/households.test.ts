import fc from 'fast-check';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { openWorkshop, type Workshop } from '../../../../test/workshop.js';
import { compare, rational } from '../../../base/exact/rational.js';
import { zcdp } from '../../../privacy/mechanism/budget-share.js';
import type { Mechanism } from '../../../privacy/mechanism/mechanism.js';
import { drawCost } from '../../../privacy/mechanism/mechanism-cost.js';
import { Payment } from '../../../privacy/mechanism/payment.js';
import { everyRecord } from '../../../privacy/mechanism/record-class.js';
import { fitModel as modelOf } from '../../graphical/fit.js';
import { type CodedTable, countMarginal } from '../../learn/network/coded.js';
import { penaltySensitivity } from '../distance.js';
import type { SynthSetting } from '../method.js';
import { planSynth, releaseSynth } from '../release.js';
import { arrangeMembers } from './arrange-members.js';
import { type Household, pairMethod } from './measure-pairs.js';
import { distanceBetween, type MemberDistance } from './member-distance.js';
import { drawPartners, memberCounts, noHousehold, pairRows } from './pairs.js';

// Seeded noise: every run draws the same.
vi.mock('../../../privacy/noise/bits.js', async (original) =>
  (await import('../../../../test/seeded-source.js')).seededNoise(
    await original<typeof import('../../../privacy/noise/bits.js')>(),
    57,
  ),
);

const memberDistance: MemberDistance = { of: 0, width: 4, places: 2 };
const household: Household = { members: 2, shared: [], own: [0, 1], distances: [memberDistance] };
const sizes = [4, 2, 3];

/** People with a household each (or none), and their answers in two columns. */
const town = fc
  .array(fc.record({ home: fc.integer({ min: -1, max: 3 }), a: fc.nat(3), b: fc.nat(1) }), { minLength: 1, maxLength: 14 })
  .chain((people) =>
    fc.tuple(fc.constant(people), fc.nat(people.length - 1), fc.nat(3), fc.nat(1), fc.infiniteStream(fc.nat(999))),
  );
type People = readonly { readonly home: number; readonly a: number; readonly b: number }[];
const homesOf = (people: People) => Uint32Array.from(people, ({ home }) => (home < 0 ? noHousehold : home));
const tableOf = (people: People): CodedTable => ({
  names: ['a', 'b', 'members'],
  levels: sizes,
  rows: people.length,
  columns: [
    Uint16Array.from(people, ({ a }) => a),
    Uint16Array.from(people, ({ b }) => b),
    memberCounts(homesOf(people), sizes[2]!),
  ],
});
const coinsOf = (list: readonly number[]) => {
  let at = 0;
  return (n: number) => list[at++ % list.length]! % n;
};

describe('pairs of household members', () => {
  it('every person is in at most one pair, with somebody of the same household, and as many as possible are paired', () => {
    fc.assert(
      fc.property(town, ([people, , , , coins]) => {
        const homes = homesOf(people);
        const pairs = drawPartners(homes, coinsOf([...coins.take(40)]));
        expect(new Set(pairs).size).toBe(pairs.length);
        for (let k = 0; k < pairs.length; k += 2) expect(homes[pairs[k]!]).toBe(homes[pairs[k + 1]!]);
        const sizes = new Map<number, number>();
        for (const home of homes) if (home !== noHousehold) sizes.set(home, (sizes.get(home) ?? 0) + 1);
        expect(pairs.length / 2).toBe([...sizes.values()].reduce((n, s) => n + Math.floor(s / 2), 0));
      }),
    );
  });

  it('the pairs change by at most one row when one record is replaced, for any coins: every table by 2, and 2 squared', () => {
    fc.assert(
      fc.property(town, ([people, who, a, b, coins]) => {
        const list = [...coins.take(40)];
        const other = people.map((own, k) => (k === who ? { ...own, a, b } : own));
        const [here, there] = [people, other].map((own) =>
          pairRows(tableOf(own), household, drawPartners(homesOf(own), coinsOf(list))),
        ) as [CodedTable, CodedTable];
        for (const columns of [[1], [5], [1, 3], [0, 1, 3], [2, 4], [1, 4], [1, 5], [0, 5], [1, 2, 3, 4]]) {
          const [x, y] = [countMarginal(here, columns), countMarginal(there, columns)];
          const moved = [...x].map((n, cell) => n - y[cell]!);
          expect(moved.reduce((sum, d) => sum + Math.abs(d), 0)).toBeLessThanOrEqual(2);
          expect(moved.reduce((sum, d) => sum + d * d, 0)).toBeLessThanOrEqual(2);
        }
      }),
    );
  });

  it('the inputs of every mechanism of the rounds move by no more than the sensitivity it was paid for', () => {
    const people: People = Array.from({ length: 40 }, (_, k) => ({ home: k >> 2, a: (k >> 2) % 4, b: k % 2 }));
    const setting: SynthSetting = { sizes, change: 'replaced', records: 40, each: 1, impossible: [], mostCells: 5000 };
    const model = modelOf({ sizes, measured: [], total: 40 });
    const method = pairMethod(setting, household, zcdp(rational(2)));
    type Step = { readonly mechanism: Mechanism; readonly given: readonly bigint[]; readonly out: unknown };
    const watched = (own: People, replay?: readonly Step[]): readonly Step[] => {
      const steps: Step[] = [];
      class Watching extends Payment {
        override release<In, Out>(mechanism: Mechanism, given: In, noisy: (given: In) => Out): Out {
          const out = replay ? (replay[steps.length]!.out as Out) : super.release(mechanism, given, noisy);
          steps.push({ mechanism, given: given as unknown as readonly bigint[], out });
          return out;
        }
      }
      const pairs = pairRows(
        tableOf(own),
        household,
        drawPartners(homesOf(own), () => 0),
      );
      method.run(pairs, model, new Watching(method.mechanisms));
      return steps;
    };
    const before = watched(people);
    let largest = 0n;
    for (const [a, b] of [
      [0, 0],
      [1, 1],
      [2, 0],
      [3, 1],
    ] as const) {
      const after = watched(
        people.map((own, k) => (k === 5 ? { ...own, a, b } : own)),
        before,
      );
      expect(after.length).toBe(before.length);
      for (const [k, { mechanism, given }] of before.entries()) {
        const moved = given.map((x, cell) => x - after[k]!.given[cell]!).map((d) => (d < 0n ? -d : d));
        if (mechanism.distribution.kind === 'selection') for (const d of moved) expect(d <= penaltySensitivity(1)).toBe(true);
        else {
          const squares = moved.reduce((sum, d) => sum + d * d, 0n);
          const loss = drawCost(mechanism.distribution, 'zcdp', {
            l1: moved.reduce((sum, d) => sum + d, 0n),
            l2squared: squares,
          })!;
          expect(compare(loss, mechanism.cost.perRecord.get(everyRecord)!)).toBeLessThanOrEqual(0);
          if (squares > largest) largest = squares;
        }
      }
    }
    expect(largest).toBe(2n);
  });
});

describe('the distance of two members', () => {
  it('the distance of numbers is in bins, and a missing answer equals no other', () => {
    const bins: MemberDistance = { of: 0, width: 7, places: 4 };
    expect([0, 1, 2, 3, 5].map((b) => distanceBetween(bins, 0, b))).toEqual([0, 1, 2, 3, 3]);
    expect([distanceBetween(bins, 6, 6), distanceBetween(bins, 5, 6)]).toEqual([0, 3]);
    expect([distanceBetween(memberDistance, 1, 1), distanceBetween(memberDistance, 1, 2)]).toEqual([0, 1]);
  });
});

describe('the arrangement of people in households', () => {
  it("the arrangement approaches its target tables without changing anybody's answers", () => {
    // Forty households of two and thirty of three; targets in which members of a household agree on three answers.
    const kinds = [
      { from: 0, households: 40, members: 2 },
      { from: 80, households: 30, members: 3 },
    ];
    const answers = Uint16Array.from({ length: 170 }, (_, k) => k % 3);
    const counts = new Float64Array(9);
    for (const v of [0, 1, 2]) counts[4 * v] = 70 / 3;
    let state = 7;
    const below = (n: number) => {
      state = (state * 48271) % 2147483647;
      return state % n;
    };
    const at = arrangeMembers(kinds, 170, [{ first: answers, second: answers, width: 3, counts, weight: 1 }], below);
    expect([...at].sort((a, b) => a - b)).toEqual([...Array(170).keys()]);
    const same = (from: number, n: number, members: number) => {
      let hits = 0;
      for (let h = 0; h < n; h++) if (answers[at[from + h * members]!] === answers[at[from + h * members + 1]!]) hits++;
      return hits / n;
    };
    expect(same(0, 40, 2)).toBeGreaterThan(0.9);
    expect(same(80, 30, 3)).toBeGreaterThan(0.9);
    expect([...at].every((p, place) => p < 80 === place < 80)).toBe(true);
  });
});

describe('synthetic households', () => {
  const shops: Workshop[] = [];
  afterAll(() => {
    for (const shop of shops) shop.remove();
  });
  /** Households of one, two and three; members vote alike, live in one town, and have ages within ten years. */
  const data = (): string => {
    const lines = ['id,home,town,party,age'];
    for (let h = 0; h < 600; h++)
      for (let m = 0; m <= h % 3; m++)
        lines.push(
          `p${lines.length},h${h},${h % 2 ? 'north' : 'south'},${['dem', 'rep', 'green', 'none'][h % 4]},${((h * 7) % 60) + 10 + m}`,
        );
    return `${lines.join('\n')}\n`;
  };
  const policy = (dependence: string, protect = '{ secret: row, unit: id }') => `data: { source: people.csv }
protect: ${protect}
budget: { epsilon: 200, delta: 1e-6 }
population: town
ledger: ledger.db
dependence: ${dependence}
columns:
  town: { type: category, values: [north, south] }
  party: { type: category, values: [dem, rep, green, none] }
  age: { type: integer, bounds: [10, 80], bins: [20, 30, 40, 50, 60, 70] }
`;
  const opened = async (dependence = '[{ kind: groups, by: home }]', protect?: string) => {
    const shop = openWorkshop(policy(dependence, protect));
    shops.push(shop);
    shop.write('people.csv', data());
    return shop.session();
  };

  it('synthetic households have the sizes, the agreement and the shared columns of the data when the budget is large', async () => {
    const session = await opened();
    const { result, receipt } = await releaseSynth(
      session,
      { households: { by: 'home', shared: ['town'], most: 4 }, mode: 'mst' },
      { epsilon: '200' },
    );
    await session.close();
    expect(receipt.profile.perRecord['*']).toBeDefined();
    const values = (name: string) => result.columns.find((c) => c.name === name)!.values;
    expect(result.columns.map(({ name }) => name)).toEqual(['home', 'town', 'party', 'age']);
    expect(Math.abs(result.rows - 1200)).toBeLessThan(30);
    expect(Math.abs(result.households!.count - 600)).toBeLessThan(30);
    const homes = new Map<unknown, number[]>();
    for (const [row, home] of values('home').entries()) homes.set(home, [...(homes.get(home) ?? []), row]);
    for (const own of homes.values()) expect(new Set(own.map((row) => values('town')[row])).size).toBe(1);
    const bySize = [1, 2, 3].map((n) => [...homes.values()].filter((own) => own.length === n).length);
    for (const n of bySize) expect(Math.abs(n - 200)).toBeLessThan(25);
    const pairs = [...homes.values()].filter((own) => own.length > 1);
    const alike = pairs.filter(([a, b]) => values('party')[a!] === values('party')[b!]).length / pairs.length;
    expect(alike).toBeGreaterThan(0.8);
    const party = result.households!.quality.find(({ column }) => column === 'party')!;
    expect(party.measured).toBeGreaterThan(0.85);
    expect(party.synthetic).toBeGreaterThan(0.8);
    expect(party.strangers).toBeLessThan(0.4);
  });

  it('synthetic households are drawn again at no cost', async () => {
    const session = await opened();
    const request = { households: { by: 'home' }, mode: 'mst', columns: ['party'] };
    const first = await releaseSynth(session, request, { epsilon: '2' });
    const more = await releaseSynth(session, { ...request, rows: 3000 }, { epsilon: '2' });
    await session.close();
    expect(more.receipt.ledger).toMatchObject({ replayed: true, entry: first.receipt.ledger.entry });
    expect(more.result.households!.measured).toEqual(first.result.households!.measured);
    expect(Math.abs(more.result.rows - 3000)).toBeLessThan(60);
  });

  it.each<[string, string, object, string?]>([
    ['no tie says what members tell of one another', 'none', { by: 'home' }],
    ['the tie hides who lives with whom', '[{ kind: groups, by: home, maxSize: 5 }]', { by: 'home' }],
    ['members are left out', '[{ kind: groups, by: home, maxUsed: 1 }]', { by: 'home' }],
    [
      'members are left out by another tie',
      '[{ kind: groups, by: home }, { kind: groups, by: town, maxUsed: 9 }]',
      { by: 'home' },
    ],
    ['everything is shared', '[{ kind: groups, by: home }]', { by: 'home', shared: ['town', 'party', 'age'] }],
    ['a shared column is none', '[{ kind: groups, by: home }]', { by: 'home', shared: ['street'] }],
    ['a person has several rows', '[{ kind: groups, by: home }]', { by: 'home' }, '{ secret: person, unit: id, maxRows: 2 }'],
  ])('synthetic households are refused before anything is spent where %s', async (_, dependence, households, protect) => {
    const session = await opened(dependence, protect);
    await expect(planSynth(session, { households }, { epsilon: '1' })).rejects.toMatchObject({
      code: expect.stringMatching(/^(QUERY_|COLUMN_)/),
    });
    expect((await session.entries()).length).toBe(0);
    await session.close();
  });

  it.each([
    ['in several households', 'h1', 'h2'],
    ['in one and in none', 'h1', ''],
    ['in none and in one', '', 'h1'],
  ])(
    'synthetic households are refused for a person whose rows are %s, because the choice of a row would decide the household',
    async (_, one, another) => {
      const shop = openWorkshop(policy('[{ kind: groups, by: home }]', '{ secret: person, unit: id, maxRows: 1 }'));
      shops.push(shop);
      const others = [1, 2, 3, 4].map((k) => `b${k},h${1 + (k % 2)},south,rep,30`).join('\n');
      const write = (home: string) =>
        shop.write(
          'people.csv',
          `id,home,town,party,age\na,${one},north,dem,20\na,${home},south,rep,50\n${others}\n,h1,south,rep,40\n,h2,south,rep,40\n`,
        );
      write(another);
      const session = await shop.session();
      await expect(planSynth(session, { households: { by: 'home' } }, { epsilon: '1' })).rejects.toMatchObject({
        code: 'QUERY_UNSUPPORTED',
        message: expect.stringContaining('several households'),
      });
      await session.close();
      write(one);
      const same = await shop.session();
      expect((await planSynth(same, { households: { by: 'home' } }, { epsilon: '1' })).fits).toBe(true);
      await same.close();
    },
  );
});
