import { execFileSync, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { describeLedger } from '../../../test/ledger-contract.js';
import { type LedgerFolder, ledgerFolder, askingOfAnn as reservationByAnn } from '../../../test/ledger-folder.js';
import type { Fault } from '../../base/errors.js';
import { rational, toText } from '../../base/exact/rational.js';
import { everyRecord } from '../../privacy/mechanism/record-class.js';
import type { Ledger, Reservation } from './ledger.js';
import { openLedger } from './open.js';
import { verifyInChild } from './rescue/verify.js';

let room: LedgerFolder;
let folder: string;
let place: string;
const ledgerAt = (path?: string) => room.ledgerAt(path);

beforeEach(() => {
  room = ledgerFolder('deep');
  ({ folder, place } = room);
});
afterEach(() => room.close(true));

const terms = { digest: 'd1', summary: 'epsilon 1, secret row' };
const reservation = (over: Partial<Reservation> = {}): Reservation => reservationByAnn({ terms, ...over });
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'no fault',
    (error: Fault) => error.code,
  );
const tamper = (sql: string, at = place): void => {
  const db = new Database(at);
  db.exec(`PRAGMA foreign_keys = OFF; ${sql}`);
  db.close();
};
const text = async (ledger: Ledger, population = 'town', analyst?: string) =>
  toText((await ledger.spent(population, analyst)).pure.perRecord.get(everyRecord) ?? rational(0));

describeLedger('a ledger in files', () => {
  const room = ledgerFolder('deep');
  return {
    open: (witness) => room.ledgerAt(room.place, witness),
    verify: () => verifyInChild(room.place),
    tamper: async (sql) => tamper(sql, room.place),
    quick: 10,
    close: () => room.close(true),
  };
});

describe('the files of a ledger', () => {
  it('a new ledger file is readable by its owner only', async () => {
    await ledgerAt();
    for (const end of ['', '.chain']) expect(statSync(`${place}${end}`).mode & 0o077).toBe(0);
  });
});

describe('a damaged ledger in files', () => {
  const filled = async () => {
    const ledger = await ledgerAt();
    for (let i = 0; i < 5; i++) await ledger.commit(await ledger.reserve(reservation({ key: `k${i}` })), `answer ${i}`);
    await ledger.close();
  };

  it.each([
    ['a trigger', 'CREATE TRIGGER t AFTER INSERT ON link BEGIN DELETE FROM account; END'],
    ['a view', 'CREATE VIEW v AS SELECT 1'],
    ['bytes that are no text', `UPDATE account SET totals = CAST(x'ff5b' AS TEXT)`],
  ])('a damaged ledger refuses the next reservation at once: %s', async (_what, sql) => {
    await filled();
    tamper(sql);
    expect(await codeOf(ledgerAt().then((ledger) => ledger.reserve(reservation())))).toBe('LEDGER_CORRUPT');
    expect(await codeOf(ledgerAt().then((ledger) => ledger.spent('town', 'ann')))).toBe('LEDGER_CORRUPT');
  });

  it('a file that is not a ledger is refused', async () => {
    const other = join(folder, 'other.db');
    writeFileSync(other, 'not a database '.repeat(100));
    expect(await codeOf(ledgerAt(other))).toBe('LEDGER_CORRUPT');
    const foreign = join(folder, 'foreign.db');
    const db = new Database(foreign);
    db.exec('CREATE TABLE holiday (photo TEXT)');
    db.close();
    expect(await codeOf(ledgerAt(foreign))).toBe('LEDGER_CORRUPT');
  });

  it('overwritten pages are reported as a fault, without a crash', async () => {
    await filled();
    const bytes = readFileSync(place);
    bytes.fill(0xff, 4096, bytes.length);
    writeFileSync(place, bytes);
    const outcome = await openLedger(place).then(
      async (ledger) => {
        room.keep(ledger);
        return (await ledger.verify()).ok ? 'sound' : 'broken';
      },
      (error: Fault) => error.code,
    );
    expect(['broken', 'LEDGER_CORRUPT']).toContain(outcome);
  });

  it('a write-ahead log that was cut, spoilt or deleted loses nothing: the chain file restores it', async () => {
    const ledger = await ledgerAt();
    for (let i = 0; i < 5; i++) await ledger.commit(await ledger.reserve(reservation({ key: `k${i}` })), `answer ${i}`);
    for (const damage of ['garbage', 'cut', 'gone'] as const) {
      const copy = join(folder, `${damage}.db`);
      for (const end of ['', '-wal', '.chain']) copyFileSync(`${place}${end}`, `${copy}${end}`);
      if (damage === 'garbage') appendFileSync(`${copy}-wal`, Buffer.alloc(3000, 0xab));
      else if (damage === 'cut') truncateSync(`${copy}-wal`, statSync(`${copy}-wal`).size - 100);
      else rmSync(`${copy}-wal`);
      const survivor = await ledgerAt(copy);
      expect((await survivor.entries('town')).length).toBe(5);
      expect(await text(survivor)).toBe('1/2');
      expect((await survivor.verify()).ok).toBe(true);
      await survivor.reserve(reservation({ key: 'next' }));
      expect((await survivor.verify()).ok).toBe(true);
    }
  });
});

describe('a place that cannot hold a ledger', () => {
  it('a folder, or a file as folder, is refused with a hint', async () => {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    expect(await codeOf(ledgerAt(folder))).toBe('READ_ONLY');
    expect(await codeOf(ledgerAt(join(file, 'ledger.db')))).toBe('READ_ONLY');
  });

  it.skipIf(process.platform !== 'linux')('a pipe, a device or a system file is refused before it is opened', async () => {
    const pipe = join(folder, 'pipe');
    expect(spawnSync('mkfifo', [pipe]).status).toBe(0);
    for (const path of [pipe, '/dev/zero', '/proc/uptime', '/proc/kmsg']) expect(await codeOf(ledgerAt(path))).toBe('READ_ONLY');
    const sibling = join(folder, 'beside.db');
    for (const end of ['-wal', '-journal']) {
      writeFileSync(sibling, '');
      renameSync(pipe, `${sibling}${end}`);
      expect(await codeOf(ledgerAt(sibling))).toBe('READ_ONLY');
      renameSync(`${sibling}${end}`, pipe);
    }
    await ledgerAt(sibling);
  });

  const root = process.getuid?.() === 0;
  it.skipIf(root)('a folder without write permission is refused as read-only', async () => {
    mkdirSync(join(folder, 'shut'));
    chmodSync(join(folder, 'shut'), 0o500);
    expect(await codeOf(ledgerAt(join(folder, 'shut', 'ledger.db')))).toBe('READ_ONLY');
  });

  const canMount = (() => {
    const probe = mkdtempSync(join(tmpdir(), 'fugu-mount-'));
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', probe]).status === 0;
    if (mounted) spawnSync('umount', [probe]);
    rmSync(probe, { recursive: true, force: true });
    return mounted;
  })();
  describe.skipIf(!canMount)('a small disk (needs the right to mount)', () => {
    let disk: string;
    beforeEach(() => {
      disk = mkdtempSync(join(tmpdir(), 'fugu-disk-'));
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=600k', 'tmpfs', disk]);
    });
    afterEach(async () => {
      await room.closeLedgers(true);
      execFileSync('umount', ['-l', disk]);
      rmSync(disk, { recursive: true, force: true });
    });

    it('a full disk is reported, every acknowledged entry is kept, and the ledger works again when there is space', async () => {
      const ledger = await ledgerAt(join(disk, 'ledger.db'));
      let kept = 0;
      let code = '';
      while (code === '' && kept < 500) {
        code = await ledger.reserve(reservation({ key: `k${kept}`, label: 'x'.repeat(8000) })).then(
          () => '',
          (error: Fault) => error.code,
        );
        if (code === '') kept++;
      }
      expect(code).toBe('DISK_FULL');
      expect(kept).toBeGreaterThan(3);
      expect((await ledger.entries('town')).length).toBe(kept);
      expect(await ledger.verify()).toMatchObject({ ok: true, entries: kept });
      execFileSync('mount', ['-o', 'remount,size=8m', disk]);
      await ledger.reserve(reservation({ key: 'later' }));
      expect(await ledger.verify()).toMatchObject({ ok: true, entries: kept + 1 });
    });

    it('a read-only place is reported', async () => {
      await (await ledgerAt(join(disk, 'ledger.db'))).reserve(reservation());
      await room.closeLedgers();
      execFileSync('mount', ['--bind', disk, disk]);
      execFileSync('mount', ['-o', 'remount,bind,ro', disk]);
      expect(await codeOf(ledgerAt(join(disk, 'ledger.db')))).toBe('READ_ONLY');
      expect(await codeOf(ledgerAt(join(disk, 'new', 'ledger.db')))).toBe('READ_ONLY');
      expect(existsSync(join(disk, 'new'))).toBe(false);
      execFileSync('umount', [disk]);
    });
  });
});
