import { copyFileSync, readdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  failureOf,
  type LedgerFolder,
  ledgerFolder,
  askingOfAnn as reservationByAnn,
  spentByAnalyst as spent,
} from '../../../test/ledger-folder.js';
import { rational } from '../../base/exact/rational.js';
import { pureCost } from '../../privacy/mechanism/privacy-cost.js';
import { everyRecord } from '../../privacy/mechanism/record-class.js';
import type { Ledger, Reservation } from './ledger.js';
import { openLedger } from './open.js';

/** The failing call and kind of file, counted from now. */
const failing = vi.hoisted(() => ({ call: '', after: 0, code: 'EIO', half: false, lasting: false }));
vi.mock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>();
  const due = (call: string): boolean =>
    failing.call === call && (failing.after-- === 0 || (failing.lasting && failing.after < 0));
  const fail = (): never => {
    throw Object.assign(new Error(failing.code), { code: failing.code });
  };
  return {
    ...fs,
    fdatasyncSync: (fd: number) => (due('fdatasync') ? fail() : fs.fdatasyncSync(fd)),
    fsyncSync: (fd: number) => (due('fsync') ? fail() : fs.fsyncSync(fd)),
    writeSync: (fd: number, bytes: Buffer, from: number, length: number, at: number) => {
      if (!due('write')) return fs.writeSync(fd, bytes, from, length, at);
      if (failing.half) fs.writeSync(fd, bytes, from, length >> 1, at);
      return fail();
    },
  };
});

let room: LedgerFolder;
let folder: string;
let place: string;
beforeEach(() => {
  room = ledgerFolder();
  ({ folder, place } = room);
  Object.assign(failing, { call: '', after: 0, code: 'EIO', half: false, lasting: false });
});
afterEach(async () => {
  vi.restoreAllMocks();
  Object.assign(failing, { call: '' });
  await room.close();
});
const ledgerAt = () => room.ledgerAt();
const reservation = (over: Partial<Reservation> = {}): Reservation => reservationByAnn({ resumable: true, ...over });
const failCommit = (nth = 0) => {
  const exec = Database.prototype.exec;
  let seen = 0;
  vi.spyOn(Database.prototype, 'exec').mockImplementation(function (this: Database.Database, sql: string) {
    if (sql === 'COMMIT' && seen++ === nth) throw Object.assign(new Error('disk I/O error'), { rawCode: 10 });
    return exec.call(this, sql);
  } as never);
};

describe('the outcome of a failed reservation', () => {
  it('a reservation is not spent when its line cannot be written, even if half of it was', async () => {
    const ledger = await ledgerAt();
    await ledger.reserve(reservation());
    for (const half of [false, true]) {
      Object.assign(failing, { call: 'write', after: 0, half });
      const fault = await failureOf(ledger.reserve(reservation({ key: 'k2' })));
      expect(fault).toMatchObject({ code: 'DISK_FAILED', outcome: { state: 'not spent' } });
      expect(await spent(ledger)).toBe('1/10');
    }
    await ledger.reserve(reservation({ key: 'k3' }));
    expect(await spent(await ledgerAt())).toBe('1/5');
  });

  it('a reservation is spent when the disk does not confirm its line: the next one finds it', async () => {
    const ledger = await ledgerAt();
    await ledger.reserve(reservation());
    Object.assign(failing, { call: 'fdatasync', after: 0 });
    const fault = await failureOf(ledger.reserve(reservation({ key: 'k2' })));
    expect(fault).toMatchObject({ code: 'DISK_FAILED', outcome: { state: 'spent', entry: 3, resumable: true } });
    expect(await spent(ledger)).toBe('1/5');
    expect(await ledger.reserve(reservation({ key: 'k2' }))).toMatchObject({ sequence: 3, resumed: true });
    expect(await spent(await ledgerAt())).toBe('1/5');
  });

  it('a reservation is spent when the index cannot be committed after its line, and the same process goes on', async () => {
    const ledger = await ledgerAt();
    await ledger.reserve(reservation());
    failCommit();
    const fault = await failureOf(ledger.reserve(reservation({ key: 'k2', resumable: false })));
    expect(fault).toMatchObject({ code: 'DISK_FAILED', outcome: { state: 'spent', entry: 3, resumable: false } });
    expect(await spent(ledger)).toBe('1/5');
    expect(await ledger.reserve(reservation({ key: 'k4' }))).toMatchObject({ sequence: 4 });
    expect(await spent(await ledgerAt())).toBe('3/10');
    expect((await ledger.verify()).ok).toBe(true);
  });

  it('a reservation is spent even when the index transaction cannot be rolled back', async () => {
    const ledger = await ledgerAt();
    await ledger.reserve(reservation());
    const exec = Database.prototype.exec;
    vi.spyOn(Database.prototype, 'exec').mockImplementation(function (this: Database.Database, sql: string) {
      if (sql === 'COMMIT' || sql === 'ROLLBACK') throw Object.assign(new Error('disk I/O error'), { rawCode: 10 });
      return exec.call(this, sql);
    } as never);
    const fault = await failureOf(ledger.reserve(reservation({ key: 'k2' })));
    expect(fault).toMatchObject({ code: 'DISK_FAILED', outcome: { state: 'spent', entry: 3 } });
    vi.restoreAllMocks();
    await ledger.close();
    expect(await spent(await ledgerAt())).toBe('1/5');
  });

  it('a reservation is not spent when there is no space for more lines', async () => {
    const ledger = await ledgerAt();
    Object.assign(failing, { call: 'fsync', after: 0, code: 'ENOSPC' });
    const fault = await failureOf(ledger.reserve(reservation({ label: 'x'.repeat(70_000) })));
    expect(fault).toMatchObject({ code: 'DISK_FULL', outcome: { state: 'not spent' } });
    expect(await spent(ledger)).toBe('0');
  });

  it('a reservation is not spent when it is refused', async () => {
    const ledger = await ledgerAt();
    await ledger.reserve(reservation());
    const other = await failureOf(ledger.reserve(reservation({ terms: { digest: 'd2', summary: 'epsilon 2' } })));
    expect(other).toMatchObject({ code: 'LEDGER_MISMATCH', outcome: { state: 'not spent' } });
  });

  it('a reservation is spent and can be resumed free when its answer cannot be recorded', async () => {
    const ledger = await ledgerAt();
    const entry = await ledger.reserve(reservation());
    Object.assign(failing, { call: 'write', after: 0, half: true });
    const outcome = { state: 'spent', entry: entry.sequence, resumable: true };
    expect(await failureOf(ledger.commit(entry, 'answer'))).toMatchObject({ code: 'DISK_FAILED', outcome });
    failCommit();
    expect(await failureOf(ledger.commit(entry, 'answer'))).toMatchObject({ code: 'DISK_FAILED', outcome });
    vi.restoreAllMocks();
    const again = await ledger.reserve(reservation());
    expect(again).toMatchObject({ sequence: entry.sequence, hash: entry.hash, resumed: true });
    expect(await ledger.commit(again, 'answer 2')).toBe('answer 2');
    expect((await ledger.replay('town', 'k1'))?.answer).toBe('answer 2');
    expect(await spent(ledger)).toBe('1/10');
    expect((await ledger.verify()).ok).toBe(true);
  });
});

describe('a change of terms', () => {
  const later = { digest: 'd2', summary: 'epsilon 2' };
  const termsIn = async (ledger: Ledger) => (await ledger.account('town'))?.terms.digest;

  it('a change of terms counts once its line is durable, whether or not the index can be committed', async () => {
    const ledger = await ledgerAt();
    await ledger.reserve(reservation());
    failCommit();
    await ledger.amend('town', later, 'why');
    expect(await termsIn(ledger)).toBe('d2');
    expect(await ledger.reserve(reservation({ key: 'k2', terms: later }))).toMatchObject({ sequence: 4 });
    expect(await termsIn(await ledgerAt())).toBe('d2');
    expect((await ledger.verify()).ok).toBe(true);
  });

  it('a change of terms is undone when the disk does not confirm it, and reported as doubtful when the disk goes on failing', async () => {
    const ledger = await ledgerAt();
    await ledger.reserve(reservation());
    Object.assign(failing, { call: 'fdatasync', after: 0 });
    const fault = await failureOf(ledger.amend('town', later, 'why'));
    expect(fault).toMatchObject({ code: 'DISK_FAILED', hint: expect.not.stringMatching(/changed/) });
    for (const open of [ledger, await ledgerAt()]) expect(await termsIn(open)).toBe('d1');
    Object.assign(failing, { call: 'fdatasync', after: 0, lasting: true });
    const doubt = await failureOf(ledger.amend('town', later, 'why'));
    expect(doubt).toMatchObject({
      code: 'DISK_FAILED',
      hint: expect.stringMatching(/may have been changed.*fugu ledger POLICY/),
    });
    expect(doubt.outcome).toBeUndefined();
  });
});

describe('an entry that was never answered', () => {
  it('the same request resumes an unanswered entry without paying again, even if admission would refuse', async () => {
    const ledger = await ledgerAt();
    const entry = await ledger.reserve(reservation({ as: 'Ann B.' }));
    await ledger.close();
    const later = await ledgerAt();
    const again = await later.reserve(
      reservation({
        admit: () => {
          throw new Error('admission was called');
        },
      }),
    );
    expect(again).toEqual({ ...entry, as: 'Ann B.', resumed: true });
    expect(await spent(later)).toBe('1/10');
  });

  it('an unanswered entry is not resumed under another key, cost, population or terms, nor unless both requests are resumable', async () => {
    const ledger = await ledgerAt();
    await ledger.reserve(reservation({ key: 'adaptive', resumable: false }));
    expect((await ledger.reserve(reservation({ key: 'adaptive' }))).resumed).toBeUndefined();
    await ledger.reserve(reservation());
    expect((await ledger.reserve(reservation({ resumable: false }))).resumed).toBeUndefined();
    expect((await ledger.reserve(reservation({ key: 'k2' }))).resumed).toBeUndefined();
    expect((await ledger.reserve(reservation({ population: 'city' }))).resumed).toBeUndefined();
    expect((await ledger.reserve(reservation({ profile: pureCost([[everyRecord, rational(1, 11)]]) }))).resumed).toBeUndefined();
    const raised = { digest: 'd2', summary: 'epsilon 2' };
    await ledger.amend('town', raised, 'why not');
    expect((await ledger.reserve(reservation({ terms: raised }))).resumed).toBeUndefined();
  });

  it('of two requests that resume an entry, the second returns the answer of the first', async () => {
    const [one, two] = [await ledgerAt(), await ledgerAt()];
    const entry = await one.reserve(reservation());
    const same = await two.reserve(reservation());
    expect(same.sequence).toBe(entry.sequence);
    expect(await two.commit(same, 'first')).toBe('first');
    expect(await one.commit(entry, 'second')).toBe('first');
    expect((await one.reserve(reservation())).resumed).toBeUndefined();
  });

  it('an entry whose answer text is lost is not resumed: the request pays again', async () => {
    const ledger = await ledgerAt();
    await ledger.commit(await ledger.reserve(reservation()), 'text');
    await ledger.close();
    rmSync(place);
    const rebuilt = await ledgerAt();
    expect(await rebuilt.entries('town')).toMatchObject([{ settled: false, textLost: true }]);
    expect(await rebuilt.replay('town', 'k1')).toBeUndefined();
    expect((await rebuilt.reserve(reservation())).resumed).toBeUndefined();
    expect(await spent(rebuilt)).toBe('1/5');
  });
});

describe('the two files of a ledger', () => {
  const filled = async (): Promise<Ledger> => {
    const ledger = await ledgerAt();
    for (let i = 0; i < 3; i++) await ledger.commit(await ledger.reserve(reservation({ key: `k${i}` })), `answer ${i}`);
    return ledger;
  };

  it('an index taken back to an older copy is brought up to the chain file', async () => {
    await (await filled()).close();
    copyFileSync(place, join(folder, 'older'));
    const ledger = await ledgerAt();
    await ledger.commit(await ledger.reserve(reservation({ key: 'late' })), 'lost text');
    await ledger.close();
    copyFileSync(join(folder, 'older'), place);
    const again = await ledgerAt();
    expect(await spent(again)).toBe('2/5');
    expect((await again.replay('town', 'k1'))?.answer).toBe('answer 1');
    expect(await again.replay('town', 'late')).toBeUndefined();
    expect((await again.verify()).ok).toBe(true);
  });

  it('an unfinished line is overwritten, and a finished one that does not fit is refused', async () => {
    await (await filled()).close();
    const bytes = readFileSync(`${place}.chain`);
    const end = bytes.indexOf(0);
    const torn = Buffer.from(bytes);
    torn.write(`${'a'.repeat(64)} {"kind":"spend"`, end);
    writeFileSync(`${place}.chain`, torn);
    const ledger = await ledgerAt();
    await ledger.reserve(reservation({ key: 'next' }));
    expect((await ledger.verify()).ok).toBe(true);
    await ledger.close();
    const more = readFileSync(`${place}.chain`);
    more.write(`${'a'.repeat(64)} {"kind":"spend"}\n`, more.indexOf(0));
    writeFileSync(`${place}.chain`, more);
    expect(await failureOf(ledgerAt())).toMatchObject({
      code: 'LEDGER_CORRUPT',
      hint: expect.stringMatching(/recover --reason/),
    });
  });

  it.each(['', '-wal', '-shm', '.chain'])(
    'an open ledger notices that its file was deleted or replaced: ledger.db%s',
    async (end) => {
      const ledger = await filled();
      const bytes = readFileSync(`${place}${end}`);
      renameSync(`${place}${end}`, join(folder, 'away'));
      expect(await failureOf(ledger.reserve(reservation({ key: 'n' })))).toMatchObject({ outcome: { state: 'not spent' } });
      expect(await failureOf(ledger.spent('town'))).toMatchObject({ code: 'LEDGER_CORRUPT' });
      writeFileSync(`${place}${end}`, bytes);
      expect(await failureOf(ledger.reserve(reservation({ key: 'n' })))).toMatchObject({ outcome: { state: 'not spent' } });
      renameSync(join(folder, 'away'), `${place}${end}`);
      await ledger.reserve(reservation({ key: 'n' }));
      expect(await spent(ledger)).toBe('2/5');
    },
  );

  it('an open ledger refuses truncated shared memory without touching it', async () => {
    const ledger = await filled();
    truncateSync(`${place}-shm`, 0);
    expect(await failureOf(ledger.reserve(reservation({ key: 'n' })))).toMatchObject({ outcome: { state: 'not spent' } });
    await ledger.close();
    expect(await failureOf(ledgerAt())).toMatchObject({ code: 'LEDGER_CORRUPT' });
  });

  it.skipIf(process.platform !== 'linux')(
    'closed ledgers release their file descriptors, however many files are opened however often',
    async () => {
      const descriptors = () => readdirSync('/proc/self/fd').length;
      const times = process.env.FUGU_TORTURE === '1' ? 1000 : 250;
      for (let i = 0; i < 50; i++) await (await openLedger(join(folder, `l${i}.db`))).close();
      const before = descriptors();
      for (let i = 0; i < times; i++) {
        const ledger = await openLedger(join(folder, `l${i % 50}.db`));
        if (i % 100 === 0) await ledger.reserve(reservation({ key: `k${i}` }));
        await ledger.close();
      }
      expect(descriptors() - before).toBeLessThan(5);
    },
  );
});
