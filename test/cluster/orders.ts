import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { vi } from 'vitest';
import { withSnapshot } from '../../src/data/engine/engine.js';
import { createSession, openEngine, openLedger, readPolicy } from '../inside.js';
import { ask, type Cluster } from './start-cluster.js';

/** Time limit of a release while a node is lost, in milliseconds. */
export const deadline = 25_000;
/** For a cluster that has just been started, on a machine with other work. */
export const patience = 600_000;

/**
 * Milliseconds of this process's own clock, which ticks when its timers get their turn. The deadlines of an engine are such timers: where a busy machine delays
 * them, it delays this clock, too.
 */
export class OwnClock {
  #now = 0;
  readonly #timer = setInterval(() => (this.#now += 100), 100);
  get now(): number {
    return this.#now;
  }
  stop(): void {
    clearInterval(this.#timer);
  }
}

const policyText = (port: number) => `data: { source: "trino://reader@127.0.0.1:${port}/tpch/sf1", table: orders }
protect: { secret: row }
budget: { epsilon: 1000000 }
population: orders
ledger: orders.db
dependence: none
columns:
  orderstatus: { type: category, values: [F, O, P] }
`;

/** One statement in the cluster, or the rows themselves: tables of many measures are counted here. */
const values = { counted: ['F', 'O', 'P'], streamed: ['F', 'O', 'P', 'F', 'O', 'P', 'F', 'O', 'P'] };
export type CountingMethod = keyof typeof values;
const questions = {
  counted: [{ kind: 'histogram', column: 'orderstatus' }],
  streamed: values.streamed.map((value) => ({ kind: 'count', where: [{ column: 'orderstatus', op: '=', value }] })),
};

/** Generated orders that are released with hardly any noise while nodes come and go. */
export class Orders {
  readonly file: string;
  readonly #folder: string;
  readonly #counts: ReadonlyMap<string, number>;

  private constructor(folder: string, counts: ReadonlyMap<string, number>) {
    this.#folder = folder;
    this.#counts = counts;
    this.file = join(folder, 'policy.yaml');
  }

  static async open({ port }: Cluster): Promise<Orders> {
    const found = await ask(port, 'SELECT orderstatus, count(*) FROM tpch.sf1.orders GROUP BY 1');
    const orders = new Orders(
      mkdtempSync(join(tmpdir(), 'fugu-orders-')),
      new Map(found.map(([value, rows]) => [String(value), rows as number])),
    );
    writeFileSync(orders.file, policyText(port));
    return orders;
  }

  close(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  right(method: CountingMethod, answer: readonly { rows: readonly { value: number }[] }[]): boolean {
    const found = answer.flatMap(({ rows }) => rows.map(({ value }) => value));
    return values[method].every((value, i) => found[i] === this.#counts.get(value));
  }

  /** The answer or the error; `meanwhile` runs once all is ready. */
  async release(method: CountingMethod, epsilon: number, deadline: number, meanwhile: () => void = () => undefined) {
    const policy = await readPolicy(this.file);
    // A node that has just come may not take its first tasks yet.
    const engine = await vi.waitFor(() => openEngine(policy, { deadline, release: deadline }), {
      timeout: patience,
      interval: 500,
    });
    const ledger = await openLedger(policy.ledger);
    try {
      const session = await createSession({ policy, engine, ledger });
      // The number of rows is known by now, however long that took, so the work under way is the work that was reserved.
      await vi.waitFor(() => withSnapshot(engine, (data) => data.size()), { timeout: patience });
      const clock = new OwnClock();
      meanwhile();
      const request = { queries: questions[method] } as never;
      const answer = await session.release(request, { epsilon: String(epsilon) }).catch((error: unknown) => error);
      clock.stop();
      return { told: answer, took: clock.now };
    } finally {
      await ledger.close();
      await engine.close();
    }
  }
}
