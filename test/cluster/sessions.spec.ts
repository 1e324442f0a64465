import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { draftPolicy } from '../../src/app/api/draft.js';
import { type Fugu, open } from '../../src/app/api/fugu.js';
import type { Question } from '../../src/app/api/kinds.js';
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
import { ClusterTown, catalogs, cluster } from './town.js';

/** Whole sessions on a cluster compared with files; the budget is so large that answers equal the counts. */
describe.skipIf(!cluster)('a session on a cluster', () => {
  let town: ClusterTown;
  let folder: string;
  let sessions: TownSessions;
  const policy: TownSessions['policy'] = (...words) => sessions.policy(...words);
  const both: TownSessions['both'] = (...words) => sessions.both(...words);

  beforeAll(async () => {
    town = await ClusterTown.open(catalogs.at(-1)!, 'sessions');
    folder = mkdtempSync(join(tmpdir(), 'fugu-sessions-'));
    const names = Object.keys(townPeople[0]!);
    const cells = townPeople.map((p) => Object.values(p));
    await town.table([names, ...cells], ['VARCHAR', 'CHAR(8)', 'VARCHAR', 'INTEGER', 'VARCHAR', 'BIGINT'], 'people'); // biome-ignore format: one line
    await town.table([['a', 'b'], ...townFriends], [], 'friends');
    sessions = sessionsOf(folder, { data: `source: "${town.address()}/people"`, friends: `${town.name}.friends` });
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true });
    await town?.close();
  });

  const queries = [...townQueries, { kind: 'quantile', column: 'age', at: [0.5] }] as const;
  const released = async (fugu: Fugu) => {
    const plan = await fugu.plan({ queries: queries.slice(0, 6) }, { epsilon: 10000 });
    const answer = valuesOf(await fugu.release({ queries: queries.slice(0, 6) }, { epsilon: 10000 }));
    return [plan.errors, plan.records ?? null, answer];
  };

  it('tables, persons, households and friends have the same answers as from files', async () => {
    await both({}, released);
    await both({ protect: '{ secret: person, unit: home, maxRows: 2 }' }, async (fugu) => (await fugu.plan({ queries }, { epsilon: 10000 })).errors); // biome-ignore format: one line
    await both({ dependence: '[{ kind: groups, by: home, oddsRatio: 2 }]' }, released);
    const tied = await both({ dependence: '[{ kind: ties, relation: friend, oddsRatio: 2, maxTies: 3 }]' }, released);
    expect((tied[1] as { leftOut: number }).leftOut).toBeGreaterThan(0);
  });

  it('quantiles, surveys, clusters, classifiers and learned columns have the same answers as from files', async () => {
    await both({}, async (fugu) => valuesOf(await fugu.release({ queries: [queries[6]] }, { epsilon: 10000 })).length);
    await both({}, async (fugu) => JSON.parse(JSON.stringify(valuesOf(await fugu.release({ survey: true }, { epsilon: 10000 })))) as unknown); // biome-ignore format: one line
    const fugu = await open(policy('elsewhere'), { acceptNoProtection: true });
    try {
      for (const request of [{ kmeans: { columns: ['age', 'week'], clusters: 2 } }, { classify: { label: 'party', positive: ['dem'], features: ['age', 'week'] } }, { network: true }] as Question[]) // biome-ignore format: one line
        expect([request, ((await fugu.release(request, { epsilon: 10000 })) as unknown as { result: object }).result]).toEqual([request, expect.any(Object)]); // biome-ignore format: one line
    } finally {
      await fugu.close();
    }
  });

  it('the session learns the undeclared values of a column', async () => {
    expect(await both({}, learnedHomes)).toEqual(homes);
  });

  it('the session counts patterns, paths written in SQL and degrees', async () => {
    const found = (await both({ protect: '{ secret: edge }' }, async (fugu) => {
      const results: unknown[] = [];
      for (const pattern of ['triangles', '2-paths', 'degrees of friend', "q(x,y) :- friend(x,y), friend(y,z), x != z, z != 'p5'"])
        results.push((await fugu.release({ pattern }, { epsilon: 10000 }) as { result?: unknown }).result ?? null); // biome-ignore format: one line
      return JSON.parse(JSON.stringify(results)) as unknown[];
    })) as unknown[];
    expect(found.every((result) => result !== null)).toBe(true);
  });

  it('a repeated request gets the recorded answer, and a fresh one reads the data again', async () => {
    const fugu = await open(policy('elsewhere'), { acceptNoProtection: true });
    type Released = { receipt: { ledger: { entry: number } } };
    const count = (await fugu.release({ kind: 'count' }, { epsilon: 10000 })) as unknown as Released;
    await town.run(`INSERT INTO ${town.of('people')} VALUES ('p999', 'h1', 'dem', 30, 'tv', 1)`);
    const again = await fugu.release({ kind: 'count' }, { epsilon: 10000 });
    expect((again as unknown as Released).receipt.ledger).toMatchObject({ entry: count.receipt.ledger.entry, replayed: true });
    expect(valuesOf(again)[0]![0]![1]).toBe(240);
    expect(valuesOf(await fugu.release({ kind: 'count' }, { epsilon: 10000, fresh: true }))[0]![0]![1]).toBe(241);
    if (town.catalog === 'iceberg') await town.run(`DELETE FROM ${town.of('people')} WHERE id = 'p999'`);
    await fugu.close();
  });

  it.skipIf(!cluster?.tls)('the cluster accepts a password over TLS, and no output contains it', async () => {
    const { port, certificate, password } = cluster!.tls!;
    const at = (host: string, more: string) => `trino://reader@${host}:${port}/${town.catalog}/${town.name}/people?${more}`;
    const trusted = `sslmode=verify-full&sslrootcert=${encodeURIComponent(certificate)}`;
    const file = policy('elsewhere');
    const text = readFileSync(file, 'utf8');
    const request = async (address: string) => {
      writeFileSync(file, text.replace(/trino:[^"]*/, address));
      const fugu = await open(file, { acceptNoProtection: true });
      try {
        return await fugu.release({ kind: 'count' }, { epsilon: 1 });
      } finally {
        await fugu.close();
      }
    };
    try {
      process.env.TRINO_PASSWORD = password;
      const answer = await request(at('localhost', trusted));
      expect(JSON.stringify(answer)).not.toContain(password);
      await expect(request(at('localhost', 'sslmode=verify-full'))).rejects.toMatchObject({
        message: expect.stringMatching(/certificate/),
      });
      await expect(request(at('127.0.0.1', trusted))).rejects.toMatchObject({ message: expect.stringMatching(/certificate/) });
      process.env.TRINO_PASSWORD = 'wrong';
      await expect(request(at('localhost', trusted))).rejects.toMatchObject({ code: 'ACCESS_DENIED', hint: expect.stringMatching(/TRINO_PASSWORD/) }); // biome-ignore format: one line
    } finally {
      delete process.env.TRINO_PASSWORD;
    }
    for (const name of readdirSync(folder)) if (!/csv$/.test(name)) expect(readFileSync(join(folder, name)).includes(password)).toBe(false); // biome-ignore format: one line
  });

  it('a policy is drafted from the table itself, and names its table once', async () => {
    const out = join(folder, 'drafted.yaml');
    const { unconfirmed } = await draftPolicy(town.address(), { out, table: 'people', dependence: 'none' } as never);
    expect(unconfirmed).toContain('party');
    const text = readFileSync(out, 'utf8');
    expect(text).toContain(town.address());
    await readPolicy(out);
    writeFileSync(out, text.replace(town.address(), `${town.address()}/people`));
    await expect(readPolicy(out)).rejects.toMatchObject({
      code: 'POLICY_INVALID',
      message: expect.stringMatching(/behind the address/),
    });
  });

  it('the query ids of the cluster go to the query log, and nowhere else', async () => {
    const logs: QueryLog[] = [];
    const fugu = await open(policy('elsewhere'), { acceptNoProtection: true, trail: (trail) => logs.push(trail) });
    const answer = await fugu.release(townQueries[1]);
    await fugu.close();
    expect(logs).toHaveLength(1);
    const [{ entry, queries }] = logs as [QueryLog];
    expect([entry, queries.length > 0]).toEqual([answer.receipt.ledger.entry, true]);
    for (const query of queries) {
      expect(query).toMatch(/^\d{8}_\d{6}_\d{5}_\w{5}$/);
      expect(JSON.stringify(answer)).not.toContain(query);
    }
  });
});
