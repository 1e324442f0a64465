import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseRational, toText } from '../../src/base/exact/rational.js';
import type { PostgresConnection } from '../../src/data/engine/postgres/connection.js';
import { pureCost } from '../../src/privacy/mechanism/privacy-cost.js';
import { everyRecord } from '../../src/privacy/mechanism/record-class.js';
import type { Ledger, Reservation } from '../../src/release/ledger/ledger.js';
import { openLedger } from '../../src/release/ledger/open.js';
import { LedgerServer, lock } from '../../src/release/ledger/postgres/server.js';
import { faultOf } from '../fault.js';
import { LedgerTown } from './ledger-server.js';
import { isInstalled } from './start-server.js';

const asking = (key: string): Reservation => ({
  population: 'town',
  analyst: 'ann',
  key,
  label: key,
  terms: { digest: 'd1', summary: 'epsilon 1' },
  profile: pureCost([[everyRecord, parseRational('0.1')]]),
  admit: () => undefined,
});

describe.skipIf(!isInstalled())('a ledger whose server refuses a statement while it is open', () => {
  let town: LedgerTown;
  beforeAll(async () => {
    town = await LedgerTown.open();
  });
  afterAll(() => town?.close());

  const tables = ['link', 'account', 'analyst', 'answer'];
  const spent = async (ledger: Ledger) => toText((await ledger.spent('town')).pure.perRecord.get(everyRecord)!);

  /** Deferred: at the commit. */
  const raising = (state: string, deferred: boolean) => (table: string) =>
    `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'secret words' USING ERRCODE = '${state}'; END $$;
     CREATE ${deferred ? 'CONSTRAINT ' : ''}TRIGGER refusing AFTER INSERT OR UPDATE ON ${table} ${deferred ? 'DEFERRABLE INITIALLY DEFERRED ' : ''}FOR EACH ROW EXECUTE FUNCTION refuse()`;
  const swallowing = (table: string) =>
    `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
     CREATE TRIGGER refusing BEFORE INSERT OR UPDATE ON ${table} FOR EACH ROW EXECUTE FUNCTION refuse()`;

  it.each<[string, (table: string) => string, string]>([
    ['no room left', raising('53100', false), 'DISK_FULL'],
    ['no room left at the commit', raising('53100', true), 'DISK_FULL'],
    ['two that wait for each other', raising('40P01', false), 'LEDGER_BUSY'],
    ['what cannot be serialized, at the commit', raising('40001', true), 'LEDGER_BUSY'],
    ['something of its own', raising('P0001', false), 'DISK_FAILED'],
    ['rows that vanish without a word', swallowing, 'LEDGER_CORRUPT'],
  ])('%s: nothing is reserved or reported as recorded, and the next request goes on', async (_, refuse, code) => {
    await town.empty();
    const ledger = await openLedger(town.address(), {});
    const first = await ledger.reserve(asking('first'));
    for (const table of tables) {
      await town.tamper(refuse(table));
      const work = table === 'answer' ? ledger.commit(first, 'told') : ledger.reserve(asking(`of ${table}`));
      const found = await faultOf(work);
      expect([table, found.code]).toEqual([table, code]);
      expect(found.hint).not.toBe('');
      expect(`${found.message} ${found.hint}`).not.toMatch(/secret/);
      await town.tamper('DROP FUNCTION refuse() CASCADE');
      expect(await spent(ledger)).toBe('1/10');
      expect(await ledger.verify()).toMatchObject({ ok: true, entries: 1 });
    }
    expect(await ledger.replay('town', 'first')).toBeUndefined();
    expect((await ledger.reserve(asking('second'))).sequence).toBeGreaterThan(first.sequence);
    await ledger.commit(first, 'told');
    expect((await ledger.replay('town', 'first'))?.answer).toBe('told');
    expect(await ledger.verify()).toMatchObject({ ok: true, entries: 2 });
    await ledger.close();
  });

  it('the outcome of a commit without a reply is reported once it has ended, and not before', async () => {
    await town.empty();
    await (await openLedger(town.address(), {})).close();
    const server = new LedgerServer(town.address());
    const slow = await server.connect();
    const link = { sequence: 1, hash: 'h', body: 'b' };
    await slow.run(`BEGIN; ${lock}; INSERT INTO fugu_ledger.link (sequence, hash, body) VALUES (1, 'h', 'b')`);
    const gone = {
      run: () => Promise.reject(Object.assign(new Error('lost'), { code: '08006' })),
    } as unknown as PostgresConnection;
    const looked = server.commit(gone, link as never);
    await sleep(700);
    await slow.run('COMMIT');
    expect((await looked).state).toBe('committed');
    await slow.end();
  });

  it('a commit that is answered with ROLLBACK has not happened', async () => {
    const server = new LedgerServer(town.address());
    const connection = await server.connect();
    await connection.run('BEGIN');
    await connection.run('SELECT 1 / 0').catch(() => undefined);
    expect(await server.commit(connection, undefined)).toEqual({ state: 'undone' });
    await connection.end();
  });

  it('rights revoked in the middle book nothing, and the fault names the missing ones', async () => {
    await town.empty();
    await (await openLedger(town.address(), {})).close();
    await town.as('owner', `DROP ROLE IF EXISTS clerk; CREATE ROLE clerk LOGIN PASSWORD '${town.password}'`, 'postgres');
    const rights = ['SELECT, INSERT ON fugu_ledger.link, fugu_ledger.answer', 'SELECT, INSERT, UPDATE ON fugu_ledger.account, fugu_ledger.analyst', 'SELECT, UPDATE ON fugu_ledger.mark']; // biome-ignore format: one line
    await town.as(
      'keeper',
      `GRANT USAGE ON SCHEMA fugu_ledger TO clerk; ${rights.map((right) => `GRANT ${right} TO clerk`).join('; ')}`,
    );
    const ledger = await openLedger(town.address('clerk'), {});
    const first = await ledger.reserve(asking('first'));
    for (const right of ['INSERT ON fugu_ledger.link', 'UPDATE ON fugu_ledger.account', 'SELECT ON fugu_ledger.link', 'UPDATE ON fugu_ledger.mark', 'INSERT ON fugu_ledger.answer']) {
      await town.as('keeper', `REVOKE ${right} FROM clerk`);
      const found = await faultOf(right.includes('answer') ? ledger.commit(first, 'told') : ledger.reserve(asking(right)));
      expect([right, found.code, found.hint]).toEqual([right, 'ACCESS_DENIED', expect.stringMatching(/how-to\/postgres/)]);
      await town.as('keeper', `GRANT ${right} TO clerk`);
      expect(await spent(ledger)).toBe('1/10');
    } // biome-ignore format: one line
    expect(await ledger.verify()).toMatchObject({ ok: true, entries: 1 });
    await ledger.close();
  });
});
