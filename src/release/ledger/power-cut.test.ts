import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  type LedgerFolder,
  ledgerFolder,
  askingOfAnn as reservationByAnn,
  spentByAnalyst as spent,
} from '../../../test/ledger-folder.js';
import { beginning, type ChainEnd, endOf, type Link } from './chain/chain.js';
import { readChain } from './chain/file.js';
import { sectorsOf } from './chain/lines.js';
import { follow, linkFrom, MemoryBooks } from './index/accounts.js';
import { emptyText } from './index/total.js';
import type { Ledger, Reservation } from './ledger.js';

/** Boot of the machine, number of in-place syncs, and the texts written and synced since then. */
const machine = vi.hoisted(() => ({ boot: '', syncs: 0, failing: false, written: [] as string[] }));
vi.mock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>();
  const read = fs.readFileSync as (...words: unknown[]) => unknown;
  return {
    ...fs,
    readFileSync: (path: unknown, ...words: unknown[]) => {
      if (path !== '/proc/sys/kernel/random/boot_id') return read(path, ...words);
      if (machine.boot === '') throw Object.assign(new Error('none'), { code: 'ENOENT' });
      return `${machine.boot}\n`;
    },
    writeSync: (fd: number, bytes: Buffer, ...rest: (number | null)[]) => {
      machine.written.push(bytes.toString('latin1'));
      return (fs.writeSync as (...words: unknown[]) => number)(fd, bytes, ...rest);
    },
    fdatasyncSync: (fd: number) => {
      machine.syncs++;
      if (machine.failing) throw Object.assign(new Error('EIO'), { code: 'EIO' });
      fs.fdatasyncSync(fd);
    },
  };
});
const boots = ['0b6f2c1e-0000-4000-8000-000000000001', '0b6f2c1e-0000-4000-8000-000000000002'] as const;

let room: LedgerFolder;
let folder: string;
let place: string;
beforeEach(() => {
  room = ledgerFolder();
  ({ folder, place } = room);
  Object.assign(machine, { boot: boots[0], syncs: 0, failing: false, written: [] });
});
afterEach(async () => {
  machine.failing = false;
  await room.close();
});
const ledgerAt = () => room.ledgerAt();
const reservation = (key: string, over: Partial<Reservation> = {}): Reservation =>
  reservationByAnn({ key, label: `count ${'x'.repeat(600)}`, resumable: true, ...over });
const refused = { code: 'LEDGER_CORRUPT' };

const chain = (): string => `${place}.chain`;
const linesOf = () =>
  readChain(chain())
    .links.map((stored) => ({ ...stored, link: JSON.parse(stored.body) as Link, end: 0 }))
    .map((line, i, all) => ({
      ...line,
      end: all[i + 1]?.offset ?? line.offset + Buffer.byteLength(line.body) + 66,
    }));
/** As if these bytes had never reached the disk. */
const lose = (...ranges: (readonly [number, number])[]) => {
  const bytes = readFileSync(chain());
  for (const [from, to] of ranges) bytes.fill(0, from, to);
  writeFileSync(chain(), bytes);
};
/** All sectors of a line but those that hold its end. */
const beginningOf = ({ offset, end }: { readonly offset: number; readonly end: number }) => [offset, end - (end % 512)] as const;
/** Two entries, then their answers; the index may be kept as of a given step. */
async function filled(keepAfter?: 'k0 booked' | 'both booked' | 'first answer'): Promise<void> {
  const kept = async (step: typeof keepAfter, ledger: Ledger) => {
    if (step !== keepAfter) return ledger;
    await ledger.close();
    copyFileSync(place, join(folder, 'older'));
    return ledgerAt();
  };
  let ledger = await ledgerAt();
  const first = await ledger.reserve(reservation('k0'));
  ledger = await kept('k0 booked', ledger);
  const second = await ledger.reserve(reservation('k1'));
  ledger = await kept('both booked', ledger);
  await ledger.commit(first, `answer 0 ${'x'.repeat(600)}`);
  ledger = await kept('first answer', ledger);
  await ledger.commit(second, `answer 1 ${'x'.repeat(600)}`);
  await ledger.close();
  if (keepAfter) copyFileSync(join(folder, 'older'), place);
}

describe('the sync of a recorded answer', () => {
  it('an answer needs no sync where the boot of the machine is known, and the next reservation syncs it', async () => {
    const ledger = await ledgerAt();
    const entry = await ledger.reserve(reservation('k0'));
    machine.syncs = 0;
    await ledger.commit(entry, 'text');
    expect(machine.syncs).toBe(0);
    await ledger.reserve(reservation('k1'));
    expect(machine.syncs).toBe(1);
    await ledger.commit(await ledger.reserve(reservation('k2')), 'text');
    await ledger.close();
    expect(machine.syncs).toBe(3);
  });

  it('an answer is synced where the boot is unknown, or where a witness hears of it', async () => {
    machine.boot = '';
    const ledger = await ledgerAt();
    const entry = await ledger.reserve(reservation('k0'));
    machine.syncs = 0;
    await ledger.commit(entry, 'text');
    expect(machine.syncs).toBe(1);
    machine.boot = boots[0];
    const witnessed = await room.ledgerAt(place, 'true');
    const other = await witnessed.reserve(reservation('k1'));
    machine.syncs = 0;
    await witnessed.commit(other, 'text');
    expect(machine.syncs).toBe(1);
  });

  it('a failed sync of an answer reports that the entry can be resumed', async () => {
    machine.boot = '';
    const ledger = await ledgerAt();
    const entry = await ledger.reserve(reservation('k0'));
    machine.failing = true;
    await expect(ledger.commit(entry, 'text')).rejects.toMatchObject({ code: 'DISK_FAILED', outcome: { state: 'spent' } });
    machine.failing = false;
    expect(await ledger.reserve(reservation('k0'))).toMatchObject({ sequence: entry.sequence, resumed: true });
  });
});

describe('a line that was read from the chain file', () => {
  it('a line read from the file is written and synced again before it counts, with the answers before it', async () => {
    const first = await ledgerAt();
    await first.commit(await first.reserve(reservation('k0')), 'text');
    machine.failing = true;
    await expect(first.reserve(reservation('k1'))).rejects.toMatchObject({ outcome: { state: 'spent', entry: 4 } });
    machine.failing = false;
    const [, , answer, booked] = linesOf();
    Object.assign(machine, { written: [], syncs: 0 });
    const second = await ledgerAt();
    expect(machine.written.join('')).toContain(answer!.body);
    expect(machine.written.join('')).toContain(booked!.body);
    expect(machine.syncs).toBe(1);
    expect(await spent(second)).toBe('1/5');
  });
});

describe('an entry without an answer', () => {
  it('an entry without an answer is resumed under the same boot only', async () => {
    const { sequence } = await (await ledgerAt()).reserve(reservation('k0'));
    const same = await ledgerAt();
    expect(await same.unanswered?.('town', 'k0')).toMatchObject({ sequence });
    expect(await same.reserve(reservation('k0'))).toMatchObject({ sequence, resumed: true });
    for (const boot of [boots[1], '']) {
      machine.boot = boot;
      const other = await ledgerAt();
      expect(await other.unanswered?.('town', 'k0')).toBeUndefined();
      expect((await other.reserve(reservation('k0'))).resumed).toBeUndefined();
    }
    expect(await spent(same)).toBe('3/10');
  });
});

describe('a ledger after a power cut', () => {
  it('answers that only the index kept are written to the chain file again, whichever sectors were lost', async () => {
    await filled();
    const lines = linesOf();
    const whole = readFileSync(chain());
    const [from, to] = [lines.at(-2)!.offset, lines.at(-1)!.end];
    const sectors = sectorsOf(from, to - from).map(([start, stop]) => [from + start, from + stop] as const);
    expect(sectors.length).toBeGreaterThan(1);
    machine.boot = boots[1];
    for (let lost = 1; lost < 2 ** sectors.length; lost++) {
      lose(...sectors.filter((_, i) => (lost >> i) & 1));
      const ledger = await ledgerAt();
      expect(readFileSync(chain()).equals(whole)).toBe(true);
      expect(await spent(ledger)).toBe('1/5');
      expect((await ledger.replay('town', 'k1'))?.answer).toMatch(/^answer 1/);
      await ledger.close();
    }
    expect(await (await ledgerAt()).verify()).toMatchObject({ ok: true, entries: 2 });
  });

  it('answers that neither file kept are lost, whichever sectors are missing, and their requests pay again', async () => {
    await filled('both booked');
    const lines = linesOf();
    const [from, to] = [lines.at(-2)!.offset, lines.at(-1)!.end];
    const sectors = sectorsOf(from, to - from).map(([start, stop]) => [from + start, from + stop] as const);
    const whole = readFileSync(chain());
    machine.boot = boots[1];
    for (let lost = 1; lost < 2 ** sectors.length; lost++) {
      copyFileSync(join(folder, 'older'), place);
      writeFileSync(chain(), whole);
      lose(...sectors.filter((_, i) => (lost >> i) & 1));
      const ledger = await ledgerAt();
      expect(await spent(ledger)).toBe('1/5');
      expect((await ledger.reserve(reservation('k1'))).resumed).toBeUndefined();
      expect(await spent(ledger)).toBe('3/10');
      await ledger.close();
    }
    expect(await (await ledgerAt()).verify()).toMatchObject({ ok: true, entries: 3 });
  });

  it.each([
    ['first answer', '3/10'],
    ['both booked', '1/5'],
  ] as const)('a reservation behind lost answers counts: with the index of "%s" %s is spent', async (kept, total) => {
    await filled(kept);
    const last = await ledgerAt();
    await last.reserve(reservation('k2'));
    await last.close();
    const answer = linesOf()[3]!;
    copyFileSync(join(folder, 'older'), place);
    lose(beginningOf(answer));
    const ledger = await ledgerAt();
    expect(await spent(ledger)).toBe(total);
    expect((await ledger.verify()).ok).toBe(true);
  });

  it('a ledger without the line of a reservation is refused, whatever its index and whatever follows', async () => {
    const at = (kind: Link['kind']) => linesOf().filter(({ link }) => link.kind === kind);
    await filled();
    const whole = readFileSync(chain());
    const spends = at('spend');
    const end = linesOf().at(-1)!.end;
    for (const range of [
      [spends[1]!.offset, end],
      [spends[0]!.offset, end],
      [0, end],
    ] as const) {
      writeFileSync(chain(), whole);
      lose(range);
      await expect(ledgerAt()).rejects.toMatchObject(refused);
    }
  });

  it('an answer that refers to a missing reservation shows its loss, even without the index', async () => {
    await filled('k0 booked');
    const second = linesOf()[2];
    const whole = readFileSync(chain());
    lose(beginningOf(second!));
    await expect(ledgerAt()).rejects.toMatchObject(refused);
    // The last line alone, with the reservation and the first answer before it lost.
    writeFileSync(chain(), whole);
    const lines = linesOf();
    lose([lines[2]!.offset, beginningOf(lines[3]!)[1]]);
    await expect(ledgerAt()).rejects.toMatchObject(refused);
  });

  it('a last answer that was altered, not just lost, is refused', async () => {
    await filled();
    const bytes = readFileSync(chain());
    bytes[linesOf().at(-1)!.end - 20]! ^= 1;
    writeFileSync(chain(), bytes);
    await expect(ledgerAt()).rejects.toMatchObject(refused);
  });

  it('an index with a forged answer that pins smaller totals is refused', async () => {
    await filled();
    const books = new MemoryBooks();
    let end: ChainEnd = beginning;
    for (const { link, ...stored } of linesOf()) {
      follow(books, link);
      end = endOf(stored, link);
    }
    const state = { ...books.account('town')!, totals: emptyText };
    books.keep({ accounts: new Map([['town', state]]) });
    const { stored } = linkFrom(books, end, { kind: 'answer', population: 'town', at: 1, of: 2, answer: 'x' });
    const { after, root } = JSON.parse(stored.body) as { after: string; root: string };
    expect(root).toHaveLength(64);
    const db = new Database(place);
    db.prepare('INSERT INTO link (sequence, "offset", population, key, hash, body) VALUES (?, ?, ?, NULL, ?, ?)').run(
      stored.sequence,
      stored.offset,
      'town',
      stored.hash,
      stored.body,
    );
    db.prepare('UPDATE account SET totals = ?, state = ?').run(emptyText, after);
    db.close();
    await expect(ledgerAt()).rejects.toMatchObject(refused);
  });
});
