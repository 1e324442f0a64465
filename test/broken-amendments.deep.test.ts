import { afterEach, describe, expect, it } from 'vitest';
import { registerLedgerCommand as registerLedger } from '../src/app/cli/ledger.js';
import { amendTerms, enterSpending, Fault, open } from '../src/index.js';
import { runCommand } from './command.js';
import { openWorkshop, policyYaml, type Workshop } from './workshop.js';

/** New terms count earlier costs: a promise that is broken from the start is refused. */
let shop: Workshop;
afterEach(() => shop?.remove());

const party = { kind: 'histogram', column: 'party' } as const;
async function spent(policy: string, ...epsilons: readonly number[]): Promise<void> {
  shop = openWorkshop(policy, 120);
  await using fugu = await open(shop.policyFile);
  for (const epsilon of epsilons) await fugu.release(party, { epsilon });
}
const amend = async (policy: string) => {
  shop.write('policy.yaml', policy);
  return amendTerms(shop.policyFile, { reason: 'a test' });
};
const refused = (work: Promise<unknown>) =>
  work.then(
    () => 'accepted',
    (error: { code: string; message: string }) => `${error.code}: ${error.message}`,
  );
const state = async () => {
  await using fugu = await open(shop.policyFile);
  return { ...(await fugu.spent()), plan: await fugu.plan({ kind: 'count' }, { epsilon: 0.01 }) };
};
const homes = '[{ kind: groups, by: home }]';
const weak = '[{ kind: groups, by: home, oddsRatio: 2 }]';
const gaussian = '{ epsilon: 1, delta: 1e-6 }';

describe('an amendment whose terms promise less than the loss so far', () => {
  it.each<[string, string, string, RegExp]>([
    ['a lower budget', policyYaml(), policyYaml({ budget: '{ epsilon: 0.4 }' }), /lost epsilon 0\.5 so far, and they promise 0\.4/],
    ['ties, where none were declared', policyYaml(), policyYaml({ dependence: homes }), /lost epsilon 1\.5 so far, and they promise 1/],
    ['stronger ties', policyYaml({ dependence: weak }), policyYaml({ dependence: homes }), /lost epsilon [\d.]+ so far, and they promise 1/],
    ['more that is set aside for others', policyYaml(), policyYaml({ budget: '{ epsilon: 1, others: { epsilon: 0.6 } }' }), /lost epsilon 1\.1 so far/],
    ['an attacker who knows more', policyYaml({ protect: '{ secret: row, unit: id, adversary: uninformed }', dependence: weak }), policyYaml({ dependence: homes }), /lost epsilon [\d.]+ so far/],
  ])('the amendment is refused: %s', async (_, before, after, expected) => {
    await spent(before, 0.5);
    expect(await refused(amend(after))).toMatch(expected);
    // Nothing has changed: the old terms go on.
    shop.write('policy.yaml', before);
    expect(await state()).toMatchObject({ agrees: true, plan: { fits: true } });
  }); // biome-ignore format: one line each

  it('a budget without a delta is refused after Gaussian noise was spent', async () => {
    await spent(policyYaml({ budget: gaussian }));
    await enterSpending(shop.policyFile, { rho: '0.001', reason: 'Gaussian noise' });
    expect(await refused(amend(policyYaml()))).toMatch(/^BUDGET_EXCEEDED: .*nothing bounds what one record has lost/);
  });

  it('a raised budget is refused if it is below the costs entered so far', async () => {
    await spent(policyYaml(), 0.5);
    await enterSpending(shop.policyFile, { epsilon: 1, reason: 'they did', over: true });
    expect(await refused(amend(policyYaml({ budget: '{ epsilon: 1.4 }' })))).toMatch(
      /lost epsilon 1\.5 so far, and they promise 1\.4/,
    );
    expect(await amend(policyYaml({ budget: '{ epsilon: 1.5 }' }))).toMatchObject({ privacyLoss: 1.5 });
  });

  it.each([
    [[0.5, 0.6], '{ epsilon: 0.5 }'],
    [[0.4, 0.3], '{ epsilon: 0.5 }'],
    [[0.7], '{ epsilon: 0.1, others: { epsilon: 0.4 } }'],
    [[0.9, 0.2], '{ epsilon: 0.7, delta: 1e-6 }'],
  ])('raising epsilon as the hint proposes is accepted: %j', async (epsilons, budget) => {
    await spent(policyYaml({ budget: '{ epsilon: 2 }' }), ...epsilons);
    for (const more of ['', homes]) {
      const raisedTo = (b: string) => policyYaml({ budget: b, ...(more && { dependence: more }) });
      const fault = (await amend(raisedTo(budget)).catch((error: unknown) => error)) as Fault;
      expect(fault.hint).toContain('Raise epsilon');
      const raised = /^Raise epsilon to ([\d.]+) or more/.exec(fault.hint)?.[1];
      expect(await refused(amend(raisedTo(budget.replace(/epsilon: [\d.]+/, `epsilon: ${raised}`))))).toBe('accepted');
    }
  });

  it('the refusal of a release explains this, and every way it proposes is accepted', async () => {
    await spent(policyYaml(), 0.5);
    shop.write('policy.yaml', policyYaml({ dependence: homes }));
    await using fugu = await open(shop.policyFile);
    const fault = await fugu.release({ kind: 'count' }, { epsilon: 0.1 }).catch((error: unknown) => error);
    expect(fault).toMatchObject({
      code: 'LEDGER_MISMATCH',
      message: expect.stringContaining('lost epsilon 1.5 so far'),
      hint: expect.stringContaining('Raise epsilon to 1.5 or more'),
    });
    expect(await fugu.spent()).toMatchObject({ agrees: false, amendable: false });
  });
});

describe('an amendment to a belief budget', () => {
  const beliefs = (text: string, delta = '') => policyYaml({ budget: `{ belief: ${text}${delta} }` });
  const faultOf = async (work: Promise<unknown>) => {
    const fault = await work.catch((error: unknown) => error);
    expect(fault).toBeInstanceOf(Fault);
    return fault as Fault;
  };

  it.each<[string, string, string, string, string]>([
    [
      'a posterior',
      '{ prior: 0.1, posterior: 0.15 }',
      'a belief of 10 % may have risen to 16 % so far, and they promise at most 15 %.',
      'Allow a posterior of 0.16 or more for prior 0.1 in these terms',
      '{ prior: 0.1, posterior: 0.16 }',
    ],
    [
      'a floor',
      '{ prior: 0.5, floor: 0.4 }',
      'a belief of 50 % may have fallen to 37 % so far, and they promise at least 40 %.',
      'Allow a floor of 0.37 or less for prior 0.5 in these terms',
      '{ prior: 0.5, floor: 0.37 }',
    ],
    [
      'two of three beliefs',
      '[{ prior: 0.1, posterior: 0.15 }, { prior: 0.5, posterior: 0.55 }, { prior: 0.01, posterior: 0.2 }]',
      'a belief of 50 % may have risen to 63 % so far, and they promise at most 55 %.',
      'Allow a posterior of 0.63 or more for prior 0.5 and a posterior of 0.16 or more for prior 0.1 in these terms',
      '[{ prior: 0.1, posterior: 0.16 }, { prior: 0.5, posterior: 0.63 }, { prior: 0.01, posterior: 0.2 }]',
    ],
  ])('the refusal speaks of belief and its hint is accepted: %s', async (_, text, message, hint, wider) => {
    await spent(policyYaml(), 0.5);
    const fault = await faultOf(amend(beliefs(text)));
    expect(fault.message).toBe(`These terms are broken already: under them ${message}`);
    expect(fault.hint).toBe(`${hint}, or keep the terms as they were.`);
    expect(await amend(beliefs(wider))).toMatchObject({ privacyLoss: 0.5 });
  });

  it('with a delta, where a belief needs more than (epsilon, delta), the hint is accepted', async () => {
    await spent(policyYaml({ budget: '{ epsilon: 1, delta: 1e-6 }' }));
    await enterSpending(shop.policyFile, { rho: '0.005', reason: 'Gaussian noise' });
    const { gained: loss } = await state();
    // The epsilon at this delta is within the belief's, and the promise is broken all the same.
    const posterior = Math.ceil(1000 / (1 + 9 * Math.exp(-loss))) / 1000;
    const { message, hint } = await faultOf(amend(beliefs(`{ prior: 0.1, posterior: ${posterior} }`, ', delta: 1e-6')));
    expect(`${message} ${hint}`).not.toMatch(/epsilon/);
    expect(message).toMatch(/a belief of 10 % may have risen to \d+ % so far, .*, except with probability 0\.000001\.$/);
    const wider = /posterior of (0\.\d+) or more for prior 0\.1/.exec(hint)![1]!;
    expect(Number(wider)).toBeGreaterThan(posterior);
    await amend(beliefs(`{ prior: 0.1, posterior: ${wider} }`, ', delta: 1e-6'));
    expect(await state()).toMatchObject({ agrees: true });
  });

  it('a loss that no belief below certainty covers has no such hint', async () => {
    await spent(policyYaml({ budget: '{ epsilon: 20 }' }), 19);
    const { message, hint } = await faultOf(amend(beliefs('{ prior: 0.1, posterior: 0.2 }')));
    expect(message).toMatch(/a belief of 10 % may have become certain so far/);
    expect(hint).toMatch(/^Keep the terms as they were/);
  });
});

describe('an amendment that keeps its promise', () => {
  it.each<[string, string, string, number]>([
    ['as much budget as was spent', policyYaml(), policyYaml({ budget: '{ epsilon: 0.5 }' }), 0.5],
    ['ties within the budget', policyYaml(), policyYaml({ dependence: homes, budget: '{ epsilon: 1.5 }' }), 1.5],
    ['fewer ties', policyYaml({ dependence: homes }), policyYaml(), 0.5 / 3],
  ])('the amendment reports the loss under the new terms: %s', async (_, before, after, lost) => {
    await spent(before, 0.5);
    const { privacyLoss, budget } = await amend(after);
    expect(privacyLoss).toBeCloseTo(lost, 6);
    const found = await state();
    // The same figures in the amendment, the ledger and a plan.
    expect([found.gained, found.budget, found.plan.budget]).toEqual([privacyLoss, budget, budget]);
    expect(found.over).toBeUndefined();
  });

  it('the command prints the loss under the new terms', async () => {
    await spent(policyYaml(), 0.5);
    shop.write('policy.yaml', policyYaml({ budget: '{ epsilon: 2 }' }));
    const expected = await runCommand(registerLedger, 'ledger', shop.policyFile, 'amend', '--reason', 'the council agreed');
    expect(expected).toMatch(/Under the new terms: Spent 0\.5 of 2, remaining .*1\.5.*; one record has lost at most 0\.5/);
  });

  it('no sequence of amendments leaves more spent than the budget', async () => {
    await spent(policyYaml(), 0.2);
    const budgets = ['0.1', '0.2', '0.5', '2'].map((epsilon) => `{ epsilon: ${epsilon} }`);
    const ties = ['none', weak, homes];
    let state_ = 12345;
    const pick = <T>(of: readonly T[]): T => {
      state_ = (state_ * 1103515245 + 12345) % 2147483648;
      return of[Math.floor((state_ / 2147483648) * of.length)]!;
    };
    const seen = { accepted: 0, refused: 0 };
    for (let k = 0; k < 24; k++) {
      const budget = pick([...budgets, gaussian]);
      const expected = await refused(amend(policyYaml({ budget, dependence: pick(ties) })));
      if (expected !== 'accepted') {
        seen.refused++;
        continue;
      }
      seen.accepted++;
      const { gained: loss, budget: after, plan } = await state();
      expect(loss).toBeLessThanOrEqual(after.total);
      expect(after.spent).toBeLessThanOrEqual(after.total);
      expect(plan.guarantee.certified).toBe(true);
    }
    expect(seen.accepted).toBeGreaterThan(2);
    expect(seen.refused).toBeGreaterThan(2);
  });
});

describe('an account that the costs of other publishers exceed', () => {
  it('the ledger and the plan report the excess, and no figure is negative', async () => {
    await spent(policyYaml({ budget: gaussian }), 0.5);
    await enterSpending(shop.policyFile, { epsilon: 0.75, reason: 'they did', over: true });
    const { budget, over, plan } = await state();
    expect(over).toBe(true);
    expect(budget.spent).toBeGreaterThan(1);
    expect([budget.remaining, plan.budget]).toEqual([0, budget]);
    expect(plan.guarantee).toMatchObject({
      certified: false,
      sentences: expect.arrayContaining([expect.stringContaining('not kept')]),
    });
    await using fugu = await open(shop.policyFile);
    for (const epsilon of [0.001, 0.01, 0.1, 0.9]) {
      const fault = await fugu.release({ kind: 'count' }, { epsilon }).catch((error: unknown) => error as { message: string; details: { asked: number; remaining: number } }); // biome-ignore format: one line
      expect(fault).toMatchObject({ code: 'BUDGET_EXCEEDED', message: expect.stringContaining('exceeded before') });
      const { asked: requested, remaining } = (fault as { details: { asked: number; remaining: number } }).details;
      expect(requested).toBeGreaterThanOrEqual(0);
      expect(remaining).toBe(0);
    }
  });
});
