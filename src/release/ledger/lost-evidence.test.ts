import { appendFileSync, copyFileSync, linkSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  folderTerms,
  type LedgerFolder,
  ledgerFolder,
  askingOfAnn as reservationByAnn,
  spentByAnalyst as spent,
} from '../../../test/ledger-folder.js';
import { openFileLedger } from './file-ledger.js';
import type { Reservation } from './ledger.js';
import { backupStorage, restoreStorage } from './rescue/backup.js';
import { recoverStorage } from './rescue/recover.js';

/** Absence proves nothing once entries may have been lost. */
let room: LedgerFolder;
let folder: string;
let place: string;
beforeEach(() => {
  room = ledgerFolder();
  ({ folder, place } = room);
});
afterEach(() => room.close());
const at = (where?: string) => room.ledgerAt(where);
const reservation = (over: Partial<Reservation> = {}): Reservation => reservationByAnn({ resumable: true, ...over });
const remove = (...ends: string[]) => room.without(...ends);
const chainBytes = () => readFileSync(`${place}.chain`);
const lastByte = () => chainBytes().findLastIndex((byte) => byte !== 0);

describe('entries that were answered', () => {
  it('an answered entry is not resumed after a backup from before its answer is restored and the account is opened again', async () => {
    const first = await at();
    const entry = await first.reserve(reservation());
    await first.close();
    await backupStorage(place, join(folder, 'backup'));
    const second = await at();
    await second.commit(await second.reserve(reservation()), 'text');
    await second.close();
    remove('', '-wal', '-shm', '.chain');
    await restoreStorage(place, join(folder, 'backup'), 'the disk is gone');
    const third = await at();
    expect(await third.account('town')).toMatchObject({ closed: true });
    await third.amend('town', folderTerms, 'known to be all');
    expect(await third.account('town')).not.toHaveProperty('closed');
    const again = await third.reserve(reservation());
    expect([again.sequence > entry.sequence, again.resumed]).toEqual([true, undefined]);
    await expect(third.commit(entry, 'another')).rejects.toMatchObject({ outcome: { state: 'spent', resumable: false } });
  });

  it('an answered entry is not resumed when the index has lost its answer', async () => {
    const ledger = await at();
    const entry = await ledger.reserve(reservation());
    await ledger.commit(entry, 'text');
    const db = new Database(place);
    db.exec('DELETE FROM answer');
    db.close();
    await expect(ledger.commit(entry, 'another')).rejects.toMatchObject({ code: 'LEDGER_CORRUPT' });
  });

  it('an answered entry is not resumed when the end of its answer line and the index are lost', async () => {
    for (const byte of [0, 0x20]) {
      const ledger = await at();
      const entry = await ledger.reserve(reservation({ key: `k${byte}` }));
      await ledger.commit(entry, 'text');
      await ledger.close();
      remove('', '-wal', '-shm');
      const bytes = chainBytes();
      bytes[lastByte()] = byte;
      writeFileSync(`${place}.chain`, bytes);
      const again = await at();
      expect((await again.reserve(reservation({ key: `k${byte}` }))).resumed).toBeUndefined();
      expect(await again.verify()).toMatchObject({ ok: true });
      await again.close();
    }
  });
});

describe('ledgers with different histories', () => {
  const filled = async (where: string, keys: readonly string[], population = 'town') => {
    const ledger = await at(where);
    for (const key of keys) await ledger.commit(await ledger.reserve(reservation({ key, population })), key);
    await ledger.close();
  };

  it('a longer backup of another ledger is refused, and nothing is lost', async () => {
    const other = join(folder, 'other.db');
    await filled(other, ['a', 'b', 'c', 'd'], 'village');
    await backupStorage(other, join(folder, 'backup'));
    await filled(place, ['a', 'b']);
    remove('', '-wal', '-shm');
    const bytes = chainBytes();
    bytes[lastByte() - 5]! ^= 1;
    writeFileSync(`${place}.chain`, bytes);
    await expect(restoreStorage(place, join(folder, 'backup'), 'a try')).rejects.toMatchObject({ code: 'LEDGER_CORRUPT' });
    recoverStorage(place, 'the last line is damaged');
    expect(await spent(await at())).toBe('1/5');
  });

  it('two files of one ledger with different histories are refused, not resolved by length', async () => {
    await filled(place, ['a']);
    copyFileSync(place, `${place}.early`);
    copyFileSync(`${place}.chain`, `${place}.chain.early`);
    await filled(place, ['b', 'c']);
    copyFileSync(`${place}.chain`, `${place}.chain.late`);
    copyFileSync(`${place}.early`, place);
    copyFileSync(`${place}.chain.early`, `${place}.chain`);
    await filled(place, ['x']);
    copyFileSync(`${place}.chain.late`, `${place}.chain`);
    expect(() => recoverStorage(place, 'a try')).toThrow(/different histories/);
  });
});

describe('a chain file that lacks or changes the last reservation of its index', () => {
  const harms: Record<string, (bytes: Buffer, before: Buffer) => Buffer> = {
    older: (_, before) => before,
    'without its last line': (bytes, before) => bytes.fill(0, before.findLastIndex((b) => b !== 0) + 1),
    'with another last line': (bytes) => {
      bytes[bytes.findLastIndex((b) => b !== 0) - 9]! ^= 1;
      return bytes;
    },
  };

  it.each(Object.keys(harms))(
    'a damaged chain file (%s) is refused at opening, and by an open ledger before a reservation',
    async (name) => {
      const ledger = await at();
      await ledger.reserve(reservation({ key: 'first' }));
      const before = chainBytes();
      await ledger.reserve(reservation({ key: 'second' }));
      writeFileSync(`${place}.chain`, harms[name]!(chainBytes(), before));
      await expect(ledger.spent('town')).rejects.toMatchObject({ code: 'LEDGER_CORRUPT' });
      await expect(ledger.reserve(reservation({ key: 'third' }))).rejects.toMatchObject({
        code: 'LEDGER_CORRUPT',
        outcome: { state: 'not spent' },
      });
      await ledger.close();
      await expect(at()).rejects.toMatchObject({ code: 'LEDGER_CORRUPT' });
    },
  );
});

describe('a chain file without its end', () => {
  it('a chain file is refused when it is cut, empty, a dangling link, a device, or has a second name', async () => {
    const ledger = await at();
    await ledger.reserve(reservation());
    await ledger.close();
    const bytes = chainBytes();
    const refused = async (make: () => void) => {
      rmSync(`${place}.chain`);
      make();
      await expect(at()).rejects.toMatchObject({ name: 'Fault' });
      rmSync(`${place}.chain`, { force: true });
      writeFileSync(`${place}.chain`, bytes);
    };
    await refused(() => writeFileSync(`${place}.chain`, bytes.subarray(0, bytes.findLastIndex((b) => b !== 0) + 1)));
    remove('', '-wal', '-shm');
    await refused(() => appendFileSync(`${place}.chain`, ''));
    await refused(() => symlinkSync(join(folder, 'nowhere'), `${place}.chain`));
    await refused(() => symlinkSync('/dev/zero', `${place}.chain`));
    const back = await at();
    expect(await spent(back)).toBe('1/10');
    await back.close();
    await refused(() => {
      writeFileSync(`${place}.chain`, bytes);
      linkSync(`${place}.chain`, join(folder, 'second'));
    });
    truncateSync(`${place}.chain`, 0);
    await expect(at()).rejects.toMatchObject({ code: 'LEDGER_CORRUPT' });
  });

  it('no answer is given out when the chain file is replaced between a line and the commit', async () => {
    let swap = false;
    const ledger = await openFileLedger(place, {
      head: () => undefined,
      put: () => {
        if (!swap) return;
        const bytes = chainBytes();
        rmSync(`${place}.chain`);
        writeFileSync(`${place}.chain`, bytes);
      },
    });
    room.keep(ledger);
    await ledger.reserve(reservation({ key: 'before' }));
    swap = true;
    await expect(ledger.reserve(reservation({ key: 'during' }))).rejects.toMatchObject({ code: 'LEDGER_CORRUPT' });
  });
});

describe('names that are not valid text', () => {
  it('an invalid name is the same account for reservations and reads', async () => {
    const ledger = await at();
    await ledger.reserve(reservation({ population: 'a\ud800b', analyst: 'x\ud800' }));
    expect((await ledger.spent('a\ud800b')).pure.perRecord.size).toBe(1);
    expect((await ledger.spent('a\ud800b', 'x\ud800')).pure.perRecord.size).toBe(1);
    expect(await ledger.entries('a\ud800b')).toHaveLength(1);
  });
});
