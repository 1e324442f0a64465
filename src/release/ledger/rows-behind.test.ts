import Database from 'libsql';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { askingOfAnn, type LedgerFolder, ledgerFolder } from '../../../test/ledger-folder.js';
import type { Fault } from '../../base/errors.js';
import { toText } from '../../base/exact/rational.js';
import { everyRecord } from '../../privacy/mechanism/record-class.js';
import { rowsBehind } from './index/books.js';
import type { Ledger } from './ledger.js';
import { openLedger } from './open.js';
import { verifyInChild } from './rescue/verify.js';

let room: LedgerFolder;
beforeEach(() => {
  room = ledgerFolder('rows');
});
afterEach(() => room.close(true));

const onIndex = <T>(work: (db: Database.Database) => T): T => {
  const db = new Database(room.place);
  try {
    return work(db);
  } finally {
    db.close();
  }
};
const reserveMany = async (ledger: Ledger, from: number, count: number) => {
  for (let i = from; i < from + count; i++) await ledger.reserve(askingOfAnn({ key: `k${i}` }));
};
const spent = async (ledger: Ledger, analyst?: string) =>
  toText((await ledger.spent('town', analyst)).pure.perRecord.get(everyRecord)!);
const entriesInRow = () => onIndex((db) => (db.prepare('SELECT entries FROM account').raw().get() as [number])[0]);
const rows = () =>
  onIndex((db) => ({
    account: db.prepare('SELECT * FROM account').raw().all() as unknown[][],
    analyst: db.prepare('SELECT * FROM analyst').raw().all() as unknown[][],
  }));
const putBack = (former: ReturnType<typeof rows>) =>
  onIndex((db) => {
    for (const [table, kept] of Object.entries(former)) {
      db.exec(`DELETE FROM ${table}`);
      for (const row of kept) db.prepare(`INSERT INTO ${table} VALUES (${row.map(() => '?').join(', ')})`).run(...row);
    }
  });
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'no fault',
    (error: Fault) => error.code,
  );

describe('account rows that lag behind the chain', () => {
  it('opening a ledger with lagging rows gives the same totals, and it verifies', async () => {
    const ledger = await room.ledgerAt();
    await reserveMany(ledger, 0, 5);
    expect(entriesInRow()).toBeLessThan(5);
    expect(await verifyInChild(room.place)).toMatchObject({ ok: true, entries: 5 });
    const other = await openLedger(room.place);
    expect([await spent(other), await spent(other, 'ann')]).toEqual([await spent(ledger), await spent(ledger, 'ann')]);
    await reserveMany(other, 5, 3);
    await reserveMany(ledger, 8, 2);
    expect(await spent(other)).toBe(await spent(ledger));
    await other.close();
    expect((await ledger.entries('town')).length).toBe(10);
    await ledger.close();
    expect(entriesInRow()).toBe(10);
  });

  it('rows never lag by more links than opening reads', async () => {
    const ledger = await room.ledgerAt();
    for (let i = 0; i < 3 * rowsBehind; i++) {
      await reserveMany(ledger, i, 1);
      expect(i + 1 - entriesInRow()).toBeLessThan(rowsBehind);
    }
  });

  it('rows that none of the last links pins are refused, and older pinned rows give no budget back', async () => {
    const first = await room.ledgerAt();
    await reserveMany(first, 0, 3);
    await first.close();
    const former = rows();
    const second = await openLedger(room.place);
    await reserveMany(second, 3, 4);
    const total = await spent(second);
    await second.close();
    putBack(former);
    const third = await openLedger(room.place);
    expect(await spent(third)).toBe(total);
    await reserveMany(third, 7, rowsBehind);
    await third.close();
    putBack(former);
    expect(await codeOf(openLedger(room.place).then((ledger) => ledger.reserve(askingOfAnn())))).toBe('LEDGER_CORRUPT');
    expect((await verifyInChild(room.place)).ok).toBe(false);
  });

  it.each([
    ['a lowered total', `UPDATE account SET totals = replace(totals, '1', '0')`],
    ['an account that is gone', 'DELETE FROM account'],
    ['a share that is gone', 'DELETE FROM analyst'],
    ['a share of nobody', `INSERT INTO analyst VALUES ('elsewhere', 'eve', 'x', 'y')`],
  ])('lagging rows that were changed are refused: %s', async (_what, sql) => {
    const ledger = await room.ledgerAt();
    await reserveMany(ledger, 0, rowsBehind + 3);
    onIndex((db) => db.exec(sql));
    expect((await verifyInChild(room.place)).ok).toBe(false);
    if (!sql.includes('elsewhere'))
      expect(
        await codeOf(
          openLedger(room.place).then(async (other) => {
            await other.reserve(askingOfAnn());
            await other.close();
          }),
        ),
      ).toBe('LEDGER_CORRUPT');
  });

  it('a link changed in the index does not change the totals computed from it', async () => {
    const ledger = await room.ledgerAt();
    await reserveMany(ledger, 0, 5);
    onIndex((db) => db.exec(`UPDATE link SET body = replace(body, '1/', '1/9') WHERE sequence = 4`));
    expect(await codeOf(openLedger(room.place))).toBe('LEDGER_CORRUPT');
  });
});
