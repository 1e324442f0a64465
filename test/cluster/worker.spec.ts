import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { verifyLedger } from '../../src/ask/ledger.js';
import { pinned } from '../../src/engine/engine.js';
import { Client } from '../../src/engine/trino/client.js';
import { Fault } from '../../src/errors.js';
import { createSession, openEngine, openLedger, readPolicy } from '../inside.js';
import { ask, running, startVictim } from './start-cluster.js';
import { cluster } from './town.js';

/** How often the worker is killed; FUGU_KILLS says how often in a long run. */
const kills = Number(process.env.FUGU_KILLS ?? 2);
const deadline = 25_000;
/** For a cluster that has just been started, on a machine with other work. */
const patience = 120_000;

describe.skipIf(!cluster)('a worker that is killed in the middle of a release', () => {
  let folder: string;
  const counts = new Map<string, number>();
  const file = () => join(folder, 'policy.yaml');
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'fugu-worker-'));
    writeFileSync(
      file(),
      `data: { source: "trino://reader@127.0.0.1:${cluster!.port}/tpch/sf1", table: orders }
protect: { secret: row }
budget: { epsilon: 1000000 }
population: orders
ledger: orders.db
dependence: none
columns:
  orderstatus: { type: category, values: [F, O, P] }
`,
    );
    const found = await ask(cluster!.port, 'SELECT orderstatus, count(*) FROM tpch.sf1.orders GROUP BY 1');
    for (const [value, rows] of found) counts.set(String(value), rows as number);
  });
  /** It knows generated tables only: were one left behind, whoever comes next would be sent to it for others. */
  const kill = () => {
    for (const pid of running(cluster!.folder, 'victim')) process.kill(pid, 'SIGKILL');
  };
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true });
    kill();
    await gone();
  });

  /** The cluster knows that the worker is no more: whoever comes next finds no node that is gone. */
  async function gone(): Promise<void> {
    const active = async () =>
      (await ask(cluster!.port, "SELECT count(*) FROM system.runtime.nodes WHERE state = 'active'"))[0]![0];
    await vi.waitFor(async () => expect(await active()).toBe(2), { timeout: patience, interval: 500 });
  }

  /** One statement in the cluster, or the rows themselves: tables of many measures are counted here. */
  const values = { counted: ['F', 'O', 'P'], streamed: ['F', 'O', 'P', 'F', 'O', 'P', 'F', 'O', 'P'] };
  type Way = keyof typeof values;
  const questions = {
    counted: [{ kind: 'histogram', column: 'orderstatus' }],
    streamed: values.streamed.map((value) => ({ kind: 'count', where: [{ column: 'orderstatus', op: '=', value }] })),
  };
  const right = (way: Way, told: readonly { rows: readonly { value: number }[] }[]): boolean => {
    const found = told.flatMap(({ rows }) => rows.map(({ value }) => value));
    return values[way].every((value, i) => found[i] === counts.get(value));
  };

  async function release(way: Way, epsilon: number, deadline: number, meanwhile: () => void = () => undefined) {
    const policy = await readPolicy(file());
    // A worker that has just come may not take its first tasks yet.
    const engine = await vi.waitFor(() => openEngine(policy, { deadline, release: deadline }), {
      timeout: patience,
      interval: 500,
    });
    const ledger = await openLedger(policy.ledger);
    try {
      const session = await createSession({ policy, engine, ledger });
      const asked = { queries: questions[way] } as never;
      // How many rows there are is known, however long that takes, so that what is under way is what was booked.
      await vi.waitFor(() => pinned(engine, (data) => data.size()), { timeout: patience });
      const started = Date.now();
      meanwhile();
      const told = await session.release(asked, { epsilon: String(epsilon) }).catch((error: unknown) => error);
      return { told, took: Date.now() - started };
    } finally {
      await ledger.close();
      await engine.close();
    }
  }

  /** How long the slowest statement took, whether it was answered or not. */
  function watchStatements(): () => number {
    let most = 0;
    const { parts } = Client.prototype;
    const spy = vi.spyOn(Client.prototype, 'parts').mockImplementation(async function* (this: Client, ...words) {
      const started = Date.now();
      try {
        yield* parts.apply(this, words);
      } finally {
        most = Math.max(most, Date.now() - started);
      }
    });
    return () => {
      spy.mockRestore();
      return most;
    };
  }

  it(`leaves a fault or the right answer within the deadline, and the same question is answered later at no further price (${kills} times)`, async () => {
    const ended: string[] = [];
    for (let k = 0; k < kills; k++) {
      await startVictim(cluster!);
      const way = k % 2 === 0 ? 'counted' : 'streamed';
      const epsilon = 10_000 + k;
      const slowest = watchStatements();
      const { told, took } = await release(way, epsilon, deadline, () => void setTimeout(kill, 200 + ((k * 1301) % 4000)));
      // Whoever was quicker is killed now.
      kill();
      // A busy machine has a clock of its own.
      expect([way, slowest() < deadline + 10_000, took < deadline + 10_000]).toEqual([way, true, true]);
      if (told instanceof Fault) {
        expect([told.code, told.message]).toEqual([expect.stringMatching(/^ENGINE_/), expect.anything()]);
        ended.push(`${way}: ${told.code} (${told.outcome?.state}) after ${took} ms`);
      } else {
        expect(right(way, (told as { tables: never }).tables)).toBe(true);
        ended.push(`${way}: the right answer after ${took} ms`);
      }
      console.log(ended.at(-1));
      await gone();
      // Asked again: completed, or told from the record.
      const again = (await release(way, epsilon, patience)).told as { tables: never; receipt: { ledger: object } };
      expect(again).not.toBeInstanceOf(Error);
      expect(right(way, again.tables)).toBe(true);
      if (!(told instanceof Fault)) expect(again.receipt.ledger).toMatchObject({ replayed: true });
      const ledger = await verifyLedger(file());
      expect([ledger.ok, ledger.entries]).toEqual([true, k + 1]);
    }
  }, 400_000 * (kills + 1)); // biome-ignore format: one line
});
