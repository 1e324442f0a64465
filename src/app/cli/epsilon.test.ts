import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { runCommand } from '../../../test/command.js';
import { openWorkshop, policyYaml, type Workshop } from '../../../test/workshop.js';
import { registerEpsilonCommand } from './epsilon.js';
import { registerPosteriorCommand as registerPosterior } from './posterior.js';

const run = (...words: string[]) => runCommand(registerEpsilonCommand, 'epsilon', ...words);
const json = async (...words: string[]) => JSON.parse(await run(...words, '--json'));

describe('fugu epsilon with a belief', () => {
  it('fugu epsilon prints the budget of a belief as one small JSON document', async () => {
    const found = await json('--prior', '0.2', '--posterior', '0.5');
    expect(Object.keys(found)).toEqual(['epsilon', 'oddsFactor', 'downward', 'delta']);
    expect(Math.abs(found.epsilon - 1.38629436112)).toBeLessThan(1e-9);
    expect(found.epsilon).toBeLessThanOrEqual(Math.log(4));
    expect(found).toMatchObject({ oddsFactor: 4, downward: { from: 0.5, to: 0.2 } });
  });

  it('fugu epsilon describes a belief in numbers of people', async () => {
    const output = await run('--prior', '0.1', '--posterior', '0.3', '--delta', '1e-6');
    expect(output).toMatch(/epsilon 1\.35/);
    expect(output).toMatch(/Of 100 people an attacker suspects at 10 %, 10 are rightly suspected/);
    expect(output).toMatch(/except with probability 0\.000001/);
  });

  it('fugu epsilon computes the posterior of an epsilon, and identifiability', async () => {
    const rows = (await json('--epsilon', '1')).beliefs as { prior: number; posterior: number; atLeast: number }[];
    expect(rows.find((r) => r.prior === 0.5)!.posterior).toBeCloseTo(Math.E / (1 + Math.E), 12);
    expect((await json('--epsilon', '1', '--prior', '0.03,0.6')).beliefs.map((r: { prior: number }) => r.prior)).toEqual([
      0.03, 0.6,
    ]);
    expect((await json('--among', '50', '--posterior', '0.3')).epsilon).toBeCloseTo(Math.log((49 * 0.3) / 0.7), 9);
  });

  it.each([
    [['--prior', '0.5', '--posterior', '0.2'], 'BUDGET_INVALID'],
    [['--prior', '0', '--posterior', '0.2'], 'BUDGET_INVALID'],
    [['--prior', '0.1', '--posterior', '1'], 'BUDGET_INVALID'],
    [['--prior', 'NaN', '--posterior', '0.2'], 'BUDGET_INVALID'],
    [['--prior', '0.1'], 'USAGE'],
    [['--epsilon', '0'], 'BUDGET_INVALID'],
    [['--epsilon', '1', '--delta', '1'], 'BUDGET_INVALID'],
    [['--among', '1', '--posterior', '0.3'], 'BUDGET_INVALID'],
    [['--among', 'many', '--posterior', '0.3'], 'BUDGET_INVALID'],
    [[], 'USAGE'],
  ])('fugu epsilon refuses %j', async (words, code) => {
    await expect(run(...words)).rejects.toMatchObject({ code, hint: expect.stringMatching(/./) });
  });
});

describe('fugu epsilon with an accuracy', () => {
  let shop: Workshop;
  afterEach(() => shop?.remove());
  const histogram = ['--query', '{"kind":"histogram","column":"party"}'];

  it('fugu epsilon finds the least epsilon that reaches an error, and the posterior that it permits', async () => {
    shop = openWorkshop();
    const found = await json(shop.policyFile, ...histogram, '--error', '10');
    expect(found.error).toBeLessThanOrEqual(10);
    // Replacing one record moves two counts: scale 2/epsilon, 95 % half width about scale ln 20.
    expect(found.epsilon).toBeGreaterThan(((2 * Math.log(20)) / 11) * 0.97);
    expect(found.epsilon).toBeLessThan(((2 * Math.log(20)) / 10) * 1.03);
    expect(found.posterior).toBeCloseTo(1 / (1 + 9 * Math.exp(-found.epsilon)), 9);
    const less = await json(shop.policyFile, ...histogram, '--error', '10', '--confidence', '0.8');
    expect(less.epsilon).toBeLessThan(found.epsilon);
    expect(existsSync(join(shop.folder, 'ledger.db'))).toBe(false);
  });

  it('fugu epsilon takes declared households into account', async () => {
    shop = openWorkshop(policyYaml({ dependence: '[{ kind: groups, by: home }]' }));
    const tied = await json(shop.policyFile, ...histogram, '--error', '30');
    shop.write('alone.yaml', policyYaml());
    const alone = await json(join(shop.folder, 'alone.yaml'), ...histogram, '--error', '30');
    expect(tied.epsilon / alone.epsilon).toBeCloseTo(3, 0);
  });

  it('fugu epsilon prints a menu of budgets and draws it', async () => {
    shop = openWorkshop();
    const chart = join(shop.folder, 'menu.svg');
    const output = await run(shop.policyFile, '--survey', '--chart', chart, '--rows', '300');
    expect(output).toMatch(/epsilon +error \(95 %\) +10 % becomes at most/);
    expect(readFileSync(chart, 'utf8')).toMatch(/^<svg/);
    const { tradeOff } = await json(shop.policyFile, '--survey', '--rows', '300');
    for (let k = 1; k < tradeOff.length; k++) {
      expect(tradeOff[k].error).toBeLessThanOrEqual(tradeOff[k - 1].error);
      expect(tradeOff[k].posterior).toBeGreaterThan(tradeOff[k - 1].posterior);
    }
  });

  it('fugu epsilon requires the number of rows where the error depends on it, and uses it', async () => {
    shop = openWorkshop();
    const mean = ['--query', '{"kind":"mean","column":"age"}'];
    await expect(run(shop.policyFile, ...mean, '--error', '1')).rejects.toMatchObject({
      code: 'USAGE',
      hint: expect.stringMatching(/--rows/),
    });
    const small = await json(shop.policyFile, ...mean, '--error', '1', '--rows', '300');
    const large = await json(shop.policyFile, ...mean, '--error', '1', '--rows', '1200');
    expect(small.epsilon / large.epsilon).toBeGreaterThan(3.5);
  });

  it.each([
    ['--error', '0'],
    ['--error', '-1'],
    ['--error', '1e-9'],
    ['--confidence', '1'],
    ['--rows', '0'],
  ])('fugu epsilon refuses %s %s and suggests a value that works', async (option, value) => {
    shop = openWorkshop();
    const mean = ['--query', '{"kind":"mean","column":"age"}', '--error', '2', '--rows', '500'];
    await expect(run(shop.policyFile, ...mean, option, value)).rejects.toMatchObject({
      code: 'BUDGET_INVALID',
      hint: expect.stringMatching(/./),
    });
  });
});

describe('an error that no epsilon reaches', () => {
  it('fugu epsilon refuses an unreachable error and names the least reachable one', async () => {
    const shop = openWorkshop();
    const fault = await run(
      shop.policyFile,
      '--query',
      '{"kind":"mean","column":"age"}',
      '--error',
      '1e-9',
      '--rows',
      '500',
    ).catch((e) => e);
    expect(fault).toMatchObject({ code: 'BUDGET_INVALID', details: { reachable: expect.any(Number) } });
    expect(fault.details.atPolicyEpsilon).toBeGreaterThan(fault.details.reachable);
    shop.remove();
  });
});

describe('the command fugu posterior', () => {
  it('fugu posterior prints Table I of Ouyang et al.', async () => {
    const words = ['--universe', '1,2,3,5,10', '--known', '1,2,3', '--query', 'mean', '--answer', '5.041', '--scale', '1.125'];
    const { rows } = JSON.parse(await runCommand(registerPosterior, 'posterior', ...words, '--json'));
    expect(rows.map((r: { posterior: number }) => Number(r.posterior.toFixed(4)))).toEqual([
      0.0734, 0.0916, 0.1144, 0.1785, 0.5421,
    ]);
    expect(rows[1]).toMatchObject({ value: 2, expected: 2, noise: 3.0410000000000004 });
    await expect(runCommand(registerPosterior, 'posterior', ...words.slice(0, -2))).rejects.toMatchObject({ code: 'USAGE' });
  });
});
