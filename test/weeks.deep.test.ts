import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { registerLedgerCommand as registerLedger } from '../src/app/cli/ledger.js';
import { registerPlanCommand as registerPlan } from '../src/app/cli/plan.js';
import { registerReleaseCommand as registerRelease } from '../src/app/cli/release.js';
import { runCommand } from './command.js';
import { openWorkshop, type Workshop } from './workshop.js';

let shop: Workshop;
afterEach(() => shop?.remove());

const weeks = 12;
const people = 20;
const rows = Array.from({ length: people * weeks }, (_, i) => {
  const [person, week] = [Math.floor(i / weeks), i % weeks];
  return `${person},${week},${person % 2 ? 'north' : 'south'},${(person + week * 7) % 5 < 2 ? 'yes' : 'no'},${person}`;
});
interface PolicyParts {
  readonly secret?: string;
  readonly dependence?: string;
  readonly budget?: string;
  readonly week?: string;
}
const open = ({
  secret = 'row',
  dependence = 'none',
  budget = '{ epsilon: 1 }',
  week = 'bounds: [0, 11], public: true',
}: PolicyParts = {}) => {
  shop = openWorkshop(`data: { source: panel.csv }
protect: { secret: ${secret} }
budget: ${budget}
population: panel
ledger: ledger.db
columns:
  week: { type: integer, ${week} }
  region: { type: category, values: [north, south], public: true }
  ill: { type: category, values: [yes, no] }
  age: { type: integer, bounds: [0, 20] }
dependence: ${dependence}
`);
  shop.write('panel.csv', `person,week,region,ill,age\n${rows.join('\n')}\n`);
  return shop;
};
const about = (week: number | readonly [number, number]) => ({
  kind: 'histogram',
  column: 'ill',
  where:
    typeof week === 'number'
      ? [{ column: 'week', op: '=', value: week }]
      : [
          { column: 'week', op: '>=', value: week[0] },
          { column: 'week', op: '<=', value: week[1] },
        ],
});
const everybody = { kind: 'histogram', column: 'ill' };
const refused = { code: 'BUDGET_EXCEEDED' };

describe('a column whose reading changes', () => {
  /** The same policy with one part of it written otherwise. */
  const edited = (from: string, to: string) => {
    const text = readFileSync(shop.policyFile, 'utf8');
    expect(text).toContain(from);
    return shop.write('edited.yaml', text.replace(from, to));
  };

  it('the column is distinguished by its values in steps of one only: other steps would be reserved by their places', async () => {
    const session = await open({ week: 'bounds: [0, 10], step: 2, public: true' }).session();
    await session.release(about(0), { epsilon: '0.75' });
    await expect(session.release(about(4), { epsilon: '0.5' })).rejects.toMatchObject(refused);
    await session.close();
  });

  it('the terms change when the column becomes public, or ceases to be', async () => {
    const session = await open({ week: 'bounds: [0, 11]' }).session();
    await session.release(about(0), { epsilon: '0.5' });
    await session.close();
    const later = await shop.session(edited('bounds: [0, 11]', 'bounds: [0, 11], public: true'));
    await expect(later.release(about(1), { epsilon: '0.5' })).rejects.toMatchObject({ code: 'LEDGER_MISMATCH' });
    await later.close();
  });

  it('costs beyond an end that is moved in are kept: by groups', async () => {
    const parts = { week: 'bounds: [0, 20], public: true', dependence: '[{ kind: groups, by: person, oddsRatio: 4 }]' };
    const session = await open(parts).session();
    await session.release(about(11), { all: true });
    await session.close();
    const before = await shop.session();
    const left = (await before.plan(about(10), { all: true })).epsilon;
    await before.close();
    const later = await shop.session(edited('bounds: [0, 20]', 'bounds: [0, 10]'));
    // A row beyond the tenth week is counted in it, and has paid for the eleventh.
    await expect(later.release(about(10), { epsilon: String(left) })).rejects.toMatchObject(refused);
    await later.close();
  });
});

describe('releases about different weeks without ties between them', () => {
  it('the releases cost together as much as one, even if records are added or removed: each stands at one week', async () => {
    const session = await open({ secret: 'row, neighbours: add-remove' }).session();
    for (const week of [0, 1, 2]) await session.release(about(week), { epsilon: '1' });
    await expect(session.release(about(2), { epsilon: '0.01', fresh: true })).rejects.toMatchObject(refused);
    await session.close();
  });

  it('the releases cost together as much as one', async () => {
    const session = await open().session();
    for (let w = 0; w < weeks; w++) {
      const plan = await session.plan(about(w), { epsilon: '1' });
      expect(plan).toMatchObject({ fits: true, epsilon: 1, parts: [{ column: 'week', from: w, to: w, spent: 0, remaining: 1 }] });
      await session.release(about(w), { epsilon: '1' });
      expect(await session.privacyLoss()).toBe(1);
    }
    for (const query of [about(3), about([2, 5]), everybody])
      await expect(session.release(query, { epsilon: '0.01', fresh: true })).rejects.toMatchObject(refused);
    await session.close();
  });

  it('each week keeps the budget that was not spent on it nor on everybody', async () => {
    const session = await open().session();
    const left = async (query: object) => (await session.plan(query, { all: true })).epsilon;
    await session.release(everybody, { epsilon: '0.2' });
    await session.release(about([3, 5]), { epsilon: '0.5' });
    await session.release(about(5), { epsilon: '0.25' });
    const where = (column: string, value: unknown) => [{ column, op: '=', value }];
    expect([
      await left(about(2)),
      await left(about(4)),
      await left(about(5)),
      await left(about([2, 4])),
      await left(everybody),
    ]).toEqual([0.8, 0.3, 0.05, 0.3, 0.05].map((x) => expect.closeTo(x, 12)));
    // No release distinguished regions, so all that was spent counts there.
    const north = { ...everybody, where: where('region', 'north') };
    expect((await session.plan(north, { epsilon: '0.05' })).parts).toEqual([
      {
        part: 'region north',
        column: 'region',
        values: ['north'],
        spent: expect.closeTo(0.95, 12),
        remaining: expect.closeTo(0.05, 12),
      },
    ]);
    // If the default share is a tenth, it takes all that remains of week 2; one distinguished column is enough.
    const both = { ...everybody, where: [...where('region', 'north'), ...where('week', 2)] };
    expect(await left(both)).toBeCloseTo(0.8, 12);
    await session.release(both, { all: true });
    await expect(session.release(about(2), { epsilon: '0.01' })).rejects.toMatchObject(refused);
    expect(await session.privacyLoss()).toBeCloseTo(1, 12);
    await session.close();
  });

  it('the questions of a batch share one budget only if they are about the same week', async () => {
    const session = await open().session();
    const scale = async (...queries: object[]) =>
      (await session.plan({ queries }, { epsilon: '1' })).measures.map((m) => m.noise);
    const [alone] = await scale(about(0));
    expect(await scale(about(0), about(1))).toEqual([alone, alone]);
    expect(await scale(about(0), about([0, 1]), about(7))).toEqual([
      { kind: 'laplace', scale: '4' },
      { kind: 'laplace', scale: '4' },
      alone,
    ]);
    expect(await scale(about(0), everybody)).toEqual([
      { kind: 'laplace', scale: '4' },
      { kind: 'laplace', scale: '4' },
    ]);
    await session.release({ queries: [about(0), about(1), about(2)] }, { epsilon: '1' });
    expect(await session.privacyLoss()).toBe(1);
    await session.close();
  });

  it('one table of the weeks has the noise that one of them needs, and is paid by its weeks', async () => {
    const session = await open().session();
    const table = { kind: 'count', by: ['week'], where: [{ column: 'ill', op: '=', value: 'yes' }] };
    // Nobody changes weeks: a row moves one count by one, not two.
    expect((await session.plan(table, { epsilon: '0.5' })).measures[0]!.noise).toEqual({ kind: 'laplace', scale: '2' });
    await session.release(table, { epsilon: '0.5' });
    expect(await session.privacyLoss()).toBe(0.5);
    for (let w = 0; w < weeks; w++) await session.release(about(w), { epsilon: '0.5' });
    expect(await session.privacyLoss()).toBe(1);
    for (const query of [about(3), table, { kind: 'count', where: [{ column: 'region', op: '=', value: 'north' }] }])
      await expect(session.release(query, { epsilon: '0.01', fresh: true })).rejects.toMatchObject(refused);
    await session.close();
    shop.remove();
    // No release distinguished regions: they pay no more for a table by weeks than the weeks do.
    const regions = await open().session();
    await regions.release(table, { epsilon: '0.5' });
    await regions.release({ kind: 'histogram', column: 'ill', by: ['region'] }, { epsilon: '0.25' });
    expect(await regions.privacyLoss()).toBe(0.75);
    await regions.release({ kind: 'count', where: [{ column: 'region', op: '=', value: 'north' }] }, { epsilon: '0.25' });
    expect(await regions.privacyLoss()).toBe(1);
    await regions.close();
  });

  it('one table of weeks and regions has the noise that one cell needs: with and without a chain', async () => {
    const table = { kind: 'crosstab', columns: ['week', 'region'] };
    const chain = {
      secret: 'step',
      dependence: '[{ kind: sequence, by: person, order: week, state: ill, transition: weekly.json }]',
      budget: '{ epsilon: 1, per: step }',
    };
    for (const parts of [{}, chain]) {
      open(parts).write('weekly.json', '[[0.6, 0.4], [0.4, 0.6]]');
      const session = await shop.session();
      const noise = async (query: object) => (await session.plan(query, { epsilon: '0.5' })).measures[0]!.noise;
      expect(await noise(table)).toEqual(await noise({ kind: 'count', by: ['week'] }));
      await session.release(table, { epsilon: '0.5' });
      expect(await session.privacyLoss()).toBeCloseTo(0.5, 2);
      expect((await session.plan(about(3), { all: true })).epsilon).toBeGreaterThan(0.49);
      await session.close();
      shop.remove();
    }
  });

  it('a release about one week and one region costs only those who have both, so each pair can use the whole budget', async () => {
    for (const [budget, noise] of [
      ['{ epsilon: 1 }', 'laplace'],
      ['{ epsilon: 1, delta: 1e-6 }', undefined],
    ] as const) {
      const session = await open({ budget }).session();
      const of = (w: number, region: string) => ({
        ...about(w),
        where: [...about(w).where, { column: 'region', op: '=', value: region }],
      });
      for (const w of [0, 1, 2])
        for (const region of ['north', 'south']) {
          const plan = await session.plan(of(w, region), { epsilon: '1' });
          expect(plan.parts!.at(-1)).toMatchObject({ part: `week ${w}, region ${region}`, spent: 0, remaining: 1 });
          const { receipt } = await session.release(of(w, region), { epsilon: '1' });
          if (noise) expect(receipt.mechanism).toBe(noise);
        }
      expect(await session.privacyLoss()).toBeLessThanOrEqual(1 + 1e-12);
      for (const query of [
        of(1, 'north'),
        about(2),
        everybody,
        { ...everybody, where: [{ column: 'region', op: '=', value: 'south' }] },
      ])
        await expect(session.release(query, { epsilon: '0.01', fresh: true })).rejects.toMatchObject(refused);
      // No query was about missing regions, nor about other weeks.
      await session.release({ ...about(0), where: [...about(0).where, { column: 'region', op: 'missing' }] }, { epsilon: '1' });
      await session.release(about([3, 11]), { epsilon: '0.5' });
      await session.close();
      shop.remove();
    }
  });

  it('the ledger explains why the privacy loss may exceed the spent part of the budget', async () => {
    const session = await open({ budget: '{ epsilon: 2, delta: 1e-6 }' }).session();
    const queries = Array.from({ length: 30 }, (_, k) => ({
      kind: 'count',
      where: [...about(k % 2).where, { column: 'age', op: '>', value: k % 20 }],
    }));
    await session.release({ queries }, { epsilon: '1' });
    const loss = await session.privacyLoss();
    await session.close();
    expect(loss).toBeGreaterThan(1);
    const shown = await runCommand(registerLedger, 'ledger', shop.policyFile);
    expect(shown).toMatch(/first releases reveal most; within the budget it never exceeds 2\./);
  });

  it('costs add up within a week under Gaussian noise too', async () => {
    const session = await open({ budget: '{ epsilon: 1, delta: 1e-6 }' }).session();
    // Many questions at once, which Gaussian noise answers best.
    const many = (w: number) => ({
      queries: Array.from({ length: 12 }, (_, k) => ({
        kind: 'count',
        where: [...about(w).where, { column: 'ill', op: k % 2 ? '=' : '!=', value: 'yes' }, { column: 'age', op: '>', value: k }],
      })),
    });
    for (let w = 0; w < 4; w++) expect((await session.release(many(w), { epsilon: '1' })).receipt.mechanism).toBe('gaussian');
    expect(await session.privacyLoss()).toBeLessThanOrEqual(1);
    await expect(session.release(about(2), { epsilon: '0.1' })).rejects.toMatchObject(refused);
    await session.release(about(7), { epsilon: '0.9' });
    await session.release(about([7, 8]), { epsilon: '0.05' });
    expect((await session.plan(about(8), { epsilon: '0.1' })).parts).toEqual([
      { part: 'week 8', column: 'week', from: 8, to: 8, spent: expect.closeTo(0.05, 12), remaining: expect.closeTo(0.95, 12) },
    ]);
    await session.close();
  });

  it('releases about one region leave the remaining budget of the weeks unchanged', async () => {
    const session = await open().session();
    const byRegion = (w: number) => ({
      queries: ['north', 'south'].map((value) => ({
        ...about(w),
        where: [...about(w).where, { column: 'region', op: '=', value }],
      })),
    });
    for (let w = 0; w < weeks; w++) await session.release(byRegion(w), { epsilon: '1' });
    expect(await session.privacyLoss()).toBe(1);
    await session.close();
  });

  it('costs add up if the column is not public, or the secret is a person', async () => {
    const session = await open({ week: 'bounds: [0, 11]' }).session();
    await session.release(about(0), { epsilon: '0.75' });
    await expect(session.release(about(1), { epsilon: '0.5' })).rejects.toMatchObject(refused);
    await session.close();
    shop.remove();
    const persons = await open({ secret: 'person, unit: person, maxRows: 12' }).session();
    await persons.release(about(0), { epsilon: '0.75' });
    await expect(persons.release(about(1), { epsilon: '0.5' })).rejects.toMatchObject(refused);
    await persons.close();
  });

  it('the promise names the neighbouring data sets', async () => {
    const session = await open().session();
    const { sentences } = (await session.plan(everybody)).guarantee;
    expect(sentences.join(' ')).toContain(
      'one record replaced by any other with the same "week", "region", which everybody knows',
    );
    await session.close();
  });

  it('the command line distinguishes the weeks', async () => {
    open();
    const sql = (w: number) => ['--sql', `SELECT ill, COUNT(*) FROM data WHERE week = ${w} GROUP BY ill`, '--epsilon', '1'];
    for (let w = 0; w < weeks; w++) {
      expect(await runCommand(registerPlan, 'plan', shop.policyFile, ...sql(w))).toContain(
        `about week ${w} only: 1 of 1 left there`,
      );
      await runCommand(registerRelease, 'release', shop.policyFile, ...sql(w), '--yes', '--json');
      if (w !== 4) continue;
      const shown = await runCommand(registerLedger, 'ledger', shop.policyFile);
      expect(shown).toMatch(/0 \[█████ {7}\] 11/);
      expect(JSON.parse(await runCommand(registerLedger, 'ledger', shop.policyFile, '--json'))).toMatchObject({
        gained: 1,
        budget: { spent: 1, remaining: 0 },
        parts: [
          { column: 'week', from: 0, to: 4, spent: 1, remaining: 0 },
          { column: 'week', from: 5, to: 11, spent: 0, remaining: 1 },
        ],
      });
    }
    await expect(
      runCommand(registerRelease, 'release', shop.policyFile, ...sql(4), '--fresh', '--yes', '--json'),
    ).rejects.toMatchObject(refused);
    expect(JSON.parse(await runCommand(registerLedger, 'ledger', shop.policyFile, 'verify', '--json'))).toMatchObject({
      ok: true,
      entries: weeks,
    });
  });
});

describe('releases about the weeks of people who live together', () => {
  it('the costs are shared by the home as far as its ties reach, read from the data', async () => {
    // Person 0 answered in week 0, person 1 of the same home in week 1, person 2 alone in weeks 0 and 1.
    open({ dependence: '[{ kind: groups, by: region, column: ill, oddsRatio: 9 }]' });
    shop.write('panel.csv', 'person,week,region,ill,age\n0,0,north,yes,1\n1,1,north,no,2\n2,0,,yes,3\n2,1,,no,4\n');
    const session = await shop.session();
    const push = (b: number) => 4 * Math.atanh(Math.tanh(b / 4) * Math.tanh(Math.log(9) / 4));
    await session.release(about(0), { epsilon: '0.5' });
    expect(await session.privacyLoss()).toBeCloseTo(0.5, 9);
    await session.release(about(1), { epsilon: '0.25' });
    expect(await session.privacyLoss()).toBeCloseTo(0.5 + push(0.25), 9);
    // Nobody answered in week 5, and everybody knows that.
    await session.release(about(5), { epsilon: '1' });
    expect(await session.privacyLoss()).toBeCloseTo(0.5 + push(0.25), 9);
    await session.close();
  });
});

describe('releases about weeks and regions of people who are tied', () => {
  const push = (b: number, ratio: number) => 4 * Math.atanh(Math.tanh(b / 4) * Math.tanh(Math.log(ratio) / 4));
  const of = (week: number, region: string) => ({
    ...about(week),
    where: [...about(week).where, { column: 'region', op: '=', value: region }],
  });

  it('the costs are shared as far as the ties reach from one combination to another', async () => {
    open({ dependence: '[{ kind: groups, by: age, column: ill, oddsRatio: 9 }]' });
    shop.write('panel.csv', 'person,week,region,ill,age\n0,0,north,yes,1\n1,1,south,no,1\n2,0,south,yes,2\n2,1,north,no,3\n');
    const session = await shop.session();
    await session.release(of(0, 'north'), { epsilon: '0.5' });
    await session.release(of(1, 'south'), { epsilon: '0.25' });
    expect(await session.privacyLoss()).toBeCloseTo(0.5 + push(0.25, 9), 9);
    // They live alone: by weeks or by regions these would have been added to what the others paid.
    await session.release(of(0, 'south'), { epsilon: '0.625' });
    await session.release(of(1, 'north'), { epsilon: '0.5' });
    expect(await session.privacyLoss()).toBeCloseTo(Math.max(0.625, 0.5 + push(0.25, 9)), 9);
    await session.close();
  });

  it('the releases are charged along a chain what the dearer region pays at each step', async () => {
    open({
      secret: 'step',
      dependence: '[{ kind: sequence, by: person, order: week, state: ill, transition: weekly.json }]',
      week: 'bounds: [0, 11]',
    });
    shop.write('weekly.json', '[[0.9, 0.1], [0.1, 0.9]]');
    const session = await shop.session();
    for (const [week, region, epsilon] of [
      [3, 'north', '0.25'],
      [3, 'south', '0.125'],
      [4, 'south', '0.25'],
    ] as const)
      await session.release(of(week, region), { epsilon });
    expect(await session.privacyLoss()).toBeCloseTo(0.25 + push(0.25, 81), 9);
    await session.close();
  });
});

describe('releases about the weeks of a chain', () => {
  const stay = 0.9;
  const chain = '[{ kind: sequence, by: person, order: week, state: ill, transition: weekly.json }]';
  const d = 2 * Math.log(stay / (1 - stay));
  const push = (b: number) => 4 * Math.atanh(Math.tanh(b / 4) * Math.tanh(d / 4));
  /** The calculus, step by step: what flows in from the left and from the right. */
  const worst = (costs: readonly number[]): number => {
    const from = (list: readonly number[]) => {
      let flow = 0;
      return list.map((e) => {
        const now = flow;
        flow = push(flow + e);
        return now;
      });
    };
    const [left, right] = [from(costs), from(costs.toReversed()).reverse()];
    return Math.max(...costs.map((e, t) => left[t]! + e + right[t]!));
  };
  const remainingIn = (costs: readonly number[], week: number): number => {
    let [low, high] = [0, 1];
    for (let k = 0; k < 60; k++) {
      const middle = (low + high) / 2;
      if (worst(costs.map((e, t) => (t === week ? e + middle : e))) <= 1) low = middle;
      else high = middle;
    }
    return low;
  };
  const opened = () => {
    open({ secret: 'step', dependence: chain, week: 'bounds: [0, 11]' });
    shop.write(
      'weekly.json',
      JSON.stringify([
        [stay, 1 - stay],
        [1 - stay, stay],
      ]),
    );
    return shop.session();
  };

  it('the releases are charged the leakage of the whole chain, no more and no less', async () => {
    const session = await opened();
    const costs = new Array<number>(weeks).fill(0);
    for (const [week, epsilon] of [
      [3, 0.25],
      [4, 0.125],
      [9, 0.5],
      [0, 0.25],
      [10, 0.03125],
    ] as const) {
      const plan = await session.plan(about(week), { epsilon: `${epsilon}` });
      const room = remainingIn(costs, week);
      expect(plan.parts).toEqual([
        {
          part: `week ${week}`,
          column: 'week',
          from: week,
          to: week,
          spent: expect.closeTo(1 - room, 9),
          remaining: expect.closeTo(room, 9),
        },
      ]);
      await session.release(about(week), { epsilon: `${epsilon}` });
      // Alone, a step may spend all of the budget: its neighbours learn less.
      costs[week]! += epsilon;
      expect(await session.privacyLoss()).toBeCloseTo(worst(costs), 9);
    }
    const most = (await session.plan(about(6), { all: true })).epsilon;
    expect(most).toBeCloseTo(remainingIn(costs, 6), 9);
    await session.release(about(6), { all: true });
    await expect(session.release(about(6), { epsilon: '0.001' })).rejects.toMatchObject(refused);
    await session.close();
  });

  it('a release about everybody can use what remains of the dearest week', async () => {
    const session = await opened();
    await session.release(about(3), { epsilon: '0.5' });
    const costs = new Array<number>(weeks).fill(0).map((e, t) => (t === 3 ? e + 0.5 : e));
    const uniform = (base: number[]) => {
      let [low, high] = [0, 1];
      for (let k = 0; k < 60; k++) {
        const middle = (low + high) / 2;
        if (worst(base.map((e) => e + middle)) <= 1) low = middle;
        else high = middle;
      }
      return low;
    };
    const share = uniform(costs) / uniform(new Array<number>(weeks).fill(0));
    expect((await session.plan(everybody, { all: true })).epsilon).toBeCloseTo(share, 9);
    await session.release(everybody, { all: true });
    expect(await session.privacyLoss()).toBeLessThanOrEqual(1);
    expect(await session.privacyLoss()).toBeGreaterThan(0.999_999);
    await session.close();
  });
});
