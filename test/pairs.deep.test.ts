import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { registerCheckCommand as registerCheck } from '../src/app/cli/check.js';
import { registerLedgerCommand as registerLedger } from '../src/app/cli/ledger.js';
import { registerReleaseCommand as registerRelease } from '../src/app/cli/release.js';
import { amendTerms, attack, checkPolicy, open, planStream, stream } from '../src/index.js';
import { runCommand } from './command.js';
import { openWorkshop, policyYaml, type Workshop } from './workshop.js';

let shop: Workshop;
afterEach(() => shop?.remove());

const pairs = '{ secret: row, unit: id, pairs: { age: { within: 5, missing: apart }, same: [party] } }';
const households = '[{ kind: groups, by: home, oddsRatio: 4 }]';
const age = { kind: 'mean', column: 'age' } as const;
const party = { kind: 'histogram', column: 'party' } as const;
const planOf = async (policy: string, query: object, epsilon = 0.5) => {
  shop = openWorkshop(policy, 240);
  await using fugu = await open(shop.policyFile);
  const plan = await fugu.plan(query as typeof age, { epsilon });
  shop.remove();
  return plan;
};
const refused = (work: Promise<unknown>) => work.then(() => undefined, (error: unknown) => error as { code: string; message: string }); // biome-ignore format: one line
const release = async (query: object = party) => {
  await using fugu = await open(shop.policyFile);
  return await fugu.release(query as typeof age, { epsilon: 0.2 });
};

const spending = async () => {
  await using fugu = await open(shop.policyFile);
  return await fugu.spent();
};

describe('a policy with pairs', () => {
  it('the policy declares no pairs of the column that identifies persons', async () => {
    for (const form of ['same: [who]', 'who: { secrets: { a: [a], b: [b] } }', 'who: all, same: [x]']) {
      shop = openWorkshop(
        `data: { source: visits.csv }\nprotect: { secret: person, unit: who, maxRows: 2, pairs: { ${form} } }\nbudget: { epsilon: 1 }\ndependence: none\ncolumns: { who: { type: category, values: [a, b] }, x: { type: category, values: [1, 2] } }\n`,
        1,
      );
      shop.write('visits.csv', 'who,x\na,1\n');
      expect((await refused(checkPolicy(shop.policyFile)))!.message).toContain('so it has no pairs: a person keeps it');
      shop.remove();
    }
  });

  it('the noise covers the largest step, and the promise names its values', async () => {
    const [plain, near] = [await planOf(policyYaml(), age), await planOf(policyYaml({ protect: pairs }), age)];
    // 73 years against 5; plain noise also hides the number of answers.
    expect(plain.errors[0]!.halfWidth / near.errors[0]!.halfWidth).toBeGreaterThan(10);
    expect(near.guarantee.pairs).toEqual(['age: within 5, missing apart', 'party: same', 'any two values of other columns']);
    const words = near.guarantee.sentences.join(' ');
    expect(words).toMatch(
      /odds between any two values that are a declared pair \(age: within 5, missing apart; party: same; any/,
    );
    expect(words).toMatch(/Over several pairs in a row, the odds move by at most that many times epsilon/);
    expect(words).toMatch(/can say something about the rest of it; that is not limited/);
    expect(plain.guarantee.sentences.join(' ')).not.toMatch(/pair/);
  });

  it('numbers that no pair changes are released without noise, free, and marked so', async () => {
    shop = openWorkshop(policyYaml({ protect: pairs }), 240);
    const { tables, receipt } = await release();
    expect(tables[0]!.rows.map(({ value }) => value)).toEqual([60, 60, 60, 60]);
    expect([receipt.epsilon, receipt.mechanism, receipt.why]).toEqual([0, 'none', 'No noise: this is public under the policy.']);
    expect(receipt.profile.perRecord).toEqual({});
    expect((await release({ kind: 'count' })).tables[0]!.rows[0]!.value).toBe(240);
    const { budget } = await spending();
    expect([budget.spent, budget.remaining]).toEqual([0, 1]);
    const mixed = await release([{ kind: 'count', by: ['party', 'age'] }, party]);
    expect(mixed.receipt.why).toMatch(/No noise on .*: public under the policy/);
    expect(mixed.tables[1]!.rows.map(({ value }) => value)).toEqual([60, 60, 60, 60]);
    const out = join(shop.folder, 'out');
    const text = await runCommand(registerRelease, 'release', shop.policyFile, '--query', JSON.stringify(party), '--out', out);
    expect(text).toMatch(/No noise|epsilon 0/);
    const page = readFileSync(join(out, 'report.html'), 'utf8');
    expect(page).toContain('No noise: this is public under the policy.');
    expect(page).toContain('age: 53 is not distinguished from 48, 58');
    expect(page).not.toContain('Every number here is noisy');
  });

  it('the same numbers get noise for the effect of ties, where somebody is tied', async () => {
    const tied = policyYaml({ protect: pairs, dependence: households });
    const [exact, noisy, plain] = [
      await planOf(policyYaml({ protect: pairs }), party),
      await planOf(tied, party),
      await planOf(policyYaml({ dependence: households }), party),
    ];
    expect(exact.errors[0]!.halfWidth).toBe(0);
    expect(noisy.errors[0]!.halfWidth).toBeGreaterThan(1);
    expect(noisy.errors[0]!.halfWidth).toBeLessThan(plain.errors[0]!.halfWidth);
    expect(noisy.mechanism).toBe('laplace');
  });

  it.each(['none', households])(
    'a request above the remaining budget is refused with what fits, and is not answered with more noise: %s',
    async (dependence) => {
      shop = openWorkshop(policyYaml({ protect: pairs, dependence }), 240);
      await using fugu = await open(shop.policyFile);
      const { receipt } = await fugu.release(age, { epsilon: 0.8 });
      expect(receipt.profile.perRecord).toHaveProperty([
        Object.keys(receipt.profile.perRecord).find((k) => k.startsWith('pairs:'))!,
      ]);
      const [fits, plan] = [await fugu.plan(age, { epsilon: 0.2 }), await fugu.plan(age, { epsilon: 0.5 })];
      expect([fits.fits, plan.fits]).toEqual([true, false]);
      // The same noise for its epsilon as with all of the budget left.
      expect(plan.errors[0]!.halfWidth).toBeLessThan(fits.errors[0]!.halfWidth);
      const fault = await refused(fugu.release(age, { epsilon: 0.5 }));
      expect(fault).toMatchObject({ code: 'BUDGET_EXCEEDED' });
      const remaining = Number(/remaining ([\d.]+)/.exec(fault!.message)![1]);
      // Under ties shares need not add up: a little more, or less.
      expect(Math.abs(remaining - 0.2)).toBeLessThan(0.05);
      expect((await fugu.plan(age, { epsilon: Math.floor(1000 * remaining) / 1000 })).fits).toBe(true);
    },
  );

  it('examples explain the policy', async () => {
    shop = openWorkshop(
      policyYaml({
        protect: '{ secret: row, pairs: { age: { within: 5 }, party: { partition: { blocks: [[dem, rep], [other]] } } } }',
      }),
      30,
    );
    const text = (await runCommand(registerCheck, 'check', shop.policyFile)).replace(/\s+/g, ' ');
    expect(text).toContain(
      'may not tell: age 53 from 58 (within 5); 53 from 90 over 2 pairs, by 2 times epsilon; no answer from any answer.',
    );
    expect(text).toContain('may not tell: any value of weight, media from any other.');
    expect(text).toContain('odds between two values that are a pair change at most 2.72 times');
    const checked = await checkPolicy(shop.policyFile);
    expect(checked.pairs).toEqual([
      { column: 'age', notTold: ['53', '58'], over: { values: ['53', '90'], steps: 2 }, missing: 'any' },
      { column: 'party', notTold: ['rep', 'dem'], over: { values: ['rep', 'other'], steps: 2 }, missing: 'any' },
    ]);
  });

  it('values without a path of pairs may be distinguished, and the examples show it', async () => {
    const protect =
      '{ secret: row, pairs: { party: { partition: { blocks: [[dem, rep], [other]] }, missing: apart }, same: [media] } }';
    shop = openWorkshop(policyYaml({ protect }), 30);
    const text = (await runCommand(registerCheck, 'check', shop.policyFile)).replace(/\s+/g, ' ');
    expect(text).toContain('may learn: media (rows that are compared agree there).');
    expect(text).toContain('may learn: party as far as no pairs join values: rep from other.');
    expect(text).toContain('may learn: whether there is an answer to party.');
    const { tables } = await release({ kind: 'count', where: [{ column: 'party', op: 'in', values: ['dem', 'rep'] }] });
    expect(tables[0]!.rows[0]!.value).toBe(16);
  });
});

describe('terms with pairs', () => {
  const reason = { reason: 'a test' };
  const change = (yaml: string) => shop.write('policy.yaml', yaml);
  const wider = pairs.replace('within: 5', 'within: 6');

  it('only an amendment changes the pairs', async () => {
    shop = openWorkshop(policyYaml({ protect: pairs }), 60);
    await release(age);
    for (const yaml of [
      policyYaml({ protect: wider }),
      policyYaml(),
      policyYaml({ protect: pairs }).replace('[17, 90]', '[17, 95]'),
    ]) {
      change(yaml);
      expect(await refused(release(age))).toMatchObject({ code: 'LEDGER_MISMATCH', message: expect.stringMatching(/pairs/) });
    }
    change(policyYaml({ protect: pairs }).replace('[dem, rep, other]', '[dem, rep, other, green]'));
    expect(await refused(release(age))).toMatchObject({ code: 'LEDGER_MISMATCH' });
    change(policyYaml({ protect: pairs }).replace('bounds: [1, 3]', 'bounds: [1, 4]'));
    expect(await refused(release(age))).toBeUndefined();
  });

  it('a change of pairs after costs were reserved along them counts those costs in full', async () => {
    shop = openWorkshop(policyYaml({ protect: pairs }), 60);
    await release({ kind: 'sum', column: 'age' });
    const before = (await spending()).gained;
    expect(before).toBeCloseTo(0.2, 9);
    const output = await runCommand(registerLedger, 'ledger', shop.policyFile);
    expect(output).toMatch(/epsilon 0.2 along pairs, 3.6 otherwise/);
    expect(output).toMatch(/of one record so far, between two values that are a declared pair: at most/);
    change(policyYaml({ protect: wider }));
    await expect(amendTerms(shop.policyFile, reason)).rejects.toMatchObject({ code: 'BUDGET_EXCEEDED' });
    change(policyYaml({ protect: wider, budget: '{ epsilon: 3.7 }' }));
    await amendTerms(shop.policyFile, reason);
    const { gained: loss, budget } = await spending();
    // 90 years for every 5 that were paid for.
    expect(loss / before).toBeGreaterThan(10);
    expect(budget.remaining).toBeCloseTo(0.1, 3);
    change(policyYaml({ protect: pairs }));
    await amendTerms(shop.policyFile, reason);
    expect((await spending()).gained).toBeCloseTo(0.2, 9);
  });

  it('terms under which exact numbers were released keep their pairs, reading and ties; only the budget may change', async () => {
    shop = openWorkshop(policyYaml({ protect: pairs }), 60);
    await release();
    for (const yaml of [
      policyYaml({ protect: wider }),
      policyYaml(),
      policyYaml({ protect: pairs, dependence: households }),
      policyYaml({ protect: pairs }).replace('[dem, rep, other]', '[dem, rep, other, green]'),
    ]) {
      change(yaml);
      expect(await refused(amendTerms(shop.policyFile, reason))).toMatchObject({
        code: 'LEDGER_MISMATCH',
        message: expect.stringMatching(/released at no cost/),
      });
    }
    change(policyYaml({ protect: pairs, budget: '{ epsilon: 2 }' }));
    expect(await refused(amendTerms(shop.policyFile, reason))).toBeUndefined();
  });

  it('terms with pairs do not cover attacks that guess among all values of a column', async () => {
    const both = '{ secret: row, unit: id, pairs: { party: { within: 1, missing: apart } } }';
    shop = openWorkshop(policyYaml({ protect: both }), 60);
    const out = join(shop.folder, 'out');
    await runCommand(registerRelease, 'release', shop.policyFile, '--query', JSON.stringify(party), '--out', out);
    expect(await refused(attack(shop.policyFile, { release: out }))).toMatchObject({
      code: 'QUERY_UNSUPPORTED',
      message: expect.stringMatching(/declared pairs only/),
    });
  });

  it('terms with pairs hold for running totals, too', async () => {
    const weekly = policyYaml({ protect: '{ secret: row, pairs: { same: [party, age] } }' }).replace(
      'age: { type: integer, bounds: [17, 90] }',
      'age: { type: integer, bounds: [20, 79], public: true }',
    );
    shop = openWorkshop(weekly, 120);
    const request = { order: 'age', totals: true, horizon: 4, gaps: 'empty', epsilon: 0.5 } as const;
    const where = (column: string, value: string) => ({ kind: 'count', where: [{ column, op: '=', value }] }) as const;
    const noisy = await planStream(shop.policyFile, { ...request, query: where('media', 'tv') });
    expect([noisy.mechanism, noisy.epsilon]).toEqual(['laplace', 0.5]);
    const exact = await planStream(shop.policyFile, { ...request, query: where('party', 'dem') });
    expect([exact.mechanism, exact.epsilon, exact.why]).toEqual(['none', 0, 'No noise: this is public under the policy.']);
    const values: unknown[] = [];
    for await (const step of await stream(shop.policyFile, { ...request, query: where('party', 'dem') })) values.push(step);
    // The two people of 20 are Democrats, nobody of 21 to 23 is.
    expect(values.map((step) => (step as { totals: readonly { total: number }[] }).totals[0]!.total)).toEqual([2, 2, 2, 2]);
    expect((await spending()).budget.spent).toBe(0);
  });
});
