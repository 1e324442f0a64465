import { describe, expect, it } from 'vitest';
import { open } from '../src/app/api/fugu.js';
import { atMost } from './fixtures/new-mechanism.js';
import { runSequences } from './remaining-sequences.js';
import { openWorkshop, policyYaml } from './workshop.js';

const sequences = Number(process.env.FUGU_SEQUENCES ?? 80);

describe('the remaining budget', () => {
  it('the remaining budget is the former one minus the requested share, for any mix; plan, receipt and ledger agree', {
    timeout: 3_600_000,
  }, async () => {
    const only = process.env.FUGU_POLICIES?.split(';');
    const found = await runSequences({ sequences, seed: Number(process.env.FUGU_SEED ?? 32), ...(only && { only }) });
    if (process.env.FUGU_SEQUENCES) console.log(found);
    expect(found.worst, found.where).toBeLessThan(1e-6);
    expect(found.worstQuota, found.where).toBeLessThan(1e-6);
    expect(Math.max(...found.excess.values()), found.where).toBeLessThan(1e-6);
    // Another value would be charged more: the amount is smaller than the share states.
    expect(found.spared).toBeLessThan(found.releases / 10);
    expect(found.figures, found.where).toBeLessThan(1e-12);
    expect(found.broken).toEqual([]);
    expect(found.releases).toBeGreaterThan(sequences);
    expect(found.noises.get('laplace')).toBeGreaterThan(sequences / 10);
    expect(found.noises.get('gaussian')).toBeGreaterThan(sequences / 10);
  });
});

describe('two counts and then a survey', () => {
  const survey = { queries: ['party', 'age', 'media'].map((column) => ({ kind: 'histogram', column })) };
  const count = (value: string) => ({ kind: 'count', where: [{ column: 'party', op: '=', value }] });
  const leftAfter = async (counts: number) => {
    const shop = openWorkshop(policyYaml({ budget: '{ epsilon: 1, delta: 1e-6 }' }), 60);
    const session = await shop.session();
    for (const value of ['dem', 'rep'].slice(0, counts)) await session.release(count(value), { epsilon: '0.1' });
    const { receipt } = await session.release(survey, { epsilon: '0.05' });
    const { budget } = await session.plan(survey, { epsilon: '0.01' });
    await session.close();
    shop.remove();
    return { left: budget.remaining, noise: receipt.measures.map(({ noise }) => noise) };
  };

  it('two counts leave 0.75, and the survey has the noise it would have had first', async () => {
    const [first, later] = [await leftAfter(0), await leftAfter(2)];
    expect(first.left).toBeCloseTo(0.95, 6);
    expect(later.left).toBeCloseTo(0.75, 6);
    expect(later.noise).toEqual(first.noise);
  });

  it('two counts with Laplace noise leave room for Gaussian noise: every draw costs zCDP by itself', async () => {
    const shop = openWorkshop(policyYaml({ budget: '{ epsilon: 1, delta: 1e-6 }' }), 60);
    const session = await shop.session();
    for (const value of ['dem', 'rep']) {
      const { receipt } = await atMost.release(session, { atMost: { column: 'party', value, most: 60 } }, { epsilon: '0.1' });
      expect(receipt.measures.map(({ noise }) => noise.kind)).toEqual(['laplace']);
    }
    const left = async () => (await session.plan(survey, { epsilon: '0.001', fresh: true })).budget.remaining;
    expect(await left()).toBeCloseTo(0.8, 6);
    // As (0.1 + 0.1)^2 / 2 the counts would be 0.7 of the budget, and Gaussian noise would find nothing left of 0.5.
    const { receipt } = await session.release(survey, { epsilon: '0.3' });
    expect(receipt.measures.map(({ noise }) => noise.kind)).toEqual(['gaussian', 'gaussian', 'gaussian']);
    expect(await left()).toBeCloseTo(0.5, 6);
    await session.close();
    shop.remove();
  });

  it('a plan that prefers pure noise explains the effect on later questions', async () => {
    const shop = openWorkshop(policyYaml({ budget: '{ epsilon: 1, delta: 1e-6 }' }), 60);
    const session = await shop.session();
    const plan = await session.plan(count('dem'), { epsilon: '0.4' });
    expect(plan.mechanism).toBe('laplace');
    expect(plan.why).toContain('later questions can use Gaussian noise only by paying more');
    expect((await session.plan(count('dem'), { epsilon: '0.1' })).mechanism).toBe('gaussian');
    await session.close();
    shop.remove();
  });
});

describe('an account with pure noise only, where analysts have quotas', () => {
  const spread = (least: number) => ({ spread: { least } });

  it("a release takes its share and nothing of others' quotas, or is refused", async () => {
    const shop = openWorkshop(policyYaml({ budget: '{ epsilon: 1, delta: 1e-6, analysts: { ann: 0.6, bob: 0.5 } }' }), 60);
    const [ann, bob] = [await open(shop.policyFile, { analyst: 'ann' }), await open(shop.policyFile, { analyst: 'bob' })];
    const left = async () => {
      const { budget, quotas } = await ann.spent();
      return [budget, ...quotas!].map(({ remaining }) => Number(remaining.toFixed(6)));
    };
    await bob.release(spread(5), { epsilon: '0.01' });
    expect(await left()).toEqual([0.99, 0.6, 0.49]);
    const refused = await ann.release(spread(6), { epsilon: '0.1' }).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'BUDGET_EXCEEDED', message: expect.stringContaining('quotas') });
    expect(await left()).toEqual([0.99, 0.6, 0.49]);
    await ann.release(spread(6), { epsilon: '0.05' });
    expect(await left()).toEqual([0.94, 0.55, 0.49]);
    await ann.close();
    await bob.close();
    shop.remove();
  });
});

describe('a week that has spent all of its budget on pure noise', () => {
  it('another week keeps its whole share: what zCDP cannot prove for one is not offered to the other', async () => {
    const extra = '  week: { type: integer, bounds: [0, 3], public: true }\n';
    const shop = openWorkshop(policyYaml({ budget: '{ epsilon: 1, delta: 1e-6 }', extra }), 60);
    const rows = Array.from({ length: 40 }, (_, k) => `p${k},h${k},${k % 2 ? 'dem' : 'rep'},30,1,tv,${k % 4}`);
    shop.write('people.csv', `id,home,party,age,weight,media,week\n${rows.join('\n')}\n`);
    const session = await shop.session();
    const of = (week: number) => ({ kind: 'histogram', column: 'party', where: [{ column: 'week', op: '=', value: week }] });
    await session.release(of(0), { all: true });
    await session.release(of(2), { epsilon: '0.01' });
    const { parts } = await session.plan(of(2), { epsilon: '0.01', fresh: true });
    expect(parts!.at(-1)!.remaining).toBeCloseTo(0.99, 6);
    await session.close();
    shop.remove();
  });
});

describe('a question about one week, where homes have people in several', () => {
  const count = {
    kind: 'count',
    where: [
      { column: 'week', op: '=', value: 0 },
      { column: 'party', op: '=', value: 'dem' },
    ],
  };
  const of = (week: number) => ({ kind: 'histogram', column: 'party', where: [{ column: 'week', op: '=', value: week }] });
  const open = async (oddsRatio: string, budget = '{ epsilon: 8, delta: 1e-5 }') => {
    const extra = '  week: { type: integer, bounds: [0, 3], public: true }\n';
    const dependence = `[{ kind: groups, by: home, oddsRatio: ${oddsRatio} }]`;
    const shop = openWorkshop(policyYaml({ budget, extra, dependence }), 60);
    const rows = Array.from({ length: 60 }, (_, k) => `p${k},h${Math.floor(k / 3)},${k % 2 ? 'dem' : 'rep'},30,1,tv,${k % 4}`);
    shop.write('people.csv', `id,home,party,age,weight,media,week\n${rows.join('\n')}\n`);
    const session = await shop.session();
    const close = async () => {
      await session.close();
      shop.remove();
    };
    return { session, close };
  };

  it.each(['inf', '3'])('the question takes its share from everybody, and no more (odds %s)', async (oddsRatio) => {
    const { session, close } = await open(oddsRatio);
    const spentByAll = async () => (await session.plan(count, { epsilon: '0.001', fresh: true })).budget.spent;
    await session.release(count, { epsilon: '0.52' });
    expect(await spentByAll()).toBeLessThan(0.52 + 1e-6);
    // Gaussian noise would count the first answer for 7.74 of 8, by the bound for certain ties.
    const plan = await session.plan(of(1), { epsilon: '0.02' });
    expect(plan.mechanism).toBe('laplace');
    await session.release(of(1), { epsilon: '0.02' });
    expect(await spentByAll()).toBeLessThan(0.54 + 1e-6);
    await close();
  });

  it('the question takes no more if its share would pay for another reading of earlier answers', async () => {
    const { session, close } = await open('inf');
    await session.release(count, { epsilon: '0.52' });
    const { budget } = await session.plan(of(1), { epsilon: '7.4' });
    await session.release(of(1), { epsilon: '7.4' });
    const left = (await session.plan(of(1), { epsilon: '0.001', fresh: true })).budget.remaining;
    expect(budget.remaining - left).toBeLessThan(7.4 + 1e-6);
    await close();
  });

  it('the question is refused above the remaining budget of the week, though noise for everybody would be small enough', async () => {
    const { session, close } = await open('inf', '{ epsilon: 1, delta: 1e-6 }');
    await session.release(of(0), { epsilon: '0.9' });
    expect((await session.plan(of(1), { epsilon: '0.2' })).parts!.at(-1)!.remaining).toBeCloseTo(0.1, 6);
    expect((await session.plan(of(1), { epsilon: '0.2' })).fits).toBe(false);
    expect((await session.plan(of(1), { epsilon: '0.0999' })).fits).toBe(true);
    await close();
  });
});

describe('a question above the remaining budget of a part', () => {
  it('the question is refused, and not answered with the noise of a smaller share', async () => {
    const extra = '  week: { type: integer, bounds: [0, 3], public: true }\n';
    const shop = openWorkshop(policyYaml({ budget: '{ epsilon: 3, delta: 1e-7 }', extra }), 60);
    const rows = Array.from({ length: 40 }, (_, k) => `p${k},h${k},${k % 2 ? 'dem' : 'rep'},30,1,tv,${k % 4}`);
    shop.write('people.csv', `id,home,party,age,weight,media,week\n${rows.join('\n')}\n`);
    const session = await shop.session();
    const of = (week: number) => ({ kind: 'histogram', column: 'party', where: [{ column: 'week', op: '=', value: week }] });
    await session.release(of(0), { epsilon: '0.05' });
    await session.release({ kind: 'histogram', column: 'party' }, { all: true });
    await session.release(of(1), { epsilon: '0.05' });
    const plan = await session.plan(of(2), { epsilon: '0.1' });
    expect(plan.parts!.at(-1)!.remaining).toBeCloseTo(0.05, 6);
    expect(plan.fits).toBe(false);
    expect((await session.plan(of(2), { epsilon: '0.05' })).fits).toBe(true);
    await session.close();
    shop.remove();
  });
});
