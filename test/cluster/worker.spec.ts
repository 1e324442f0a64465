import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { verifyLedger } from '../../src/app/api/ledger.js';
import { Fault } from '../../src/base/errors.js';
import { Client } from '../../src/data/engine/trino/client.js';
import { deadline, Orders, OwnClock, patience } from './orders.js';
import { ask, clusterProcesses, startVictim } from './start-cluster.js';
import { cluster } from './town.js';

/** Number of times the worker is killed; FUGU_KILLS sets it for a long run. */
const kills = Number(process.env.FUGU_KILLS ?? 2);

describe.skipIf(!cluster)('a worker that is killed in the middle of a release', () => {
  let orders: Orders;
  beforeAll(async () => {
    orders = await Orders.open(cluster!);
  });
  /** The worker knows generated tables only: if it survived, later tests would be sent to it for others. */
  const kill = () => {
    for (const pid of clusterProcesses(cluster!.folder, 'victim')) process.kill(pid, 'SIGKILL');
  };
  afterAll(async () => {
    orders?.close();
    kill();
    await gone();
  });

  /** The cluster knows that the worker is gone: later tests find no lost node. */
  async function gone(): Promise<void> {
    const active = async () =>
      (await ask(cluster!.port, "SELECT count(*) FROM system.runtime.nodes WHERE state = 'active'"))[0]![0];
    await vi.waitFor(async () => expect(await active()).toBe(2), { timeout: patience, interval: 500 });
  }

  /** Duration of the slowest statement, answered or not. */
  function watchStatements(): () => number {
    let most = 0;
    const clock = new OwnClock();
    const { parts } = Client.prototype;
    const spy = vi.spyOn(Client.prototype, 'parts').mockImplementation(async function* (this: Client, ...words) {
      const started = clock.now;
      try {
        yield* parts.apply(this, words);
      } finally {
        most = Math.max(most, clock.now - started);
      }
    });
    return () => {
      spy.mockRestore();
      clock.stop();
      return most;
    };
  }

  it(`a kill leads to a fault or the right answer within the deadline, and a later answer costs nothing more (${kills} times)`, async () => {
    const ended: string[] = [];
    for (let k = 0; k < kills; k++) {
      await startVictim(cluster!);
      const way = k % 2 === 0 ? 'counted' : 'streamed';
      const epsilon = 10_000 + k;
      const slowest = watchStatements();
      const { told: answer, took } = await orders.release(way, epsilon, deadline, () => void setTimeout(kill, 200 + ((k * 1301) % 4000)));
      // The worker that was quicker is killed now.
      kill();
      // Measured by the clock of this process: a busy machine delays it and the timers of the engine alike.
      expect([way, slowest() < 2 * deadline, took < 2 * deadline]).toEqual([way, true, true]);
      if (answer instanceof Fault) {
        expect([answer.code, answer.message]).toEqual([expect.stringMatching(/^ENGINE_/), expect.anything()]);
        ended.push(`${way}: ${answer.code} (${answer.outcome?.state}) after ${took} ms`);
      } else {
        expect(orders.right(way, (answer as { tables: never }).tables)).toBe(true);
        ended.push(`${way}: the right answer after ${took} ms`);
      }
      console.log(ended.at(-1));
      await gone();
      // The same request again: completed, or answered from the record.
      const again = (await orders.release(way, epsilon, patience)).told as { tables: never; receipt: { ledger: object } };
      expect(again).not.toBeInstanceOf(Error);
      expect(orders.right(way, again.tables)).toBe(true);
      if (!(answer instanceof Fault)) expect(again.receipt.ledger).toMatchObject({ replayed: true });
      const ledger = await verifyLedger(orders.file);
      expect([ledger.ok, ledger.entries]).toEqual([true, k + 1]);
    }
  }, 2_000_000 * (kills + 1)); // biome-ignore format: one line
});
