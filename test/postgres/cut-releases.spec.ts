import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifyLedger } from '../../src/app/api/ledger.js';
import { Fault } from '../../src/base/errors.js';
import { createSession, openEngine, openLedger, readPolicy } from '../inside.js';
import { PostgresTown, server } from './town.js';

/** Number of times the server ends all our sessions; FUGU_KILLS sets it in a long run. */
const kills = Number(process.env.FUGU_KILLS ?? 6);

/** Releases whose connections end at any moment: during checks, before and after the reservation, while rows are counted or streamed. */
describe.skipIf(!server)('releases that are cut off', () => {
  let town: PostgresTown;
  let folder: string;
  const file = () => join(folder, 'policy.yaml');
  beforeAll(async () => {
    town = await PostgresTown.open('cutting');
    folder = mkdtempSync(join(tmpdir(), 'fugu-cutting-'));
    await town.run(`CREATE TABLE many AS SELECT substr('abc', 1 + i % 3, 1) AS x FROM generate_series(1, 90000) AS i; GRANT SELECT ON many TO reader`); // biome-ignore format: one line
    writeFileSync(
      file(),
      `data: { source: "${town.address()}", table: many }
protect: { secret: row }
budget: { epsilon: 1000000 }
population: many
ledger: many.db
dependence: none
columns:
  x: { type: category, values: [a, b, c] }
`,
    );
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true });
    await town?.close();
  });

  const count = (value: string) => ({ kind: 'count', where: [{ column: 'x', op: '=', value }] });
  const questions = [[{ kind: 'histogram', column: 'x' }], [...'abcabcabc'].map(count)];
  const right = (answer: unknown): boolean =>
    (answer as { tables: { rows: { keys: unknown[]; value: number }[] }[] }).tables
      .flatMap(({ rows }) => rows.map(({ value }) => value))
      .every((value) => value === 30000 || value === 0);

  async function release(k: number, meanwhile: () => void = () => undefined): Promise<unknown> {
    const policy = await readPolicy(file());
    const ledger = await openLedger(policy.ledger);
    const engine = await openEngine(policy, { deadline: 30_000 });
    try {
      const session = await createSession({ policy, engine, ledger });
      meanwhile();
      return await session.release({ queries: questions[k % 2] } as never, { epsilon: String(10_000 + k) }).catch((e) => e);
    } finally {
      await ledger.close();
      await engine.close();
    }
  }

  it(`every cut release ends in a fault or in the right answer, and a later answer costs nothing more (${kills} times)`, async () => {
    const ended = new Map<string, number>();
    let booked = 0;
    for (let k = 0; k < kills; k++) {
      let done: Promise<unknown> | undefined;
      const cut = () => {
        done = new Promise((waited) => setTimeout(waited, (k * 37) % 240)).then(() =>
          town.run(
            `SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = 'cutting' AND usename = 'reader'`,
          ),
        );
      };
      const answer = await release(k, cut);
      if (answer instanceof Error) {
        expect(answer).toBeInstanceOf(Fault);
        expect((answer as Fault).code).toMatch(/^ENGINE_/);
      } else expect(right(answer)).toBe(true);
      const outcome = answer instanceof Fault ? `${answer.code} ${answer.outcome?.state}` : 'answered';
      ended.set(outcome, (ended.get(outcome) ?? 0) + 1);
      // No answer is without a reservation, and nothing is reserved twice.
      const before = await verifyLedger(file()).catch(() => ({ ok: true, entries: 0 }));
      expect([before.ok, before.entries - booked === 0 || before.entries - booked === 1]).toEqual([true, true]);
      if (!(answer instanceof Error)) expect(before.entries).toBe(booked + 1);
      await done;
      const again = await release(k);
      expect([k, again instanceof Error ? (again as Error).message : right(again)]).toEqual([k, true]);
      booked++;
      expect(await verifyLedger(file())).toMatchObject({ ok: true, entries: booked });
    }
    console.log([...ended].map(([outcome, times]) => `${outcome}: ${times}`).join(', '));
  });
});
