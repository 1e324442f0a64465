import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Ledger } from '../../src/release/ledger/ledger.js';
import { openLedger } from '../../src/release/ledger/open.js';
import { serverFault } from '../../src/release/ledger/postgres/fault.js';
import { backupStorage, recoverStorage, restoreStorage } from '../../src/release/ledger/postgres/rescue.js';
import { LedgerServer } from '../../src/release/ledger/postgres/server.js';
import { backupStorage as backupFiles } from '../../src/release/ledger/rescue/backup.js';
import { builtOnce, fugu } from '../fugu.js';
import { describeLedger } from '../ledger-contract.js';
import { askingOfAnn as asked, failureOf, folderTerms, spentByAnalyst } from '../ledger-folder.js';
import { cuttingProxy } from './cutting-proxy.js';
import { LedgerTown } from './ledger-server.js';
import { PostgresTown, server } from './town.js';

const asking = (over: Parameters<typeof asked>[0] = {}) => asked({ resumable: true, ...over });

describe.skipIf(!server)('a server', () => {
  let town: LedgerTown;
  let folder: string;
  const open: Ledger[] = [];
  const ledgerAt = async (place = town.address(), witness?: string): Promise<Ledger> => {
    const ledger = await openLedger(place, witness === undefined ? {} : { witness });
    open.push(ledger);
    return ledger;
  };
  beforeAll(async () => {
    town = await LedgerTown.open();
    folder = mkdtempSync(join(tmpdir(), 'fugu-ledger-'));
  });
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
    town?.close();
  });
  beforeEach(() => town.empty());
  afterEach(async () => {
    vi.restoreAllMocks();
    process.env.FUGU_LEDGER_PASSWORD = town.password;
    for (const ledger of open.splice(0)) await ledger.close();
  });
  /** Five entries, four of them answered. */
  const filled = async (place?: string): Promise<void> => {
    const ledger = await ledgerAt(place);
    for (let i = 0; i < 5; i++) {
      const entry = await ledger.reserve(asking({ key: `k${i}` }));
      if (i < 4) await ledger.commit(entry, `answer ${i}`);
    }
    await ledger.close();
  };
  const takeAway = () => town.as('keeper', 'DROP SCHEMA fugu_ledger CASCADE');
  const program = (name: string, ...words: string[]) =>
    town.server.run(name, '-d', `postgres://keeper:${town.password}@127.0.0.1:${town.server.port}/budgets`, ...words);

  describeLedger('a ledger in PostgreSQL', () => town.room());

  describe('the role and the server of a ledger', () => {
    it('the ledger waits for the disk even if the server is configured not to', async () => {
      const connection = await new LedgerServer(town.address()).connect();
      expect((await connection.run('SHOW synchronous_commit')).rows).toEqual([['on']]);
      await connection.end();
      expect(await town.as('keeper', 'SHOW synchronous_commit')).toEqual([['off']]);
    });

    it('the ledger refuses a server that does not wait for its disk', async () => {
      const careless = await PostgresTown.open('careless');
      process.env.FUGU_LEDGER_PASSWORD = server!.reader;
      expect(await failureOf(openLedger(careless.address()))).toMatchObject({ code: 'DISK_FAILED', hint: 'Set fsync = on.' });
      await careless.close();
    });

    it('the ledger refuses a superuser, a wrong password and a missing database, and discloses no secret', async () => {
      process.env.FUGU_LEDGER_PASSWORD = town.server.owner;
      const faults = [await failureOf(openLedger(town.address('owner'))), await failureOf(openLedger(town.address()))];
      expect(faults.map(({ code }) => code)).toEqual(['ACCESS_DENIED', 'ACCESS_DENIED']);
      process.env.FUGU_LEDGER_PASSWORD = town.password;
      faults.push(await failureOf(openLedger(town.address('keeper', 'elsewhere'))));
      faults.push(await failureOf(openLedger('postgres://keeper@127.0.0.1:1/budgets')));
      expect(faults.slice(2).map(({ code }) => code)).toEqual(['DATA_NOT_FOUND', 'LEDGER_BUSY']);
      const text = JSON.stringify(faults);
      for (const secret of [town.password, town.server.owner]) expect(text).not.toContain(secret);
    });

    it('a role with exactly the rights of the guide can keep the ledger, and cannot delete anything', async () => {
      await filled();
      const guide = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'how-to', 'postgres.md'), 'utf8');
      const rights = /GRANT USAGE ON SCHEMA fugu_ledger TO clerk;[^`]*/.exec(guide)![0];
      await town.as('owner', `DROP ROLE IF EXISTS clerk; CREATE ROLE clerk LOGIN PASSWORD '${town.password}'; ${rights}`);
      const ledger = await ledgerAt(town.address('clerk'));
      const entry = await ledger.reserve(asking({ key: 'by clerk', analyst: 'new' }));
      await ledger.commit(entry, 'answer');
      await ledger.amend('town', { digest: 'd2', summary: 'epsilon 2' }, 'more');
      expect(await spentByAnalyst(ledger)).toBe('3/5');
      expect((await ledger.verify()).ok).toBe(true);
      for (const sql of [
        'DELETE FROM link',
        'UPDATE link SET body = body',
        'DELETE FROM answer',
        'DELETE FROM account',
        'TRUNCATE mark',
      ])
        await expect(town.as('owner', `SET ROLE clerk; SET search_path = fugu_ledger; ${sql}`)).rejects.toMatchObject({
          code: '42501',
        });
      await town.as('owner', 'DROP OWNED BY clerk; DROP ROLE clerk');
    });

    it.each([
      [
        'a trigger',
        'CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$; CREATE TRIGGER t BEFORE INSERT ON link FOR EACH ROW EXECUTE FUNCTION f()',
      ],
      ['a rule', 'CREATE RULE r AS ON INSERT TO analyst DO INSTEAD NOTHING'],
      ['row security', 'ALTER TABLE account ENABLE ROW LEVEL SECURITY'],
      ['a key that is gone', 'ALTER TABLE link DROP CONSTRAINT link_pkey'],
      ['a table that a crash empties', 'ALTER TABLE answer SET UNLOGGED'],
      ['a mark that is gone', 'DELETE FROM mark'],
      ['a table that is gone', 'DROP TABLE analyst'],
    ])('the ledger refuses %s', async (_what, sql) => {
      await filled();
      await town.tamper(sql);
      expect((await failureOf(ledgerAt())).code).toBe('LEDGER_CORRUPT');
    });

    it('the ledger reserves nothing under a name that the database cannot hold', async () => {
      const ledger = await ledgerAt();
      expect(await failureOf(ledger.reserve(asking({ population: 'a\0b' })))).toMatchObject({
        code: 'POLICY_INVALID',
        outcome: { state: 'not spent' },
      });
      expect((await ledger.verify()).entries).toBe(0);
    });

    it('the ledger reports locks, deadlocks and lost connections as a busy ledger', () => {
      const codes = ['55P03', '40P01', '57014', '23505', '08006', '57P01', 'ECONNRESET', ''];
      const text = codes.map((code) => serverFault({ code, detail: 'Key (population)=(secret)' }, 'postgres://x/y'));
      expect(text.map(({ code }) => code)).toEqual(codes.map(() => 'LEDGER_BUSY'));
      expect(JSON.stringify(text)).not.toContain('secret');
    });
  });

  describe('a connection that is lost while a reservation is committed', () => {
    const through = async (work: (proxy: Awaited<ReturnType<typeof cuttingProxy>>, ledger: Ledger) => Promise<void>) => {
      const proxy = await cuttingProxy(town.server.port);
      try {
        const ledger = await ledgerAt(town.address().replace(`:${town.server.port}/`, `:${proxy.port}/`));
        await ledger.reserve(asking({ key: 'k0' }));
        await work(proxy, ledger);
      } finally {
        proxy.close();
      }
    };

    it('a commit that the server never received is reported as not spent', () =>
      through(async (proxy, ledger) => {
        proxy.cutAt('COMMIT\0', 'unheard');
        expect(await failureOf(ledger.reserve(asking({ key: 'k1' })))).toMatchObject({
          code: 'LEDGER_BUSY',
          outcome: { state: 'not spent' },
        });
        expect(await spentByAnalyst(ledger)).toBe('1/10');
        await ledger.reserve(asking({ key: 'k2' }));
        expect(await spentByAnalyst(await ledgerAt())).toBe('1/5');
      }));

    it('a commit that lost only its reply is found in the ledger', () =>
      through(async (proxy, ledger) => {
        proxy.cutAt('COMMIT\0', 'unanswered');
        const entry = await ledger.reserve(asking({ key: 'k1' }));
        expect(entry).toMatchObject({ sequence: 3, key: 'k1' });
        proxy.cutAt('COMMIT\0', 'unanswered');
        expect(await ledger.commit(entry, 'one')).toBe('one');
        expect((await (await ledgerAt()).replay('town', 'k1'))?.answer).toBe('one');
        expect(await spentByAnalyst(ledger)).toBe('1/5');
      }));

    it('a lost commit keeps nobody waiting when the witness fails afterwards, too', async () => {
      const script = join(folder, 'deaf.sh');
      writeFileSync(script, `#!/bin/sh\n[ "$1" = get ] && exit 0\n[ -e ${folder}/deaf ] && exit 1\nexit 0\n`, { mode: 0o755 });
      const proxy = await cuttingProxy(town.server.port);
      const through = town.address().replace(`:${town.server.port}/`, `:${proxy.port}/`);
      const ledger = await ledgerAt(through, script);
      await ledger.reserve(asking({ key: 'k0' }));
      writeFileSync(join(folder, 'deaf'), '');
      proxy.cutAt('COMMIT\0', 'unanswered');
      expect(await failureOf(ledger.reserve(asking({ key: 'k1' })))).toMatchObject({ outcome: { state: 'spent' } });
      // A lock that is left behind is given up after a minute.
      await town.as('keeper', 'SET lock_timeout = 50000; SELECT 1 FROM fugu_ledger.mark FOR UPDATE');
      await ledger.close();
      proxy.close();
    });

    it('a commit that nobody can look up is reported as spent, and the same request resumes it', () =>
      through(async (proxy, ledger) => {
        let now = performance.now();
        vi.spyOn(performance, 'now').mockImplementation(() => (now += 10_000));
        proxy.cutAt('COMMIT\0', 'unanswered', true);
        expect(await failureOf(ledger.reserve(asking({ key: 'k1' })))).toMatchObject({
          code: 'LEDGER_BUSY',
          outcome: { state: 'spent', entry: 3, resumable: true },
        });
        vi.restoreAllMocks();
        expect(await (await ledgerAt()).reserve(asking({ key: 'k1' }))).toMatchObject({ sequence: 3, resumed: true });
      }));

    it('the ledger opens another connection when the server has closed the one it kept', () =>
      through(async (_proxy, ledger) => {
        await town.as(
          'owner',
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'keeper' AND pid <> pg_backend_pid()`,
        );
        await ledger.reserve(asking({ key: 'k1' }));
        expect(await spentByAnalyst(ledger)).toBe('1/5');
      }));
  });

  describe('a database restored to an older state', () => {
    const dump = () => join(town.server.folder, 'ledger.dump');

    it("a machine that saw more notices the older state, and the ledger goes on after somebody takes responsibility: the guide's drill", async () => {
      await filled();
      program('pg_dump', '-n', 'fugu_ledger', '-Fc', '-f', dump());
      const before = await ledgerAt();
      await before.reserve(asking({ key: 'after the dump', terms: folderTerms }));
      await takeAway();
      program('pg_restore', dump());
      // By a process that has it open, and by one that comes later.
      for (const ledger of [before, ledgerAt()])
        expect(await failureOf(Promise.resolve(ledger).then((l) => l.reserve(asking({ key: 'k9' }))))).toMatchObject({
          code: 'LEDGER_CORRUPT',
          message: expect.stringContaining('this machine has seen 11 entries of it, more than there are'),
        });
      const done = await recoverStorage(town.address(), 'the disk failed');
      expect(done).toMatchObject({ from: 'database', entries: 5, incomplete: true, closed: ['town'], textsLost: 0 });
      const ledger = await ledgerAt();
      expect((await failureOf(ledger.reserve(asking({ key: 'k9' })))).code).toBe('LEDGER_CORRUPT');
      await ledger.amend('town', { digest: 'd2', summary: 'epsilon 1/2' }, 'what was released since is counted by hand');
      await ledger.reserve(asking({ key: 'k9', terms: { digest: 'd2', summary: 'epsilon 1/2' } }));
      expect(await spentByAnalyst(ledger)).toBe('3/5');
      expect((await ledger.replay('town', 'k1'))?.answer).toBe('answer 1');
      expect((await ledger.verify()).ok).toBe(true);
      // Another machine, which also saw more, hears that it was recovered.
      await before.spent('town');
    });

    it('a machine that saw a recovery which is gone with the rest notices the older state, too', async () => {
      const bring = () => program('pg_restore', dump());
      const take = () => program('pg_dump', '-n', 'fugu_ledger', '-Fc', '-f', dump());
      const refused = async (ledger: Ledger | Promise<Ledger>) =>
        expect((await failureOf(Promise.resolve(ledger).then((l) => l.reserve(asking({ key: 'k9' }))))).message).toMatch(
          /this machine has seen/,
        );
      await filled();
      take();
      // Into a state before the only recovery there was.
      await recoverStorage(town.address(), 'to be sure');
      const first = await ledgerAt();
      await first.amend('town', folderTerms, 'open again');
      await first.reserve(asking({ key: 'after' }));
      await takeAway();
      bring();
      for (const ledger of [first, ledgerAt()]) await refused(ledger);
      // Somebody takes responsibility for that; both are notified, and go on.
      await recoverStorage(town.address(), 'the disk failed');
      take();
      const second = await ledgerAt();
      await second.amend('town', folderTerms, 'open again');
      for (const [i, ledger] of [first, second, await ledgerAt()].entries()) await ledger.reserve(asking({ key: `on ${i}` }));
      await recoverStorage(town.address(), 'again');
      await second.spent('town');
      // Into a state before the last one, though after another.
      await takeAway();
      bring();
      for (const ledger of [second, ledgerAt()]) await refused(ledger);
      await recoverStorage(town.address(), 'once more');
      take();
      for (const ledger of [first, second, await ledgerAt()]) await ledger.spent('town');
      // States seen since then are remembered as before.
      await (await ledgerAt()).amend('town', folderTerms, 'open again');
      await takeAway();
      bring();
      await refused(ledgerAt());
    });

    it('a witness notices the older state if no machine remembers', async () => {
      const script = join(folder, 'witness.sh');
      writeFileSync(
        script,
        `#!/bin/sh\nif [ "$1" = get ]; then cat ${folder}/head 2>/dev/null; exit 0; fi\necho "$2 $3" > ${folder}/head\n`,
        { mode: 0o755 },
      );
      const ledger = await ledgerAt(town.address(), script);
      await ledger.reserve(asking());
      program('pg_dump', '-n', 'fugu_ledger', '-Fc', '-f', dump());
      const { hash } = await ledger.reserve(asking({ key: 'k2' }));
      expect(readFileSync(join(folder, 'head'), 'utf8').trim()).toBe(`3 ${hash}`);
      await takeAway();
      program('pg_restore', dump());
      town.forget();
      const again = await ledgerAt(town.address(), script);
      expect(await failureOf(again.reserve(asking({ key: 'k3' })))).toMatchObject({
        code: 'LEDGER_CORRUPT',
        message: expect.stringContaining('the witness knows 3 entries'),
        outcome: { state: 'not spent' },
      });
    });
  });

  describe('backups of a ledger', () => {
    it('a backup is restored into an empty database, with every answer, closed until somebody takes responsibility', async () => {
      await filled();
      const file = join(folder, 'server.backup');
      expect(await backupStorage(town.address(), file)).toMatchObject({ links: 10, answers: 4 });
      expect(await restoreStorage(town.address(), file, undefined)).toEqual({ kind: 'texts', texts: 0 });
      await town.tamper('UPDATE answer SET body = NULL WHERE of = 2');
      expect(await restoreStorage(town.address(), file, undefined)).toEqual({ kind: 'texts', texts: 1 });
      await (await ledgerAt()).reserve(asking({ key: 'later' }));
      expect((await failureOf(restoreStorage(town.address(), file, 'why'))).code).toBe('LEDGER_MISMATCH');
      await takeAway();
      expect((await failureOf(restoreStorage(town.address(), file, undefined))).code).toBe('USAGE');
      const done = await restoreStorage(town.address(), file, 'the server is gone');
      expect(done).toMatchObject({ kind: 'ledger', recovery: { from: 'backup', entries: 5, closed: ['town'], textsLost: 0 } });
      const ledger = await ledgerAt();
      expect((await ledger.account('town'))?.closed).toBe(true);
      expect(await spentByAnalyst(ledger)).toBe('1/2');
      expect((await ledger.replay('town', 'k3'))?.answer).toBe('answer 3');
      expect(await ledger.verify()).toMatchObject({ ok: true, entries: 5 });
    });

    it('a backup of a ledger in files moves it to a server, and those of another ledger are not merged', async () => {
      const place = join(folder, 'moved.db');
      await filled(place);
      const file = join(folder, 'files.backup');
      await backupFiles(place, file);
      const done = await restoreStorage(town.address(), file, 'moved to the server');
      expect(done).toMatchObject({ kind: 'ledger', recovery: { entries: 5, closed: ['town'] } });
      const ledger = await ledgerAt();
      await ledger.amend('town', { digest: 'd1', summary: 'epsilon 1' }, 'moved');
      await ledger.reserve(asking({ key: 'on the server' }));
      expect(await spentByAnalyst(ledger)).toBe('3/5');
      await town.empty();
      await filled();
      expect((await failureOf(restoreStorage(town.address(), file, 'why'))).code).toBe('LEDGER_MISMATCH');
    });

    it('a damaged chain is restored from backups, and damaged rows from the chain', async () => {
      await filled();
      await town.tamper(`UPDATE account SET totals = '[]'; DELETE FROM analyst; UPDATE answer SET body = 'other' WHERE of = 2`);
      expect((await failureOf(ledgerAt().then((ledger) => ledger.spent('town')))).code).toBe('LEDGER_CORRUPT');
      expect(await recoverStorage(town.address(), 'somebody wrote into it')).toMatchObject({ entries: 5, textsLost: 1 });
      expect(await spentByAnalyst(await ledgerAt())).toBe('1/2');
      await town.tamper(`UPDATE link SET body = replace(body, '1/10', '1/99') WHERE sequence = 4`);
      expect(await failureOf(recoverStorage(town.address(), 'again'))).toMatchObject({
        code: 'LEDGER_CORRUPT',
        hint: expect.stringContaining('backup'),
      });
    });
  });

  it('the ledger pays for releases of a policy, returns them again, and never shows its password', async () => {
    builtOnce();
    writeFileSync(join(folder, 'people.csv'), 'id,party\n1,dem\n2,rep\n3,dem\n');
    const policy = (ledger: string) =>
      `data: { source: people.csv }\nprotect: { secret: row }\nbudget: { epsilon: 1 }\npopulation: town\nledger: ${ledger}\ndependence: none\n`;
    writeFileSync(join(folder, 'policy.yaml'), policy(`"${town.address()}"`));
    const run = async (...words: string[]) => {
      const { code, out, err } = await fugu({ cwd: folder, env: {} }, ...words, '--json');
      expect(out + err).not.toContain(town.password);
      return { code, said: JSON.parse(out) };
    };
    const count = ['release', 'policy.yaml', '--query', '{"kind":"count"}', '--epsilon', '0.5'];
    const first = await run(...count);
    expect(first.said.receipt.ledger).toMatchObject({ replayed: false });
    expect((await run(...count)).said.receipt.ledger).toMatchObject({ replayed: true });
    expect((await run('ledger', 'policy.yaml')).said.budget).toMatchObject({ spent: 0.5, remaining: 0.5 });
    expect((await run('ledger', 'policy.yaml', 'verify')).said).toMatchObject({ ok: true, entries: 1 });
    expect((await run('ledger', 'policy.yaml', 'backup', 'cli.backup')).said).toMatchObject({ answers: 1 });
    const over = await run('release', 'policy.yaml', '--query', '{"kind":"count"}', '--epsilon', '0.6');
    expect(over).toMatchObject({ code: 3, said: { error: { code: 'BUDGET_EXCEEDED', outcome: { state: 'not spent' } } } });
    writeFileSync(join(folder, 'leaky.yaml'), policy('"postgres://keeper:leaked@127.0.0.1/budgets"'));
    const leaky = await run('ledger', 'leaky.yaml');
    expect(leaky.said.error).toMatchObject({ code: 'POLICY_INVALID' });
    expect(JSON.stringify(leaky.said.error.message + leaky.said.error.hint)).not.toContain('leaked');
  });
});
