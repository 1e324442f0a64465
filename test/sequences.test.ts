import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { openWorkshop, type Workshop } from './workshop.js';

let shop: Workshop;
afterEach(() => shop?.remove());

const weeks = 30;
const stay = (p: number) => [
  [p, 1 - p],
  [1 - p, p],
];
interface PolicyParts {
  readonly protect?: string;
  readonly budget?: string;
  readonly week?: string;
  readonly start?: string;
  readonly transition?: unknown;
  readonly rows?: readonly string[];
}
const everyStep = Array.from(
  { length: 10 * weeks },
  (_, i) => `${Math.floor(i / weeks)},${i % weeks},${i % 7 < 3 ? 'yes' : 'no'}`,
);
async function opened({
  protect = 'secret: step',
  budget = '{ epsilon: 1 }',
  week = '  week: { type: integer, bounds: [0, 29] }\n',
  start = '',
  transition = stay(0.9),
  rows = everyStep,
}: PolicyParts = {}) {
  shop?.remove();
  shop = openWorkshop(`data: { source: panel.csv }
protect: { ${protect} }
budget: ${budget}
population: panel
ledger: ledger.db
columns:
${week}  ill: { type: category, values: [yes, no] }
dependence: [{ kind: sequence, by: person, order: week, state: ill, transition: weekly.json${start} }]
`);
  shop.write('panel.csv', `person,week,ill\n${rows.join('\n')}\n`);
  shop.write('weekly.json', JSON.stringify(transition));
  return shop.session();
}
const histogram = { kind: 'histogram', column: 'ill' };
async function scaleOf(parts: PolicyParts, query: object = histogram): Promise<number> {
  const session = await opened(parts);
  const { noise } = (await session.plan(query, { epsilon: '1' })).measures[0]!;
  await session.close();
  if (noise.kind !== 'laplace') throw new Error('Laplace noise is meant');
  const [num, den = '1'] = noise.scale.split('/');
  return Number(num) / Number(den);
}
const uninformed = 'secret: step, adversary: uninformed';
const skewed = [
  [0.9, 0.1],
  [0.3, 0.7],
];

describe('a sequence', () => {
  it('a sequence needs the noise of its graph, read or not', async () => {
    const chain = await scaleOf({});
    const read = await scaleOf({ week: '' });
    expect(chain / read).toBeCloseTo(1, 5);
    // 30 steps at once, and a tenth of them by its neighbours alone.
    expect(chain).toBeGreaterThan(2 * 5);
    expect(chain).toBeLessThan(2 * 30);
  });

  it('a sequence needs no more than the noise of its records where nobody has half of the declared steps', async () => {
    const few = everyStep.filter((_, i) => i % weeks < 5);
    const wide = '  week: { type: integer, bounds: [0, 99] }\n';
    expect((await scaleOf({ week: wide, rows: few })) / (await scaleOf({ week: '', rows: few }))).toBeCloseTo(1, 9);
    expect(await scaleOf({ week: wide, rows: few })).toBeLessThan(2 * 5);
  });

  it('a sequence needs less against an attacker who knows no steps: by its tables, as far as they are given', async () => {
    const scale = (more: PolicyParts) => scaleOf({ transition: skewed, ...more });
    const informed = await scale({});
    const free = await scale({ protect: uninformed });
    const stationary = await scale({ protect: uninformed, start: ', start: stationary' });
    const both = await scale({ protect: uninformed, transition: { forward: skewed, backward: skewed } });
    expect(free).toBeLessThan(informed);
    expect(stationary).toBeLessThan(free);
    // Chains of two states look the same backwards.
    expect(both / stationary).toBeCloseTo(1, 5);
    const set = await scale({
      protect: uninformed,
      start: ', start: stationary',
      transition: { transitions: [skewed, stay(0.5)] },
    });
    expect(set / stationary).toBeCloseTo(1, 5);
    // Exact knowledge is bounded by odds ratios, with any `start`.
    expect(await scale({ start: ', start: stationary' })).toBe(informed);
  });

  it('a sequence protects successive steps together, and the promise states it', async () => {
    const [one, four] = [await scaleOf({}), await scaleOf({ protect: 'secret: step, window: 4' })];
    expect(four - one).toBeGreaterThan(2 * 1.5);
    expect(four - one).toBeLessThan(2 * 3.2);
    const session = await opened({ protect: 'secret: step, window: 4' });
    const about = (week: number) => ({ ...histogram, where: [{ column: 'week', op: '=', value: week }] });
    const { guarantee, parts } = await session.plan(about(3));
    expect(guarantee.sentences.join(' ')).toContain('4 time steps in a row, taken together');
    expect(parts).toMatchObject([{ from: 3, to: 3, remaining: 1 }]);
    await session.release(about(3), { epsilon: '0.5' });
    await session.release(about(5), { epsilon: '0.25' });
    expect(await session.privacyLoss()).toBeCloseTo(0.75, 9);
    await session.close();
  });

  it('a sequence may have gaps: steps that follow one another are then neighbours', async () => {
    const about = (week: number) => ({ ...histogram, where: [{ column: 'week', op: '=', value: week }] });
    const loss = async (rows: readonly string[]) => {
      const session = await opened({ rows });
      await session.release(about(3), { epsilon: '0.5' });
      await session.release(about(9), { epsilon: '0.25' });
      const parts = await session.privacyLoss();
      const { guarantee } = await session.plan(histogram);
      await session.close();
      return { told: parts, words: guarantee.assumptions.join(' ') };
    };
    const d = 2 * Math.log(9);
    const push = (b: number) => 4 * Math.atanh(Math.tanh(b / 4) * Math.tanh(d / 4));
    const whole = await loss(everyStep);
    expect(whole.told).toBeCloseTo(0.5 + [1, 2, 3, 4, 5, 6].reduce((b) => push(b), 0.25), 9);
    const skipped = await loss(everyStep.filter((_, i) => i !== 35));
    expect(skipped.told).toBeCloseTo(0.5 + push(0.25), 9);
    expect([whole.words.includes('skips'), skipped.words.includes('skips')]).toEqual([false, true]);
  });

  it('a sequence keeps costs of steps beyond an end that is moved in', async () => {
    const about = (week: number) => ({ ...histogram, where: [{ column: 'week', op: '=', value: week }] });
    const session = await opened();
    await session.release(about(29), { epsilon: '1' });
    await session.close();
    const { policyFile } = shop;
    shop.write('policy.yaml', readFileSync(policyFile, 'utf8').replace('[0, 29]', '[0, 28]'));
    shop.write('panel.csv', `person,week,ill\n${everyStep.filter((_, i) => i % weeks < 29).join('\n')}\n`);
    const later = await shop.session();
    await expect(later.release(about(28), { epsilon: '1' })).rejects.toMatchObject({ code: 'BUDGET_EXCEEDED' });
    await later.close();
  });

  it('an invalid sequence is refused, and nothing is spent', async () => {
    const refused = async (parts: PolicyParts, fault: object) =>
      expect(opened(parts).then((s) => s.close())).rejects.toMatchObject(fault);
    await refused({ rows: [...everyStep, '3,7,yes'] }, { code: 'DATA_MALFORMED' });
    await refused({ rows: [...everyStep, '3,,yes'] }, { code: 'DATA_MALFORMED' });
    await refused(
      {
        transition: [
          [0.9, 0.2],
          [0.1, 0.9],
        ],
      },
      { code: 'MODEL_INVALID', message: expect.stringContaining('sum to 1') },
    );
    await refused({ transition: { forward: [skewed, skewed], backward: [skewed] } }, { code: 'MODEL_INVALID' });
    await refused(
      {
        transition: [
          [1, 0],
          [0.1, 0.9],
        ],
        protect: uninformed,
        start: ', start: stationary',
      },
      { code: 'MODEL_INVALID', message: expect.stringContaining('stationary') },
    );
    await refused({ transition: { forward: stay(0.99), backward: stay(0.5) } }, { code: 'MODEL_INVALID' });
    await refused({ protect: 'secret: row, window: 3' }, { code: 'POLICY_INVALID' });
    const skipping = everyStep.filter((_, i) => i !== 35);
    await refused({ protect: 'secret: step, window: 2', rows: skipping }, { code: 'POLICY_INVALID' });
    await refused({ protect: 'secret: step, window: 3', week: '' }, { code: 'POLICY_INVALID' });
    // A step beyond the declared ones is read with the others, as before.
    expect(await scaleOf({ rows: [...everyStep, '3,30,yes'] })).toBeGreaterThan(await scaleOf({}));
  });
});

describe('a budget per step', () => {
  const about = (week: number) => ({ ...histogram, where: [{ column: 'week', op: '=', value: week }] });
  const d = 2 * Math.log(9);
  const push = (b: number) => 4 * Math.atanh(Math.tanh(b / 4) * Math.tanh(d / 4));
  /** Leakage of each step if every step spends e for ever. */
  const level = (e: number): number => {
    let flow = 0;
    for (let k = 0; k < 5000; k++) flow = push(flow + e);
    return flow;
  };
  const forEver = (): number => {
    let [low, high] = [0, 1];
    for (let k = 0; k < 50; k++) {
      const middle = (low + high) / 2;
      if (2 * level(middle) + middle <= 1) low = middle;
      else high = middle;
    }
    return low;
  };
  /** For each step: leakage of the dearest, and the remaining budget of one. */
  const worst = (costs: readonly number[]): number => {
    const flows = (list: readonly number[]) => {
      let flow = 0;
      return list.map((e) => {
        const now = flow;
        flow = push(flow + e);
        return now;
      });
    };
    const [left, right] = [flows(costs), flows(costs.toReversed()).reverse()];
    return Math.max(...costs.map((e, t) => e + left[t]! + right[t]!));
  };
  const leftIn = (costs: readonly number[], week: number): number => {
    let [low, high] = [0, 1];
    for (let k = 0; k < 60; k++) {
      const middle = (low + high) / 2;
      if (worst(costs.map((e, t) => (t === week ? e + middle : e))) <= 1) low = middle;
      else high = middle;
    }
    return low;
  };
  const perStep = (more: PolicyParts = {}) => opened({ budget: '{ epsilon: 1, per: step }', ...more });

  it('a budget per step gives every release what all steps may spend for ever, and never runs out', async () => {
    const session = await perStep();
    const each = forEver();
    const costs = new Array<number>(weeks).fill(0);
    for (let week = 0; week < weeks; week++) {
      const plan = await session.plan(about(week));
      expect(plan).toMatchObject({ fits: true, steady: { column: 'week', each: expect.closeTo(each, 9) } });
      expect(plan.epsilon).toBeCloseTo(each, 9);
      // The remaining budget is computed from everything spent.
      expect(plan.parts![0]!.remaining).toBeCloseTo(leftIn(costs, week), 8);
      await session.release(about(week));
      costs[week]! += each;
    }
    const loss = await session.privacyLoss();
    expect(loss).toBeCloseTo(worst(costs), 8);
    expect(loss).toBeLessThanOrEqual(1);
    await session.close();
  });

  it('a budget per step recovers: a step far from the steps used has all of it', async () => {
    const session = await perStep();
    for (let week = 0; week < 8; week++) await session.release(about(week));
    const left = async (week: number) => (await session.plan(about(week))).parts![0]!.remaining;
    const rest = [await left(3), await left(8), await left(12), await left(29)];
    expect(rest).toEqual([...rest].sort((a, b) => a - b));
    expect(rest[0]).toBeLessThan(0.5);
    expect(rest[3]).toBeGreaterThan(0.99);
    // It can be spent once; earlier costs still count.
    await session.release(about(29), { all: true });
    await expect(session.release(about(29), { epsilon: '0.05' })).rejects.toMatchObject({ code: 'BUDGET_EXCEEDED' });
    await session.close();
  });

  it('a budget per step holds for windows, for tables, and by a release about everybody too', async () => {
    for (const protect of ['secret: step, window: 3', uninformed]) {
      const session = await perStep({ protect });
      const { steady } = await session.plan(histogram);
      if (protect === uninformed) expect(steady!.each).toBeGreaterThan(forEver());
      else expect(steady!.each).toBeLessThan(forEver());
      for (let week = 0; week < 10; week++) await session.release(about(week));
      await session.release(histogram, { all: true });
      expect(await session.privacyLoss()).toBeLessThanOrEqual(1);
      await session.close();
    }
  });

  it('a budget per step is refused if nothing is forgotten, or the matrices are unknown', async () => {
    const refused = async (parts: PolicyParts, fault: object) =>
      expect(perStep(parts).then((s) => s.close())).rejects.toMatchObject(fault);
    await refused(
      {
        transition: [
          [1, 0],
          [0, 1],
        ],
      },
      { code: 'BUDGET_INVALID', message: expect.stringContaining('for ever') },
    );
    await refused(
      {
        transition: [
          [0.9, 0.1],
          [0, 1],
        ],
      },
      { code: 'BUDGET_INVALID' },
    );
    await refused({ week: '' }, { code: 'BUDGET_INVALID', message: expect.stringContaining('nobody knows') });
    await refused({ protect: 'secret: row' }, { code: 'POLICY_INVALID' });
    await refused({ protect: 'secret: person, unit: person, maxRows: 30' }, { code: 'POLICY_INVALID' });
    await refused({ budget: '{ epsilon: 1, delta: 1e-6, per: step }' }, { code: 'POLICY_INVALID' });
  });
});
