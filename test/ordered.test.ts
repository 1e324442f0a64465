import { afterEach, describe, expect, it } from 'vitest';
import { parseRational, toNumber } from '../src/base/exact/rational.js';
import { open, type Question } from '../src/index.js';
import { openWorkshop, policyYaml, type Workshop } from './workshop.js';

let shop: Workshop;
afterEach(() => shop?.remove());

const within = (n: number) => `{ secret: row, unit: id, pairs: { age: { within: ${n}, missing: apart } } }`;
const households = '[{ kind: groups, by: home, oddsRatio: 4 }]';
const cdf = { kind: 'cdf', column: 'age' } as const;
const at = { kind: 'cdf', column: 'age', at: [0.5] } as const;
const ask = async <T>(policy: string, work: (fugu: Awaited<ReturnType<typeof open>>) => Promise<T>): Promise<T> => {
  shop = openWorkshop(policy, 240);
  try {
    await using fugu = await open(shop.policyFile);
    return await work(fugu);
  } finally {
    shop.remove();
  }
};
const half = (policy: string, question: Question = cdf) =>
  ask(policy, async (fugu) => (await fugu.plan(question, { epsilon: 0.5 })).errors[0]!.halfWidth);

describe('a distribution under a policy with pairs', () => {
  it('a distribution needs less noise the nearer pairs lie, and with tied people never more than without pairs', async () => {
    const [plain, five, one] = [
      await half(policyYaml()),
      await half(policyYaml({ protect: within(5) })),
      await half(policyYaml({ protect: within(1) })),
    ];
    expect(one).toBeLessThan(five / 2);
    expect(five).toBeLessThan(plain);
    const tied = await half(policyYaml({ dependence: households }));
    const tiedNear = await half(policyYaml({ protect: within(5), dependence: households }));
    expect(tiedNear).toBeLessThanOrEqual(tied);
    expect(tiedNear).toBeGreaterThan(five);
  });

  it('a distribution is reserved along pairs and in full, paid for once with its quantiles and ranges, and recorded', async () => {
    await ask(policyYaml({ protect: within(1) }), async (fugu) => {
      const question = { queries: [cdf, at, { kind: 'ranges', column: 'age', ranges: [[17, 40]] }] } as Question;
      const first = await fugu.release(question, { epsilon: 0.5 });
      if (!('tables' in first)) throw new Error('no tables');
      const { perRecord } = first.receipt.profile;
      const classes = Object.keys(perRecord).map((name) => name.replace(/:.*/, ''));
      expect(classes.sort()).toEqual(['*', 'paired', 'pairs']);
      const paid = (kind: string) =>
        toNumber(parseRational(Object.entries(perRecord).find(([name]) => name.startsWith(kind))![1]));
      const [own, full] = [paid('pairs'), paid('*')];
      expect(own).toBeCloseTo(0.5, 6);
      expect(full / own).toBeGreaterThan(70);
      const [all, median, range] = first.tables;
      expect(all!.rows).toHaveLength(74);
      const upTo40 = all!.rows.find(({ keys }) => keys[0] === '40')!;
      expect(range!.rows[0]!.value).toBeCloseTo(upTo40.value!, 9);
      expect(median!.rows[0]!.low).toBeLessThanOrEqual(median!.rows[0]!.value!);
      expect(median!.rows[0]!.high).toBeGreaterThanOrEqual(median!.rows[0]!.value!);
      const again = await fugu.release(question, { epsilon: 0.5 });
      expect(again.receipt.ledger.replayed).toBe(true);
      expect('tables' in again && again.tables).toEqual(first.tables);
      expect((await fugu.spent()).budget.remaining).toBeCloseTo(0.5, 9);
    });
  });

  it('a distribution is not a table to tidy', async () => {
    await ask(policyYaml(), async (fugu) => {
      const tidy = await fugu.release(cdf, { epsilon: 0.5, tidy: true });
      expect('tables' in tidy && tidy.tables[0]!.rows.length).toBe(74);
    });
  });
});

describe('clusters under a policy with pairs', () => {
  it('clusters use the soft grid where pairs are short, are reserved along them, and fall back where people are tied', async () => {
    const question = { kmeans: { columns: ['age'], clusters: 2 } } as Question;
    await ask(policyYaml({ protect: within(1) }), async (fugu) => {
      const answer = await fugu.release(question, { epsilon: 0.5 });
      expect('result' in answer && answer.result).toMatchObject({ variant: 'soft' });
      expect(Object.keys(answer.receipt.profile.perRecord).some((name) => name.startsWith('pairs'))).toBe(true);
      expect((await fugu.plan(question, { epsilon: 0.6 })).fits).toBe(false);
      expect((await fugu.plan(question, { epsilon: 0.4 })).fits).toBe(true);
    });
    const tied = await ask(policyYaml({ protect: within(1), dependence: households }), (fugu) =>
      fugu.plan(question, { epsilon: 0.5 }),
    );
    expect(tied.mechanism).not.toMatch(/soft/);
  });
});
