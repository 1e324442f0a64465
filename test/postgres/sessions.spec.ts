import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { draftPolicy } from '../../src/app/api/draft.js';
import { type Fugu, open } from '../../src/app/api/fugu.js';
import { readPolicy } from '../../src/data/terms/read.js';
import type { QueryLog } from '../../src/release/session/query-log.js';
import {
  homes,
  learnedHomes,
  sessionsOf,
  type TownSessions,
  townFriends,
  townPeople,
  townQueries,
  valuesOf,
} from '../engine-sessions.js';
import { PostgresTown, server } from './town.js';

/** Whole sessions on a server compared with files; the budget is so large that answers equal the counts. */
describe.skipIf(!server)('a session on PostgreSQL', () => {
  let town: PostgresTown;
  let folder: string;
  let sessions: TownSessions;
  const policy: TownSessions['policy'] = (...words) => sessions.policy(...words);
  const both: TownSessions['both'] = (...words) => sessions.both(...words);

  beforeAll(async () => {
    town = await PostgresTown.open('sessions');
    folder = mkdtempSync(join(tmpdir(), 'fugu-sessions-'));
    const cells = townPeople.map((p) => Object.values(p));
    await town.run('CREATE SCHEMA study; GRANT USAGE ON SCHEMA study TO reader');
    await town.run(`CREATE TABLE study.people (id TEXT, home CHAR(8), party TEXT, age INTEGER, media TEXT, week INTEGER)`);
    const text = (cell: string | null) => (cell === null ? 'NULL' : `'${cell}'`);
    await town.run(`INSERT INTO study.people VALUES ${cells.map((row) => `(${row.map(text).join(', ')})`).join(', ')}`);
    await town.run('CREATE TABLE study.friends (a TEXT, b TEXT)');
    await town.run(`INSERT INTO study.friends VALUES ${townFriends.map(([a, b]) => `('${a}', '${b}')`).join(', ')}`);
    await town.run('GRANT SELECT ON ALL TABLES IN SCHEMA study TO reader');
    sessions = sessionsOf(folder, { data: `source: "${town.address()}", table: study.people`, friends: 'study.friends' });
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true });
    await town?.close();
  });

  it('tables, persons, households, friends and sequences have the same answers as from files', async () => {
    const ask = async (fugu: Fugu) => {
      const plan = await fugu.plan({ queries: townQueries }, { epsilon: 10000 });
      return [plan.errors, plan.records ?? null, valuesOf(await fugu.release({ queries: townQueries }, { epsilon: 10000 }))];
    };
    await both({}, ask);
    await both(
      { protect: '{ secret: person, unit: home, maxRows: 2 }' },
      async (fugu) => (await fugu.plan({ queries: townQueries }, { epsilon: 10000 })).errors,
    );
    await both({ dependence: '[{ kind: groups, by: home, oddsRatio: 2 }]' }, ask);
    writeFileSync(
      join(folder, 'weekly.json'),
      JSON.stringify([
        [0.5, 0.3, 0.2],
        [0.3, 0.5, 0.2],
        [0.2, 0.3, 0.5],
      ]),
    );
    await both({ dependence: '[{ kind: sequence, by: home, order: week, state: party, transition: weekly.json }]' }, ask);
    const tied = await both({ dependence: '[{ kind: ties, relation: friend, oddsRatio: 2, maxTies: 3 }]' }, ask);
    expect((tied[1] as { leftOut: number }).leftOut).toBeGreaterThan(0);
  });

  it('the session learns the undeclared values of a column', async () => {
    expect(await both({}, learnedHomes)).toEqual(homes);
  });

  it('the session counts patterns, paths written in SQL and degrees', async () => {
    const edges = { protect: '{ secret: edge }' };
    const numbers = async (fugu: Fugu) => {
      const found: unknown[] = [];
      for (const pattern of [
        'triangles',
        '2-paths',
        'degrees of friend',
        "q(x,y) :- friend(x,y), friend(y,z), x != z, z != 'p5'",
      ])
        found.push(
          ((await fugu.release({ pattern }, { epsilon: 10000 })) as { value?: unknown; result?: { value?: unknown } }).result ??
            null,
        );
      return JSON.parse(JSON.stringify(found)) as unknown;
    };
    const [triangles] = (await both(edges, numbers)) as [{ value: number }];
    expect(triangles).not.toBeNull();
  });

  it('the session clusters streamed rows, and draws the same tables from a survey', async () => {
    for (const where of ['files', 'elsewhere'] as const) {
      const fugu = await open(policy(where), { acceptNoProtection: true });
      const answer = (await fugu.release(
        { kmeans: { columns: ['age', 'week'], clusters: 2 } },
        { epsilon: 10000 },
      )) as unknown as { result: { centres: number[][] } };
      expect(JSON.stringify(answer)).toMatch(/centres|centers/);
      await fugu.close();
    }
    await both({}, async (fugu) => {
      const answer = (await fugu.release({ survey: true }, { epsilon: 10000 })) as unknown as { tables: unknown };
      return JSON.parse(JSON.stringify(valuesOf(answer)));
    });
  });

  it('a repeated request gets the recorded answer, and a fresh one reads the data again', async () => {
    const fugu = await open(policy('elsewhere'), { acceptNoProtection: true });
    const count = (await fugu.release({ kind: 'count' }, { epsilon: 10000 })) as unknown as {
      receipt: { ledger: { entry: number } };
    };
    await town.run(`INSERT INTO study.people VALUES ('p999', 'h1', 'dem', 30, 'tv', 1)`);
    const again = await fugu.release({ kind: 'count' }, { epsilon: 10000 });
    expect((again as unknown as { receipt: { ledger: object } }).receipt.ledger).toMatchObject({
      entry: count.receipt.ledger.entry,
      replayed: true,
    });
    expect(valuesOf(again)[0]![0]![1]).toBe(240);
    expect(valuesOf(await fugu.release({ kind: 'count' }, { epsilon: 10000, fresh: true }))[0]![0]![1]).toBe(241);
    await town.run(`DELETE FROM study.people WHERE id = 'p999'`);
    await fugu.close();
  });

  it('a release sees one moment although others write all the time', async () => {
    await town.run('CREATE TABLE busy (x TEXT); GRANT SELECT ON busy TO reader');
    const file = policy('elsewhere');
    writeFileSync(file, readFileSync(file, 'utf8').replace('study.people', 'public.busy').replace(/protect:.*/, 'protect: { secret: row }').replace(/relations:[\s\S]*$/, 'columns:\n  x: { type: category, values: [a] }\n')); // biome-ignore format: one line
    const fugu = await open(file, { acceptNoProtection: true });
    let writing = true;
    const writer = (async () => {
      while (writing) await town.run(`INSERT INTO busy SELECT 'a' FROM generate_series(1, 7)`);
    })();
    let last = -1;
    for (let k = 0; k < 6; k++) {
      const answer = valuesOf(
        await fugu.release({ queries: [{ kind: 'count' }, { kind: 'histogram', column: 'x' }] }, { epsilon: 10000, fresh: true }),
      );
      const [all, counted] = [answer[0]![0]![1] as number, answer[1]![0]![1] as number];
      expect(counted).toBe(all);
      expect(all).toBeGreaterThanOrEqual(last);
      last = all;
    }
    writing = false;
    await writer;
    expect(last).toBeGreaterThan(0);
    await fugu.close();
  });

  it('no output contains a password of a connection, and one in a policy is refused', async () => {
    const fugu = await open(policy('elsewhere'), { acceptNoProtection: true });
    const answer = await fugu.release({ kind: 'count' }, { epsilon: 1 });
    await fugu.close();
    expect(JSON.stringify(answer)).not.toContain(server!.reader);
    for (const name of readdirSync(folder)) if (!/csv$/.test(name)) expect(readFileSync(join(folder, name)).includes(server!.reader)).toBe(false); // biome-ignore format: one line
    const file = policy('elsewhere');
    const write = (change: (text: string) => string) => writeFileSync(file, change(readFileSync(file, 'utf8')));
    write((text) => text.replace('reader@', 'reader:pw@'));
    await expect(readPolicy(file)).rejects.toMatchObject({ code: 'POLICY_INVALID', hint: expect.stringMatching(/PGPASSWORD/) });
    write((text) => text.replace('reader:pw@', 'reader@').replace(', table: study.people', ''));
    await expect(readPolicy(file)).rejects.toMatchObject({ code: 'POLICY_INVALID', hint: expect.stringMatching(/table/) });
    write((text) => text.replace(/ledger:.*\n/, '').replace('" }', '", table: study.people }'));
    await expect(readPolicy(file)).rejects.toMatchObject({ code: 'POLICY_INVALID', hint: expect.stringMatching(/ledger/) });
  });

  it('a policy is drafted from the table itself', async () => {
    const out = join(folder, 'drafted.yaml');
    const { unconfirmed } = await draftPolicy(town.address(), { out, table: 'study.people', dependence: 'none' } as never);
    expect(unconfirmed).toContain('party');
    expect(readFileSync(out, 'utf8')).toContain(town.address());
    await readPolicy(out);
  });

  it('the query ids of the server go to the query log, even after failures, and nowhere else', async () => {
    const logs: QueryLog[] = [];
    const fugu = await open(policy('elsewhere'), { acceptNoProtection: true, trail: (trail) => logs.push(trail) });
    const answer = await fugu.release(townQueries[1]);
    await fugu.release(townQueries[1]);
    expect(logs).toHaveLength(1);
    expect(logs[0]).toMatchObject({ entry: answer.receipt.ledger.entry, queries: [expect.stringMatching(/^pid \d+$/)] });
    expect(JSON.stringify(answer)).not.toContain('pid');
    await fugu.close();
  });
});
