import { chmodSync, copyFileSync, existsSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  askingOfAnn,
  failureOf,
  folderTerms,
  type LedgerFolder,
  ledgerFolder,
  spentByAnalyst as spent,
} from '../../../../test/ledger-folder.js';
import { commandWitness } from '../chain/witness.js';
import { backupStorage, restoreStorage } from './backup.js';
import { recoverStorage } from './recover.js';

let room: LedgerFolder;
let folder: string;
let place: string;
beforeEach(() => {
  room = ledgerFolder();
  ({ folder, place } = room);
});
afterEach(() => room.close());
const ledgerAt = (witness?: string) => room.ledgerAt(place, witness);
/** A ledger of three answered entries, closed. */
const filled = async (count = 3): Promise<void> => {
  const ledger = await ledgerAt();
  for (let i = 0; i < count; i++) await ledger.commit(await ledger.reserve(askingOfAnn({ key: `k${i}` })), `answer ${i}`);
  await ledger.close();
};
const remove = (...ends: string[]) => room.without(...ends);
const flip = (path: string, at: number) => {
  const bytes = readFileSync(path);
  bytes[at]! ^= 1;
  writeFileSync(path, bytes);
};

describe('recovering a ledger', () => {
  it('recovery rebuilds a damaged index from the chain file, exactly, and keeps the old files', async () => {
    await filled();
    writeFileSync(place, 'not a database '.repeat(1000));
    expect(await failureOf(ledgerAt())).toMatchObject({ code: 'LEDGER_CORRUPT' });
    const done = recoverStorage(place, 'bad sector');
    expect(done).toMatchObject({ from: 'chain file', entries: 3, incomplete: false, closed: [], textsLost: 3 });
    const ledger = await ledgerAt();
    expect(await spent(ledger)).toBe('3/10');
    await ledger.reserve(askingOfAnn({ key: 'next' }));
    expect(await ledger.verify()).toMatchObject({ ok: true, entries: 4 });
    expect(done.kept.every((path) => existsSync(path))).toBe(true);
    expect(readdirSync(folder).filter((name) => name.includes('.new') || name.includes('.tmp'))).toEqual([]);
  });

  it('recovery rebuilds a chain file with a damaged line from the index, exactly', async () => {
    await filled();
    flip(`${place}.chain`, 100);
    const ledger = await ledgerAt();
    expect(await ledger.verify()).toMatchObject({ ok: false, brokenAt: 1 });
    await ledger.close();
    expect(recoverStorage(place, 'bad sector')).toMatchObject({ from: 'index', incomplete: false, closed: [], textsLost: 0 });
    const again = await ledgerAt();
    expect(await again.verify()).toMatchObject({ ok: true, entries: 3 });
    expect((await again.replay('town', 'k2'))?.answer).toBe('answer 2');
  });

  it.each([
    ['gone', () => remove('.chain')],
    ['cut', () => truncateSync(`${place}.chain`, 1500)],
    ['blank', () => writeFileSync(`${place}.chain`, Buffer.alloc(65_536))],
  ])('recovery closes the accounts when the end of the chain is lost: chain file %s', async (_what, damage) => {
    await filled();
    damage();
    expect(recoverStorage(place, 'restored disk')).toMatchObject({ entries: 3, incomplete: true, closed: ['town'] });
    const ledger = await ledgerAt();
    expect(await spent(ledger)).toBe('3/10');
    expect(await failureOf(ledger.reserve(askingOfAnn()))).toMatchObject({
      code: 'LEDGER_CORRUPT',
      outcome: { state: 'not spent' },
    });
    expect(await failureOf(ledger.reserve(askingOfAnn({ population: 'never seen' })))).toMatchObject({ code: 'LEDGER_CORRUPT' });
    await ledger.amend('town', folderTerms, 'nothing was released since');
    await ledger.reserve(askingOfAnn({ key: 'next' }));
    await ledger.amend('never seen', folderTerms, 'there was none');
    await ledger.reserve(askingOfAnn({ population: 'never seen' }));
    expect(await spent(ledger)).toBe('2/5');
    expect(await ledger.verify()).toMatchObject({ ok: true });
  });

  it('recovery takes the longest sound beginning when both copies are damaged, and closes the accounts', async () => {
    await filled(6);
    const lines = readFileSync(`${place}.chain`, 'latin1').split('\n');
    const at = (n: number) => lines.slice(0, n).join('\n').length + 80;
    flip(`${place}.chain`, at(5));
    const db = new Database(place);
    db.exec(`UPDATE link SET body = replace(body, '1/10', '1/99') WHERE sequence = 10`);
    db.close();
    expect(recoverStorage(place, 'both')).toMatchObject({ from: 'index', incomplete: true, closed: ['town'] });
    expect(await spent(await ledgerAt())).toBe('2/5');
  });

  it('a process with the old files open is refused after recovery', async () => {
    const ledger = await ledgerAt();
    await ledger.reserve(askingOfAnn());
    recoverStorage(place, 'while open');
    expect(await failureOf(ledger.reserve(askingOfAnn({ key: 'k2' })))).toMatchObject({
      code: 'LEDGER_CORRUPT',
      outcome: { state: 'not spent' },
    });
    expect(await spent(await ledgerAt())).toBe('1/10');
  });
});

describe('a backup', () => {
  const file = () => join(folder, 'backup.txt');

  it('a backup never takes back costs: a sound ledger with more entries is left as it is', async () => {
    await filled();
    await backupStorage(place, file());
    await (await ledgerAt()).reserve(askingOfAnn({ key: 'later' }));
    expect(await failureOf(restoreStorage(place, file(), 'why'))).toMatchObject({ code: 'LEDGER_MISMATCH' });
    expect(await spent(await ledgerAt())).toBe('2/5');
  });

  it('a backup restores a deleted ledger with its answers, closed until the terms are amended', async () => {
    await filled();
    await backupStorage(place, file());
    remove('', '-wal', '-shm', '.chain');
    expect(await failureOf(restoreStorage(place, file(), undefined))).toMatchObject({ code: 'USAGE' });
    const done = await restoreStorage(place, file(), 'stolen machine');
    expect(done).toMatchObject({
      kind: 'ledger',
      recovery: { from: 'backup', incomplete: true, closed: ['town'], textsLost: 0 },
    });
    const ledger = await ledgerAt();
    expect(await spent(ledger)).toBe('3/10');
    expect((await ledger.replay('town', 'k1'))?.answer).toBe('answer 1');
    expect(await failureOf(ledger.reserve(askingOfAnn()))).toMatchObject({ code: 'LEDGER_CORRUPT' });
  });

  it('a backup that is cut, changed or of another ledger is refused', async () => {
    await filled();
    await backupStorage(place, file());
    const text = readFileSync(file(), 'utf8');
    for (const [name, bad] of [
      ['cut', text.slice(0, -20)],
      ['changed', text.replace('1/10', '1/99')],
      ['empty', ''],
    ] as const) {
      writeFileSync(join(folder, name), bad);
      expect(await failureOf(restoreStorage(place, join(folder, name), 'why')), name).toMatchObject({ code: 'DATA_MALFORMED' });
    }
    for (const nothing of ['/dev/zero', '/proc/self/mem', folder])
      expect((await failureOf(restoreStorage(place, nothing, 'why'))).code, nothing).toMatch(/DATA_MALFORMED|DATA_NOT_FOUND/);
    remove('', '-wal', '-shm', '.chain');
    await (await ledgerAt()).reserve(askingOfAnn({ key: 'another life' }));
    expect(await failureOf(restoreStorage(place, file(), 'why'))).toMatchObject({ code: 'LEDGER_MISMATCH' });
  });
});

describe('a witness', () => {
  const witness = (): string => {
    const script = join(folder, 'witness.sh');
    writeFileSync(
      script,
      `#!/bin/sh\n[ -e "${folder}/deaf" ] && exit 1\nif [ "$1" = get ]; then cat "${folder}/head" 2>/dev/null; exit 0; fi\n[ -e "${folder}/full" ] && exit 1\necho "$2 $3" > "${folder}/head"\n`,
    );
    chmodSync(script, 0o700);
    return script;
  };

  it('a witness notices entries that both files have lost', async () => {
    const command = witness();
    const ledger = await ledgerAt(command);
    await ledger.reserve(askingOfAnn());
    await ledger.close();
    for (const end of ['', '.chain']) copyFileSync(`${place}${end}`, join(folder, `older${end}`));
    const later = await ledgerAt(command);
    await later.reserve(askingOfAnn({ key: 'k2' }));
    await later.close();
    for (const end of ['', '.chain']) copyFileSync(join(folder, `older${end}`), `${place}${end}`);
    expect(await failureOf(ledgerAt(command))).toMatchObject({
      code: 'LEDGER_CORRUPT',
      message: expect.stringMatching(/witness/),
    });
    expect(recoverStorage(place, 'old disk', commandWitness(command))).toMatchObject({ incomplete: true, closed: ['town'] });
    await ledgerAt(command);
  });

  it('a witness stops an open ledger at the next reservation, and is notified before it returns', async () => {
    const command = witness();
    const ledger = await ledgerAt(command);
    const { sequence, hash } = await ledger.reserve(askingOfAnn());
    expect(readFileSync(join(folder, 'head'), 'utf8')).toBe(`${sequence} ${hash}\n`);
    writeFileSync(join(folder, 'head'), `${sequence} ${'0'.repeat(64)}`);
    expect(await failureOf(ledger.reserve(askingOfAnn({ key: 'k2' })))).toMatchObject({ outcome: { state: 'not spent' } });
  });

  it('a reservation is refused when the witness cannot be read, and spent when it cannot be notified', async () => {
    const command = witness();
    const ledger = await ledgerAt(command);
    const entry = await ledger.reserve(askingOfAnn());
    writeFileSync(join(folder, 'full'), '');
    const outcome = { state: 'spent', entry: 3, resumable: false };
    expect(await failureOf(ledger.reserve(askingOfAnn({ key: 'k2' })))).toMatchObject({ code: 'DISK_FAILED', outcome });
    expect(await failureOf(ledger.commit(entry, 'text'))).toMatchObject({
      outcome: { state: 'recorded', entry: entry.sequence },
    });
    expect((await ledger.replay('town', 'k1'))?.answer).toBe('text');
    writeFileSync(join(folder, 'deaf'), '');
    expect(await failureOf(ledger.reserve(askingOfAnn({ key: 'k3' })))).toMatchObject({ outcome: { state: 'not spent' } });
    expect(await failureOf(ledgerAt(command))).toMatchObject({ code: 'DISK_FAILED' });
    expect(await spent(ledger)).toBe('1/5');
  });
});

describe('a ledger from before the chain file', () => {
  const former = join(import.meta.dirname, '..', '..', '..', '..', 'test', 'fixtures', 'ledger-before-chain-file.db');

  it('a ledger from before the chain file is upgraded once, with its answers', async () => {
    copyFileSync(former, place);
    const ledger = await ledgerAt();
    expect(await spent(ledger)).toBe('1/2');
    expect((await ledger.account('town'))?.terms).toEqual({ digest: 'd2', summary: 'epsilon 2, secret row' });
    expect((await ledger.replay('town', 'k2'))?.answer).toBe('{"n":2}');
    expect((await ledger.entries('town')).map((e) => [e.key, e.settled])).toEqual([
      ['k1', true],
      ['k2', true],
      ['k3', true],
      ['unanswered', false],
      ['after', false],
    ]);
    await ledger.reserve(askingOfAnn({ terms: { digest: 'd2', summary: 'epsilon 2, secret row' }, key: 'new' }));
    expect(await ledger.verify()).toMatchObject({ ok: true, entries: 7 });
    expect(existsSync(`${place}.chain`)).toBe(true);
    await ledger.close();
    copyFileSync(former, place);
    expect(await spent(await ledgerAt())).toBe('3/5');
  });

  it('a ledger from before the chain file is refused when it is inconsistent', async () => {
    copyFileSync(former, place);
    const db = new Database(place);
    db.exec('DELETE FROM account');
    db.close();
    expect(await failureOf(ledgerAt())).toMatchObject({ code: 'LEDGER_CORRUPT' });
    expect(existsSync(`${place}.chain`)).toBe(false);
  });
});
