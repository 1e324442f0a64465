import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { memoryLedger } from '../../../test/memory-ledger.js';
import { openWorkshop, policyYaml, type Workshop } from '../../../test/workshop.js';
import { compare, multiply, rational, toNumber } from '../../base/exact/rational.js';
import { openEngine } from '../../data/terms/open.js';
import { readPolicy } from '../../data/terms/read.js';
import type { Policy } from '../../policy/policy.js';
import { oneTimeCost, type PrivacyCost, pureCost, zcdpCost } from '../../privacy/mechanism/privacy-cost.js';
import { everyRecord } from '../../privacy/mechanism/record-class.js';
import type { Account } from '../accountant/account.js';
import { admission } from '../accountant/admission.js';
import { admits } from '../accountant/admits.js';
import { usedShare } from '../accountant/used-share.js';
import { enteredKey } from './entered-key.js';
import { quotaFor, quotaUses, spentBy } from './quota.js';
import { createSession, type PrivacySession } from './session.js';

const budget = '{ epsilon: 1, delta: 1e-6, analysts: { each: 0.3, ann: 0.7, eve: 0 } }';
const analysts = ['ann', 'bob', 'cleo', 'eve'];
let shop: Workshop;
let policy: Policy;
let account: Account;
let close: () => Promise<void>;
let sessionOf: (analyst: string, ledger?: ReturnType<typeof memoryLedger>) => Promise<PrivacySession>;
beforeAll(async () => {
  shop = openWorkshop(policyYaml({ budget }), 60);
  policy = await readPolicy(shop.policyFile);
  const engine = await openEngine(policy);
  close = () => engine.close();
  sessionOf = (analyst, ledger = memoryLedger()) => createSession({ policy, engine, ledger, analyst });
  ({ account } = await sessionOf('ann'));
});
afterAll(async () => {
  await close();
  shop.remove();
});

const cost = (noise: 'pure' | 'zcdp', parts: number): PrivacyCost =>
  noise === 'pure' ? pureCost([[everyRecord, rational(parts, 100)]]) : zcdpCost([[everyRecord, rational(parts, 10_000)]]);
const reservations = fc.array(
  fc.record({
    analyst: fc.constantFrom(...analysts),
    noise: fc.constantFrom('pure' as const, 'zcdp' as const),
    parts: fc.integer({ min: 1, max: 40 }),
  }),
  { minLength: 4, maxLength: 24 },
);

/** Reserves what is admitted; false when a quota or the budget was exceeded in the end. */
async function admitsAll(requests: readonly { analyst: string; noise: 'pure' | 'zcdp'; parts: number }[], withQuota: boolean) {
  const ledger = memoryLedger();
  for (const [k, { analyst, noise, parts }] of requests.entries()) {
    const privacyCost = account.reservedCost(cost(noise, parts), {});
    await ledger
      .reserve({
        population: policy.population,
        terms: account.terms,
        analyst,
        key: `${k}`,
        label: '',
        profile: privacyCost,
        admit: admission(account, privacyCost, withQuota ? quotaFor({ policy, analyst }) : undefined),
      })
      .catch(() => undefined);
  }
  const within = analysts.every((analyst) => {
    const used = multiply(usedShare(account, spentBy(ledger.kept, analyst)), account.epsilon);
    return compare(used, quotaFor({ policy, analyst })!.epsilon) <= 0;
  });
  return { within, kept: admits(account, spentBy(ledger.kept)), booked: ledger.kept.length };
}

describe('quotas', () => {
  it('no order of reservations exceeds a quota or the budget', async () => {
    let booked = 0;
    await fc.assert(
      fc.asyncProperty(reservations, async (requests) => {
        const found = await admitsAll(requests, true);
        booked += found.booked;
        return found.within && found.kept;
      }),
      { numRuns: 300 },
    );
    expect(booked).toBeGreaterThan(500);
  });

  it('the property fails when admission does not check the quota', async () => {
    await expect(
      fc.assert(
        fc.asyncProperty(reservations, async (requests) => (await admitsAll(requests, false)).within),
        { numRuns: 300 },
      ),
    ).rejects.toThrow();
  });

  it('a quota refuses with the remaining amount, plans predict the refusal, and --all spends no more than remains', async () => {
    const ledger = memoryLedger();
    const query = { kind: 'count' };
    const bob = await sessionOf('bob', ledger);
    const { receipt } = await bob.release(query, { epsilon: '0.19' });
    expect(receipt.epsilon).toBeCloseTo(0.19, 9);
    const plan = await bob.plan(query, { epsilon: '0.15' });
    expect(plan).toMatchObject({ fits: false, quota: { analyst: 'bob', total: 0.3 } });
    expect(plan.quota!.remaining).toBeCloseTo(0.11, 9);
    await expect(bob.release(query, { epsilon: '0.15' })).rejects.toMatchObject({
      code: 'BUDGET_EXCEEDED',
      message: expect.stringMatching(/quota of bob .*requested 0.15, spent 0.19 of 0.3, remaining 0.11/),
      details: { quota: 0.3, analyst: 'bob' },
      outcome: { state: 'not spent' },
    });
    const rest = await bob.release({ kind: 'histogram', column: 'party' }, { all: true });
    expect(rest.receipt.epsilon).toBeCloseTo(0.11, 9);
    await expect((await sessionOf('eve', ledger)).release(query, { epsilon: '0.01' })).rejects.toMatchObject({
      code: 'BUDGET_EXCEEDED',
    });
    // Recorded answers are free for everybody.
    expect((await (await sessionOf('eve', ledger)).release(query, { epsilon: '0.19' })).receipt.ledger.replayed).toBe(true);
    const uses = await quotaUses(policy, account, ledger);
    expect(uses.map((u) => [u.analyst, u.total, Number(u.spent.toFixed(9))])).toEqual([
      ['ann', 0.7, 0],
      ['bob', 0.3, 0.3],
      ['eve', 0, 0],
    ]);
  });

  it('quotas are listed for analysts who paid, even if they entered larger costs of other publishers', async () => {
    const ledger = memoryLedger();
    const pay = (analyst: string, key: string, privacyCost: PrivacyCost) =>
      ledger.reserve({
        population: policy.population,
        terms: account.terms,
        analyst,
        key,
        label: '',
        profile: privacyCost,
        admit: () => {},
      });
    for (const analyst of ['bob', 'cleo']) await pay(analyst, enteredKey(analyst), account.reservedCost(cost('pure', 10), {}));
    await pay('cleo', 'own', oneTimeCost('a look'));
    expect((await quotaUses(policy, account, ledger)).map((u) => u.analyst)).toEqual(['ann', 'cleo', 'eve']);
  });

  it('the budget limits analysts even if the sum of their quotas exceeds it', async () => {
    const ledger = memoryLedger();
    for (const [analyst, epsilon] of [['ann', '0.7'], ['bob', '0.25']] as const) // biome-ignore format: one line
      await (await sessionOf(analyst, ledger)).release({ kind: 'count' }, { epsilon });
    await expect((await sessionOf('cleo', ledger)).release({ kind: 'count' }, { epsilon: '0.1' })).rejects.toMatchObject({
      message: expect.stringMatching(/^The budget does not allow/),
    });
  });

  it('quotas are not part of the terms, so that changing them needs no amendment', async () => {
    const without = await readPolicy(shop.write('without.yaml', policyYaml({ budget: '{ epsilon: 1, delta: 1e-6 }' })));
    expect(without.digest).toBe(policy.digest);
    expect(toNumber(policy.budget.analysts!.named.get('ann')!)).toBe(0.7);
  });

  it.each(['{ each: -0.1 }', '{ each: many }', '[0.2]', '{ each: [1, 2] }'])(
    'a policy with the quotas %s is refused',
    async (quotas) => {
      const file = shop.write('bad.yaml', policyYaml({ budget: `{ epsilon: 1, analysts: ${quotas} }` }));
      await expect(readPolicy(file)).rejects.toMatchObject({ code: 'POLICY_INVALID' });
    },
  );
});
