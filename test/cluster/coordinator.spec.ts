import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { verifyLedger } from '../../src/app/api/ledger.js';
import { Fault } from '../../src/base/errors.js';
import { withSnapshot } from '../../src/data/engine/engine.js';
import { openEngine } from '../inside.js';
import { deadline, Orders, patience } from './orders.js';
import { coordinatorBack, killCoordinator, startAnew } from './start-cluster.js';
import { ClusterTown, cluster } from './town.js';

describe.skipIf(!cluster)('a coordinator that is killed and comes back', () => {
  let orders: Orders;
  let back: Promise<void> | undefined;
  beforeAll(async () => {
    orders = await Orders.open(cluster!);
  });
  afterAll(async () => {
    await back;
    orders?.close();
    await startAnew(cluster!);
  });
  const epsilon = 10_000;
  const restart = (): void => {
    killCoordinator(cluster!);
    back = coordinatorBack(cluster!);
  };

  it.each(['counted', 'streamed'] as const)(
    'a kill in the middle of a release (%s) leads to a fault in time or the right answer, and a later answer costs nothing more',
    async (way) => {
      const entries = (await verifyLedger(orders.file).catch(() => ({ entries: 0 }))).entries;
      const { told: answer, took } = await orders.release(way, epsilon, deadline, () => void setTimeout(restart, 600));
      // By the clock of this process.
      expect(took).toBeLessThan(2 * deadline);
      if (answer instanceof Fault)
        expect(answer).toMatchObject({ code: expect.stringMatching(/^ENGINE_/), outcome: expect.anything() });
      else expect(orders.right(way, (answer as { tables: never }).tables)).toBe(true);
      console.log(
        `${way}: ${answer instanceof Fault ? `${answer.code} (${answer.outcome?.state})` : 'the right answer'} after ${took} ms`,
      );
      await back;
      const again = (await orders.release(way, epsilon, patience)).told as { tables: never };
      expect(again).not.toBeInstanceOf(Error);
      expect(orders.right(way, again.tables)).toBe(true);
      expect(await verifyLedger(orders.file)).toMatchObject({ ok: true, entries: entries + 1 });
    },
    3_000_000,
  );

  it.skipIf(!cluster?.iceberg)(
    'a kill between a snapshot and a query leads to the answer of that snapshot, or a fault',
    async () => {
      await back;
      const town = await vi.waitFor(() => ClusterTown.open('iceberg', 'restarted'), { timeout: patience, interval: 1000 });
      const table = await town.table([['x'], ['a'], ['b'], ['a']], ['VARCHAR']);
      const engine = await openEngine(town.source(table), { deadline: patience, release: 2 * patience });
      const look = (data: Parameters<Parameters<typeof withSnapshot>[1]>[0]) =>
        data.rows({ sql: 'SELECT count(*) FROM fugu_data', values: [] });
      const answer = await withSnapshot(engine, async (data) => {
        expect((await look(data)).open()).toEqual([[3n]]);
        restart();
        const meanwhile = await look(data).catch((error: unknown) => error);
        await back;
        await town.run(`INSERT INTO ${town.of(table)} VALUES ('c')`);
        return [meanwhile, await look(data).catch((error: unknown) => error)];
      });
      for (const one of answer)
        if (one instanceof Error) expect(one).toBeInstanceOf(Fault);
        else expect((one as { open: () => unknown }).open()).toEqual([[3n]]);
      // The engine goes on with the cluster that came back.
      expect((await withSnapshot(engine, look)).open()).toEqual([[4n]]);
      await engine.close();
      await town.close();
    },
    3_000_000,
  );
});
