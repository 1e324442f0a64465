import { afterAll, describe, expect, it } from 'vitest';
import { createSession, openEngine, openLedger, readPolicy } from '../../test/inside.js';
import { openWorkshop } from '../../test/workshop.js';
import { planClassify } from './classify/classify.js';
import { planKmeans } from './kmeans/kmeans.js';
import { planPaid } from './network/learn-columns.js';
import { publicRecords } from './public-size.js';

describe('rows that have to be held', () => {
  const shop = openWorkshop();
  afterAll(() => shop.remove());
  const within = async <T>(
    room: number,
    work: (session: Awaited<ReturnType<typeof createSession>>) => Promise<T>,
  ): Promise<T> => {
    const policy = await readPolicy(shop.policyFile);
    const engine = await openEngine(policy, { room });
    const ledger = await openLedger(policy.ledger);
    try {
      return await work(await createSession({ policy, engine, ledger }));
    } finally {
      await ledger.close();
      await engine.close();
    }
  };

  it('are refused with the memory they need, before anything is booked', async () => {
    expect(await within(1200 * 100, (session) => publicRecords(session, 100))).toBe(1200);
    await expect(within(1200 * 100 - 1, (session) => publicRecords(session, 100))).rejects.toMatchObject({
      code: 'ENGINE_MEMORY',
      details: { needed: 120_000, allowed: 119_999 },
    });
  });

  it.each([
    ['k-means', (session) => planKmeans(session, { columns: ['age'], clusters: 2 })],
    ['a classifier', (session) => planClassify(session, { label: 'party', positive: ['dem'], features: ['age'] })],
    ['a network', (session) => planPaid(session, {})],
  ] as readonly [string, Parameters<typeof within>[1]][])('%s says so', async (_, plan) => {
    await expect(within(5000, plan)).rejects.toMatchObject({ code: 'ENGINE_MEMORY', hint: expect.stringMatching(/FUGU_MEMORY/) });
    await within(2 ** 20, plan);
  });
});
