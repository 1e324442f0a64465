import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { verifyLedger } from '../../src/ask/ledger.js';
import { pinned } from '../../src/engine/engine.js';
import { Fault } from '../../src/errors.js';
import { createSession, openEngine, openLedger, readPolicy } from '../inside.js';
import { ask, coordinatorBack, killCoordinator, startAnew } from './start-cluster.js';
import { cluster, Town } from './town.js';

const deadline = 25_000;
/** For a cluster that has just been started, on a machine with other work. */
const patience = 120_000;

describe.skipIf(!cluster)('a coordinator that is killed and comes back', () => {
  let folder: string;
  const counts = new Map<string, number>();
  const file = () => join(folder, 'policy.yaml');
  let back: Promise<void> | undefined;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'fugu-coordinator-'));
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
    for (const [value, rows] of await ask(cluster!.port, 'SELECT orderstatus, count(*) FROM tpch.sf1.orders GROUP BY 1'))
      counts.set(String(value), rows as number);
  });
  afterAll(async () => {
    await back;
    rmSync(folder, { recursive: true, force: true });
    await startAnew(cluster!);
  });
  const restart = (): void => {
    killCoordinator(cluster!);
    back = coordinatorBack(cluster!);
  };

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
  async function release(way: Way, patient: number, meanwhile: () => void = () => undefined) {
    const policy = await readPolicy(file());
    const engine = await vi.waitFor(() => openEngine(policy, { deadline: patient, release: patient }), { timeout: patience, interval: 500 }); // biome-ignore format: one line
    const ledger = await openLedger(policy.ledger);
    try {
      const session = await createSession({ policy, engine, ledger });
      // How many rows there are is known, so that what is under way is what was booked.
      await vi.waitFor(() => pinned(engine, (data) => data.size()), { timeout: patience });
      const started = Date.now();
      meanwhile();
      const told = await session.release({ queries: questions[way] } as never, { epsilon: '10000' }).catch((error: unknown) => error); // biome-ignore format: one line
      return { told, took: Date.now() - started };
    } finally {
      await ledger.close();
      await engine.close();
    }
  }

  it.each(['counted', 'streamed'] as const)(
    'in the middle of a release (%s) leaves a fault in time or the right answer, and the same is answered later at no further price',
    async (way) => {
      const entries = (await verifyLedger(file()).catch(() => ({ entries: 0 }))).entries;
      const { told, took } = await release(way, deadline, () => void setTimeout(restart, 600));
      // A busy machine has a clock of its own.
      expect(took).toBeLessThan(deadline + 10_000);
      if (told instanceof Fault)
        expect(told).toMatchObject({ code: expect.stringMatching(/^ENGINE_/), outcome: expect.anything() });
      else expect(right(way, (told as { tables: never }).tables)).toBe(true);
      console.log(
        `${way}: ${told instanceof Fault ? `${told.code} (${told.outcome?.state})` : 'the right answer'} after ${took} ms`,
      );
      await back;
      const again = (await release(way, patience)).told as { tables: never };
      expect(again).not.toBeInstanceOf(Error);
      expect(right(way, again.tables)).toBe(true);
      expect(await verifyLedger(file())).toMatchObject({ ok: true, entries: entries + 1 });
    },
    600_000,
  );

  it.skipIf(!cluster?.iceberg)(
    'between a moment of the data and a question about it: the answer is of that moment, or a fault',
    async () => {
      await back;
      const town = await vi.waitFor(() => Town.open('iceberg', 'restarted'), { timeout: patience, interval: 1000 });
      const table = await town.table([['x'], ['a'], ['b'], ['a']], ['VARCHAR']);
      const engine = await openEngine(town.source(table), { deadline: patience, release: 2 * patience });
      const look = (data: Parameters<Parameters<typeof pinned>[1]>[0]) =>
        data.rows({ sql: 'SELECT count(*) FROM fugu_data', values: [] });
      const told = await pinned(engine, async (data) => {
        expect((await look(data)).open()).toEqual([[3n]]);
        restart();
        const meanwhile = await look(data).catch((error: unknown) => error);
        await back;
        await town.run(`INSERT INTO ${town.of(table)} VALUES ('c')`);
        return [meanwhile, await look(data).catch((error: unknown) => error)];
      });
      for (const one of told)
        if (one instanceof Error) expect(one).toBeInstanceOf(Fault);
        else expect((one as { open: () => unknown }).open()).toEqual([[3n]]);
      // The engine goes on with the cluster that came back.
      expect((await pinned(engine, look)).open()).toEqual([[4n]]);
      await engine.close();
      await town.close();
    },
    600_000,
  );
});
