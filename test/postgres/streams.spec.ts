import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type StreamOptions, stream } from '../../src/app/api/stream.js';
import { openLedger } from '../../src/release/ledger/open.js';
import { LedgerTown } from './ledger-server.js';
import { PostgresTown, server } from './town.js';

const people = 6;
const rowsOf = (day: number): string =>
  Array.from({ length: people }, (_, p) => `p${p},${day},${(p + day) % 3 === 0 ? 'ill' : 'well'}\n`).join('');

describe.skipIf(!server)('a stream with its ledger on a server', () => {
  let town: LedgerTown;
  let folder: string;
  beforeAll(async () => {
    town = await LedgerTown.open();
  });
  afterAll(() => town?.close());
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const shop = async (days: readonly number[]) => {
    await town.empty();
    folder = mkdtempSync(join(tmpdir(), 'fugu-stream-'));
    const data = join(folder, 'visits.csv');
    writeFileSync(data, `person,day,state\n${days.map(rowsOf).join('')}`);
    const policy = join(folder, 'visits.yaml');
    writeFileSync(
      policy,
      `data: { source: visits.csv }
protect: { secret: row }
budget: { epsilon: 4 }
population: ward
ledger: "${town.address()}"
dependence: none
columns:
  day: { type: integer, bounds: [1, 60], public: true }
  state: { type: category, values: [ill, well] }
`,
    );
    return { policy, data };
  };
  const all = async (policy: string, options: Partial<StreamOptions> = {}) => {
    const released = [];
    for await (const step of await stream(policy, { order: 'day', query: { kind: 'count' }, epsilon: 0.1, ...options }))
      released.push(step);
    return released;
  };
  const entries = async () => {
    const ledger = await openLedger(town.address());
    const found = await ledger.entries('ward');
    const { ok } = await ledger.verify();
    await ledger.close();
    expect(ok).toBe(true);
    return found;
  };

  it.each([
    ['steps', {}],
    ['totals', { totals: true }],
  ] as const)(
    'the stream releases %s once, returns it from the record afterwards, and goes on where it was',
    async (_, options) => {
      const { policy, data } = await shop([1, 2, 3]);
      const first = await all(policy, options);
      expect(first.map(({ step, replayed }) => [step, replayed])).toEqual([[1, false], [2, false]]); // biome-ignore format: one line
      const again = await all(policy, options);
      expect(again.map(({ step, tables, totals }) => [step, tables, totals])).toEqual(first.map(({ step, tables, totals }) => [step, tables, totals])); // biome-ignore format: one line
      expect(again.every(({ replayed }) => replayed)).toBe(true);
      appendFileSync(data, rowsOf(4));
      expect((await all(policy, options)).map(({ step, replayed }) => [step, replayed])).toEqual([[1, true], [2, true], [3, false]]); // biome-ignore format: one line
      // No state file lies in the policy's folder, so a stream from another machine sees the same.
      expect(readdirSync(folder).filter((name) => name.startsWith('steps-'))).toEqual([]);
      const notes = (await entries()).filter(({ label }) => label.startsWith('steps of day told'));
      expect(notes.at(-1)!.label).toMatch(/up to 3$/);
      expect(notes.every(({ profile }) => profile.perRecord.size === 0)).toBe(true);
    },
  );

  it('the stream refuses rows that arrive for released steps, whichever machine released them', async () => {
    const { policy, data } = await shop([1, 2, 3]);
    await all(policy);
    const before = (await entries()).length;
    appendFileSync(data, rowsOf(1));
    await expect(all(policy)).rejects.toMatchObject({
      code: 'DATA_MALFORMED',
      hint: expect.stringMatching(/stands in the ledger/),
    });
    expect((await entries()).length).toBe(before);
  });

  it.each([
    ['a row that is gone', 'DELETE FROM visits WHERE day = 1 AND person = 0', 'released already'],
    ['a row that came in', `INSERT INTO visits VALUES (9, 1, 'ill')`, 'released already'],
    ['rows of which none is left', 'DELETE FROM visits WHERE day > 3', undefined],
  ])('the stream never releases a step of a table that changed between two steps: %s', async (_what, change, message) => {
    const { policy } = await shop([1]);
    const visits = await PostgresTown.open('visits');
    try {
      await visits.run(
        `CREATE TABLE visits AS SELECT p AS person, d AS day, CAST('ill' AS TEXT) AS state FROM generate_series(0, 5) AS p(p), generate_series(1, 5) AS d(d)`,
      );
      await visits.run('GRANT SELECT ON visits TO reader');
      writeFileSync(
        policy,
        readFileSync(policy, 'utf8').replace('source: visits.csv', `source: "${visits.address()}", table: visits`),
      );
      const steps: number[] = [];
      const released = async () => {
        for await (const { step } of await stream(policy, { order: 'day', query: { kind: 'count' }, epsilon: 0.1 })) {
          steps.push(step);
          if (step === 2) await visits.run(change);
        }
      };
      if (message === undefined) await released();
      else await expect(released()).rejects.toMatchObject({ code: 'DATA_MALFORMED', message: expect.stringContaining(message) });
      expect(steps).toEqual([1, 2]);
      expect((await entries()).filter(({ profile }) => profile.perRecord.size > 0)).toHaveLength(2);
    } finally {
      await visits.close();
    }
  });
});
