import { afterEach, describe, expect, it } from 'vitest';
import { type AnyKind, kinds } from '../src/app/api/kinds.js';
import { planOnRecord } from '../src/app/api/plan-on-record.js';
import { registerPlanCommand as registerPlan } from '../src/app/cli/plan.js';
import { Fault, type FaultCode, faultCodes } from '../src/base/errors.js';
import { type Fugu, open } from '../src/index.js';
import { runCommand } from './command.js';
import { readPolicy } from './inside.js';
import { openTown, type ServedTown } from './service/served.js';
import { openWorkshop, policyYaml, type Workshop } from './workshop.js';

let shop: Workshop | undefined;
let town: ServedTown | undefined;
afterEach(async () => {
  shop?.remove();
  await town?.close();
  [shop, town] = [undefined, undefined];
});

const histogram = { kind: 'histogram' as const, column: 'party' };

/** Pays until nothing is left. */
async function spendAll(fugu: Fugu): Promise<void> {
  const { budget } = await fugu.spent();
  await fugu.release({ kind: 'histogram', column: 'age' }, { epsilon: budget.remaining, label: 'the rest' });
}

describe('the plan of a question whose answer is recorded', () => {
  it('the plan is free and fits, with the errors of that answer, even if no budget remains', async () => {
    shop = openWorkshop(policyYaml());
    await using fugu = await open(shop.policyFile);
    const before = await fugu.plan(histogram);
    expect(before).toMatchObject({ epsilon: 0.1, fits: true });
    expect(before.recorded).toBeUndefined();
    const { receipt } = await fugu.release(histogram);
    await spendAll(fugu);
    const plan = await fugu.plan(histogram);
    expect(plan).toMatchObject({ epsilon: 0, fits: true, recorded: { entry: receipt.ledger.entry, at: receipt.at } });
    expect([plan.refusal, plan.waysOut, plan.warnings]).toEqual([undefined, undefined, undefined]);
    expect(plan.errors).toEqual(before.errors);
    expect(plan.budget.remaining).toBeCloseTo(0, 9);
    expect((await fugu.release(histogram)).receipt.ledger.replayed).toBe(true);
    // In other words, and anew.
    expect(await fugu.plan({ sql: 'SELECT party, COUNT(*) FROM people GROUP BY party' })).toMatchObject({
      fits: true,
      epsilon: 0,
    });
    expect(await fugu.plan(histogram, { fresh: true })).toMatchObject({ fits: false, epsilon: 0.1 });
    expect((await fugu.plan(histogram, { epsilon: 0.2 })).recorded).toBeUndefined();
    expect((await fugu.plan({ kind: 'histogram', column: 'media' })).recorded).toBeUndefined();
  });

  it('the plan shows the errors of that answer alone: a survey that took the whole budget does not appear not to fit', async () => {
    shop = openWorkshop(policyYaml());
    const ask = () => runCommand(registerPlan, 'plan', shop!.policyFile, '--survey');
    expect(await ask()).toContain('Ways to release this survey');
    {
      await using fugu = await open(shop.policyFile);
      await fugu.release({ survey: true });
    }
    const answer = await ask();
    expect(answer).toContain('Answered from the record, free');
    expect(answer).not.toMatch(/does not fit|Ways to release/);
  });

  it.each(Object.keys(kinds) as (keyof typeof kinds)[])('the plan states what a release will do: %s', async (name) => {
    const kind: AnyKind = await kinds[name]();
    const edges = 'relations:\n  friend: { table: friends.csv, columns: [a, b], domain: 100, symmetric: true }\n';
    for (const yaml of [policyYaml(), policyYaml({ protect: '{ secret: edge }', extra: edges })]) {
      shop = openWorkshop(yaml, 300);
      shop.write('friends.csv', `a,b\n${Array.from({ length: 60 }, (_, i) => `p${i},p${(i * 7 + 1) % 60}`).join('\n')}\n`);
      const question = kind.example(await readPolicy(shop.policyFile)) as never;
      if (question) {
        await using fugu = await open(shop.policyFile);
        await fugu.release(question, { epsilon: 0.5 });
        for (const options of [
          { epsilon: 0.5 },
          { epsilon: 0.5, fresh: true },
          { epsilon: 0.75 },
          { epsilon: 0.4 },
          { epsilon: 0.5 },
        ]) {
          const plan = await fugu.plan(question, options).catch(() => undefined);
          const answer = await fugu.release(question, options).then(
            ({ receipt }) => (receipt.ledger.replayed ? 'replayed' : 'paid'),
            () => 'refused',
          );
          const promised = plan?.recorded ? 'replayed' : plan?.fits ? 'paid' : 'refused';
          expect([options, promised]).toEqual([options, answer]);
          if (plan) expect(plan.epsilon === 0).toBe(answer === 'replayed');
          if (options.epsilon === 0.5 && !options.fresh) expect(answer).toBe('replayed');
        }
      }
      shop.remove();
    }
  });

  it('the plan of a survey that took the whole budget is that of the survey', async () => {
    shop = openWorkshop(policyYaml());
    await using fugu = await open(shop.policyFile);
    const before = await fugu.plan({ survey: true });
    const { receipt } = await fugu.release({ survey: true });
    const plan = await fugu.plan({ survey: true });
    expect(plan).toMatchObject({ fits: true, epsilon: 0, recorded: { entry: receipt.ledger.entry } });
    expect(plan.errors).toEqual(before.errors);
    expect(plan.warnings ?? []).toEqual((before.warnings ?? []).filter((text) => !text.includes('all that is left')));
  });

  it('every fault of reading the record is passed on; only a missing answer leads to a new plan', async () => {
    shop = openWorkshop(policyYaml());
    const session = await shop.session();
    const batch: AnyKind = await kinds.queries();
    await batch.release(session, histogram, { epsilon: '0.1' });
    const failing = (code: FaultCode): AnyKind => ({ ...batch, release: () => Promise.reject(new Fault(code, 'It fails.', '')) });
    for (const code of faultCodes)
      expect(await planOnRecord(failing(code), session, histogram, { epsilon: '0.1' }).catch((error) => error.code)).toBe(code);
    expect((await planOnRecord(batch, session, histogram, { epsilon: '0.1' })).recorded).toBeDefined();
    expect((await planOnRecord(batch, session, histogram, { epsilon: '0.2' })).recorded).toBeUndefined();
    await session.close();
  });

  it('the service returns the plan, so that the console can offer it', async () => {
    town = await openTown('{ epsilon: 1 }');
    const root = town.token('root', 'steward');
    const count = { question: { kind: 'count', by: ['party'] }, epsilon: '1' };
    expect((await town.ask(root, '/v1/policies/town/plan', count)).body.recorded).toBeUndefined();
    const { entry } = (await town.ask(root, '/v1/policies/town/release', count)).body.receipt.ledger;
    const other = town.token('ann', 'analyst');
    const { status, body } = await town.ask(other, '/v1/policies/town/plan', count);
    expect([status, body.fits, body.epsilon, body.recorded.entry]).toEqual([200, true, 0, entry]);
    expect((await town.ask(other, '/v1/policies/town/plan', { ...count, fresh: true })).body.fits).toBe(false);
  });
});
