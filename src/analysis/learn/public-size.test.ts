import { afterAll, describe, expect, it } from 'vitest';
import { createSession, openEngine, openLedger, readPolicy } from '../../../test/inside.js';
import { openWorkshop } from '../../../test/workshop.js';
import type { Plan } from '../../release/session/plan.js';
import type { PrivacySession } from '../../release/session/session.js';
import { planClassify } from './classify/classify.js';
import { planKmeans } from './kmeans/kmeans.js';
import { planPaidNetwork } from './network/learn-columns.js';
import { recordsInMemory } from './public-size.js';

describe('rows held in memory', () => {
  const shop = openWorkshop();
  afterAll(() => shop.remove());
  const within = async <T>(
    memoryLimit: number,
    work: (session: Awaited<ReturnType<typeof createSession>>) => Promise<T>,
  ): Promise<T> => {
    const policy = await readPolicy(shop.policyFile);
    const engine = await openEngine(policy, { room: memoryLimit });
    const ledger = await openLedger(policy.ledger);
    try {
      return await work(await createSession({ policy, engine, ledger }));
    } finally {
      await ledger.close();
      await engine.close();
    }
  };

  it('a plan that exceeds memory is refused with the memory it needs, before anything is reserved', async () => {
    expect(await within(1200 * 100, (session) => recordsInMemory(session, ['age'], 100))).toEqual({
      records: 1200,
      counting: { where: 'here', streamed: { columns: ['age'] }, held: { upTo: 1200 } },
    });
    await expect(within(1200 * 100 - 1, (session) => recordsInMemory(session, ['age'], 100))).rejects.toMatchObject({
      code: 'ENGINE_MEMORY',
      message: expect.stringMatching(/enough for 1,199 rows/),
      details: { needed: 120_000, allowed: 119_999, rows: 1199 },
    });
  });

  it.each([
    ['k-means', (session) => planKmeans(session, { columns: ['age'], clusters: 2 })],
    ['a classifier', (session) => planClassify(session, { label: 'party', positive: ['dem'], features: ['age'] })],
  ] as readonly [string, (session: PrivacySession) => Promise<Plan>][])(
    'the plan states the rows it holds in memory: %s',
    async (_, plan) => {
      await expect(within(5000, plan)).rejects.toMatchObject({
        code: 'ENGINE_MEMORY',
        hint: expect.stringMatching(/FUGU_MEMORY/),
      });
      const { counting } = await within(2 ** 20, plan);
      expect(counting).toMatchObject({ where: 'here', held: { upTo: expect.any(Number) } });
    },
  );

  it('the plan of a network holds no rows, because it needs counts only', async () => {
    const { counting } = await within(5000, (session) => planPaidNetwork(session, {}));
    expect(counting).toMatchObject({ where: 'here', streamed: { columns: expect.any(Array) } });
    expect(counting).not.toHaveProperty('held');
  });
});
