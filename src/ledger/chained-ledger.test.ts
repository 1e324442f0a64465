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
import { asking as asked, type LedgerFolder, ledgerFolder } from '../../test/ledger-folder.js';
import { Fault } from '../errors.js';
import { compare, parseRational, rational, toText } from '../exact/rational.js';
import { type Profile, pureProfile, zcdpProfile } from '../mechanism/profile.js';
import { answersTo, everyRecord } from '../mechanism/record-class.js';
import { emptyText } from './index/total.js';
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
const cost = (text: string): Profile => pureProfile([[everyRecord, parseRational(text)]]);
const asking = (over: Partial<Reservation> = {}): Reservation => asked({ terms, ...over });
const limit =
  (text: string): Reservation['admit'] =>
  (after) => {
    if (compare(after.pure.perRecord.get(everyRecord)!, parseRational(text)) > 0)
      throw new Fault('BUDGET_EXCEEDED', 'too much', 'ask less', { details: { limit: text } });
  };
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'no fault',
    (error: Fault) => error.code,
  );
const tamper = (sql: string): void => {
  const db = new Database(place);
  db.exec(`PRAGMA foreign_keys = OFF; ${sql}`);
  db.close();
};
const text = async (ledger: Ledger, population = 'town', analyst?: string) =>
  toText((await ledger.spent(population, analyst)).pure.perRecord.get(everyRecord) ?? rational(0));

describe('the ledger', () => {
  it('adds profiles exactly and keeps them over a restart', async () => {
    const first = await ledgerAt();
    for (let i = 0; i < 3; i++) await first.reserve(asking({ key: `k${i}` }));
    await first.reserve(asking({ key: 'g', profile: zcdpProfile([[answersTo('age'), rational(1, 7)]]) }));
    await first.close();
    const again = await ledgerAt();
    const spent = await again.spent('town');
    expect(toText(spent.pure.perRecord.get(everyRecord)!)).toBe('3/10');
    expect(toText(spent.zcdp.perRecord.get(answersTo('age'))!)).toBe('1/7');
    expect((await again.entries('town')).map((e) => e.key)).toEqual(['k0', 'k1', 'k2', 'g']);
    expect(await again.verify()).toMatchObject({ ok: true, entries: 4 });
  });

  it('remembers whether every release so far was factored over columns', async () => {
    const ledger = await ledgerAt();
    const factored = (key: string, yes: boolean) =>
      ledger.reserve(asking({ key, profile: pureProfile([[answersTo('age'), rational(1, 10)]], yes) }));
    await factored('a', true);
    await factored('b', true);
    expect((await ledger.spent('town')).pure.factored).toBe(true);
    expect((await ledger.entries('town'))[0]!.profile).toMatchObject({ factored: true });
    await factored('c', false);
    await factored('d', true);
    expect((await ledger.spent('town')).pure.factored).toBe(false);
  });

  it('books nothing, not even the account, when admission is refused, and passes the fault through', async () => {
    const ledger = await ledgerAt();
    await expect(ledger.reserve(asking({ admit: limit('1/20') }))).rejects.toMatchObject({
      code: 'BUDGET_EXCEEDED',
      details: { limit: '1/20' },
    });
    expect(await ledger.account('town')).toBeUndefined();
    for (let i = 0; i < 10; i++) await ledger.reserve(asking({ admit: limit('1') }));
    expect(await codeOf(ledger.reserve(asking({ admit: limit('1') })))).toBe('BUDGET_EXCEEDED');
    expect(await text(ledger)).toBe('1');
    expect(await ledger.verify()).toMatchObject({ ok: true, entries: 10 });
  });

  it('hands admission the totals before and after, and the part of the analyst', async () => {
    const ledger = await ledgerAt();
    await ledger.reserve(asking({ analyst: 'bob' }));
    const seen: string[] = [];
    await ledger.reserve(
      asking({ admit: (...totals) => void seen.push(...totals.map((t) => toText(t.pure.perRecord.get(everyRecord)!))) }),
    );
    expect(seen).toEqual(['1/5', '1/10', '1/10']);
    expect(await text(ledger, 'town', 'bob')).toBe('1/10');
  });

  it('keeps one account per population, whoever asks', async () => {
    const ledger = await ledgerAt();
    await ledger.reserve(asking());
    await ledger.reserve(asking({ population: 'city', terms: { digest: 'other', summary: 's' }, profile: cost('2/3') }));
    expect(await text(ledger)).toBe('1/10');
    expect(await text(ledger, 'city')).toBe('2/3');
  });

  it('refuses a policy with other terms until the account is amended, and the amendment is part of the chain', async () => {
    const ledger = await ledgerAt();
    await ledger.reserve(asking());
    const raised = { digest: 'd2', summary: 'epsilon 2, secret row' };
    await expect(ledger.reserve(asking({ terms: raised }))).rejects.toThrow(/other terms.*: epsilon was 1 and is 2\.$/);
    await ledger.amend('town', raised, 'the board agreed');
    await ledger.reserve(asking({ terms: raised }));
    expect(await codeOf(ledger.reserve(asking()))).toBe('LEDGER_MISMATCH');
    expect(await text(ledger)).toBe('1/5');
    expect(await ledger.verify()).toMatchObject({ ok: true, entries: 2 });
    expect(await codeOf(ledger.amend('nobody', raised, 'x'))).toBe('LEDGER_MISMATCH');
  });

  it('replays a settled answer, never an unsettled one, and only for its population and key', async () => {
    const ledger = await ledgerAt();
    const entry = await ledger.reserve(asking());
    expect(await ledger.replay('town', 'k1')).toBeUndefined();
    await ledger.settle(entry, '{"n":41}');
    const found = await ledger.replay('town', 'k1');
    expect(found).toMatchObject({ answer: '{"n":41}', entry: { sequence: entry.sequence, hash: entry.hash, settled: true } });
    expect(await ledger.replay('city', 'k1')).toBeUndefined();
    expect(await ledger.replay('town', 'k2')).toBeUndefined();
    await ledger.settle(entry, '{"n":99}');
    expect((await ledger.replay('town', 'k1'))?.answer).toBe('{"n":41}');
  });

  it('keeps totals short over many awkward fractions and never rounds them down', async () => {
    const ledger = await ledgerAt();
    let lower = 0;
    for (let i = 0; i < 60; i++) {
      const den = 1_000_003n + BigInt(i) * 1_009n;
      lower += 1 / Number(den);
      await ledger.reserve(asking({ profile: pureProfile([[everyRecord, rational(1n, den)]]) }));
    }
    const total = (await ledger.spent('town')).pure.perRecord.get(everyRecord)!;
    expect(total.den.toString(2).length).toBeLessThan(300);
    expect(Number(total.num) / Number(total.den)).toBeCloseTo(lower, 12);
    expect((await ledger.verify()).ok).toBe(true);
  });

  it('books a reservation in about a millisecond however many there are', async () => {
    const ledger = await ledgerAt();
    for (let i = 0; i < 300; i++) await ledger.reserve(asking({ key: `warm${i}` }));
    const times: number[] = [];
    for (let i = 0; i < 100; i++) {
      const start = performance.now();
      await ledger.reserve(asking({ key: `k${i}` }));
      times.push(performance.now() - start);
    }
    expect(times.sort((a, b) => a - b)[50]).toBeLessThan(10);
  });

  it('is readable by its owner only', async () => {
    await ledgerAt();
    for (const end of ['', '.chain']) expect(statSync(`${place}${end}`).mode & 0o077).toBe(0);
  });
});

describe('a damaged ledger', () => {
  const filled = async () => {
    const ledger = await ledgerAt();
    for (let i = 0; i < 5; i++) await ledger.settle(await ledger.reserve(asking({ key: `k${i}` })), `answer ${i}`);
    await ledger.close();
  };
  const broken = () => verifyInChild(place);

  it.each([
    ['a changed cost', `UPDATE link SET body = replace(body, '1/10', '1/99') WHERE sequence = 4`, 4],
    ['a removed entry', 'DELETE FROM link WHERE sequence = 4', 4],
    ['two entries swapped', `UPDATE link SET body = (SELECT body FROM link WHERE sequence = 5) WHERE sequence = 4`, 4],
    ['a key filed under another', `UPDATE link SET key = 'other' WHERE sequence = 3`, 3],
    ['a changed answer', `UPDATE answer SET body = 'answer 9' WHERE of = 2`, 2],
  ])('is found by verify: %s', async (_what, sql, at) => {
    await filled();
    tamper(sql);
    expect(await broken()).toMatchObject({ ok: false, brokenAt: at });
  });

  it.each([
    ['a lowered total', `UPDATE account SET totals = replace(totals, '1/2', '1/9')`],
    ['loosened terms', `UPDATE account SET digest = 'd9'`],
    ['a forgotten account', 'DELETE FROM account'],
    ['a lowered analyst total', `UPDATE analyst SET totals = replace(totals, '1/2', '1/9')`],
    ['the newest entry cut off', 'DELETE FROM link WHERE sequence = 11'],
  ])('is found by verify: %s', async (_what, sql) => {
    await filled();
    tamper(sql);
    expect((await broken()).ok).toBe(false);
  });

  it.each([
    ['a lowered total', `UPDATE account SET totals = replace(totals, '1/2', '1/9')`],
    ['a forgotten account', 'DELETE FROM account'],
    ['an account as it was at first', `UPDATE account SET totals = '${emptyText}', entries = 0`],
    ['a lowered analyst total', `UPDATE analyst SET totals = replace(totals, '1/2', '1/9')`],
    ['a forgotten analyst', 'DELETE FROM analyst'],
    ['a trigger', 'CREATE TRIGGER t AFTER INSERT ON link BEGIN DELETE FROM account; END'],
    ['a view', 'CREATE VIEW v AS SELECT 1'],
    ['bytes that are no text', `UPDATE account SET totals = CAST(x'ff5b' AS TEXT)`],
    ['the newest entry changed', `UPDATE link SET body = replace(body, 'answer', 'spend') WHERE sequence = 11`],
  ])('stops the next reservation at once: %s', async (_what, sql) => {
    await filled();
    tamper(sql);
    expect(await codeOf(ledgerAt().then((ledger) => ledger.reserve(asking())))).toBe('LEDGER_CORRUPT');
    expect(await codeOf(ledgerAt().then((ledger) => ledger.spent('town', 'ann')))).toBe('LEDGER_CORRUPT');
  });

  it('does not replay a changed answer', async () => {
    await filled();
    tamper(`UPDATE answer SET body = 'answer 9'`);
    expect(await codeOf((await ledgerAt()).replay('town', 'k1'))).toBe('LEDGER_CORRUPT');
  });

  it('is refused when the file is something else', async () => {
    const other = join(folder, 'other.db');
    writeFileSync(other, 'not a database '.repeat(100));
    expect(await codeOf(ledgerAt(other))).toBe('LEDGER_CORRUPT');
    const foreign = join(folder, 'foreign.db');
    const db = new Database(foreign);
    db.exec('CREATE TABLE holiday (photo TEXT)');
    db.close();
    expect(await codeOf(ledgerAt(foreign))).toBe('LEDGER_CORRUPT');
  });

  it('is reported, not crashed on, when pages are overwritten', async () => {
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

  it('loses nothing with a log that was cut, spoilt or deleted: the chain file brings it back', async () => {
    const ledger = await ledgerAt();
    for (let i = 0; i < 5; i++) await ledger.settle(await ledger.reserve(asking({ key: `k${i}` })), `answer ${i}`);
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
      await survivor.reserve(asking({ key: 'next' }));
      expect((await survivor.verify()).ok).toBe(true);
    }
  });
});

describe('a place that cannot hold a ledger', () => {
  it('is refused with what to do: a folder, a file as folder, a server address', async () => {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    expect(await codeOf(ledgerAt(folder))).toBe('READ_ONLY');
    expect(await codeOf(ledgerAt(join(file, 'ledger.db')))).toBe('READ_ONLY');
    expect(await codeOf(ledgerAt('postgres://somewhere/x'))).toBe('POLICY_INVALID');
  });

  it.skipIf(process.platform !== 'linux')('is refused before it is opened: a pipe, a device, a file of the system', async () => {
    const pipe = join(folder, 'pipe');
    expect(spawnSync('mkfifo', [pipe]).status).toBe(0);
    for (const path of [pipe, '/dev/zero', '/proc/uptime', '/proc/kmsg']) expect(await codeOf(ledgerAt(path))).toBe('READ_ONLY');
    const beside = join(folder, 'beside.db');
    for (const end of ['-wal', '-journal']) {
      writeFileSync(beside, '');
      renameSync(pipe, `${beside}${end}`);
      expect(await codeOf(ledgerAt(beside))).toBe('READ_ONLY');
      renameSync(`${beside}${end}`, pipe);
    }
    await ledgerAt(beside);
  });

  const root = process.getuid?.() === 0;
  it.skipIf(root)('is refused as read-only when the folder may not be written', async () => {
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
  describe.skipIf(!canMount)('on a small disk (needs the right to mount)', () => {
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

    it('says the disk is full, keeps every acknowledged entry and works again when there is room', async () => {
      const ledger = await ledgerAt(join(disk, 'ledger.db'));
      let kept = 0;
      let code = '';
      while (code === '' && kept < 500) {
        code = await ledger.reserve(asking({ key: `k${kept}`, label: 'x'.repeat(8000) })).then(
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
      await ledger.reserve(asking({ key: 'later' }));
      expect(await ledger.verify()).toMatchObject({ ok: true, entries: kept + 1 });
    });

    it('says the place is read-only', async () => {
      await (await ledgerAt(join(disk, 'ledger.db'))).reserve(asking());
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
