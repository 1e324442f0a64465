import { changedFault, Fault, type Outcome } from '../../base/errors.js';
import { accessSync, constants, existsSync, statfsSync, statSync } from '../../base/platform/files.js';
import { dirname } from '../../base/platform/paths.js';
import { BrokenChain } from './chain/chain.js';

const recoverHint =
  'Stop releasing and run "fugu ledger POLICY recover --reason TEXT": it rebuilds the ledger from what is sound and never gives budget back. A backup comes back with "fugu ledger POLICY restore FILE".';

export const corrupt = (place: string, what: string): Fault =>
  new Fault('LEDGER_CORRUPT', `The ledger is damaged: ${what}.`, recoverHint, { place: { file: place } });

const readOnly = (place: string) =>
  new Fault(
    'READ_ONLY',
    'The ledger cannot be written.',
    'Give this user write access to the ledger and its folder. For accounts that share a ledger: chgrp GROUP FOLDER, chmod g+rws FOLDER, and chmod g+rw on the ledger files in it.',
    { place: { file: place } },
  );
const full = (place: string) =>
  new Fault('DISK_FULL', 'There is no room left to write the ledger.', 'Free some disk space and try again.', {
    place: { file: place },
  });
const failed = (place: string) =>
  new Fault(
    'DISK_FAILED',
    'The disk failed to read or write the ledger.',
    'Look at the system log and the state of the disk, then run "fugu ledger POLICY verify".',
    { place: { file: place } },
  );
const manyFiles = (place: string) =>
  new Fault('DISK_FAILED', 'Too many files are open to open the ledger.', 'Close some, or raise the limit (ulimit -n).', {
    place: { file: place },
  });
export const busyFault = (place: string): Fault =>
  new Fault(
    'LEDGER_BUSY',
    'The ledger stayed locked by another process.',
    'Try again; if it persists, look for a process that holds the ledger open in a transaction.',
    { place: { file: place } },
  );
/** SQLite keeps its latest writes next to the name it was opened by: under another name they would not be seen. */
export const severalNames = (place: string): Fault =>
  new Fault(
    'LEDGER_MISMATCH',
    'The ledger file has a second name (a hard link), under which spending would be missed.',
    'Remove the other name; a link with "ln -s" is safe.',
    { place: { file: place } },
  );

const freeBytes = (place: string): number => {
  try {
    const { bavail, bsize } = statfsSync(dirname(place));
    return bavail * bsize;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
};
/** SQLite does not say why it cannot open a file. */
const writable = (place: string): boolean => {
  try {
    if (existsSync(place) && !statSync(place).isFile()) return false;
    if (existsSync(place)) accessSync(place, constants.R_OK | constants.W_OK);
    accessSync(dirname(place), constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
};
const unwritten = (place: string): Fault => (writable(place) ? failed(place) : readOnly(place));
const isNearlyFull = (place: string): boolean => freeBytes(place) < 65_536;

/** A disk that is far from full is checked once a second. */
const plenty = 1 << 26;
const checkedUntil = new Map<string, number>();
/** Checked before anything is reserved: the index takes some pages for every link. */
export function checkFreeSpace(place: string, bytes: number): void {
  const now = performance.now();
  if (bytes < plenty && now < (checkedUntil.get(place) ?? 0)) return;
  const left = freeBytes(place);
  if (left < bytes) throw full(place);
  checkedUntil.set(place, left > 2 * plenty ? now + 1000 : 0);
}

const byNode: Record<string, (place: string) => Fault> = {
  ENOSPC: full,
  EDQUOT: full,
  EFBIG: full,
  EROFS: readOnly,
  EACCES: readOnly,
  EPERM: readOnly,
  EISDIR: readOnly,
  ENOTDIR: readOnly,
  ENOENT: readOnly,
  EEXIST: readOnly,
  EIO: failed,
  ENXIO: failed,
  ENODEV: failed,
  ESTALE: failed,
  EBADF: failed,
  EMFILE: manyFiles,
  ENFILE: manyFiles,
};
/** SQLite's primary result codes. */
const bySqlite: Record<number, (place: string) => Fault> = {
  1: (place) => corrupt(place, 'SQLite cannot read it'),
  3: readOnly,
  5: busyFault,
  6: busyFault,
  // If opening for writing fails, SQLite opens for reading.
  8: unwritten,
  10: (place) => (isNearlyFull(place) ? full(place) : failed(place)),
  11: (place) => corrupt(place, 'SQLite finds the file malformed'),
  13: full,
  14: (place) => (isNearlyFull(place) ? full(place) : unwritten(place)),
  19: (place) => corrupt(place, 'what is to be written contradicts what is there'),
  20: (place) => corrupt(place, 'a column holds another type than it must'),
  26: (place) => corrupt(place, 'the file is not a SQLite database'),
};
export const sqliteCode = (error: unknown): number | undefined => {
  const { rawCode, message } = error as { rawCode?: number; message?: string };
  if (typeof rawCode === 'number') return rawCode & 0xff;
  const opening = /^ConnectionFailed\(.*: (\d+)"\)$/.exec(message ?? '');
  return opening ? Number(opening[1]) & 0xff : undefined;
};

/** Driver and system errors as faults; other errors pass unchanged. */
export function ledgerFault(error: unknown, place: string): unknown {
  if (error instanceof Fault) return error;
  if (error instanceof BrokenChain) return corrupt(place, error.message);
  const known = bySqlite[sqliteCode(error) ?? -1] ?? byNode[(error as NodeJS.ErrnoException).code ?? ''];
  return known ? known(place) : error;
}

/** SQLite read less than it needed: truncated files, not a failing disk. */
const shortRead = 522;
const errnosOfDisk = ['EIO', 'ENOSPC', 'EDQUOT', 'EFBIG', 'EROFS', 'ENXIO', 'ENODEV', 'ESTALE', 'EMFILE', 'ENFILE'];

/** The fault where the disk failed, not its content: a file that could not be read this time is not damaged. */
export function faultOfDisk(error: unknown, place: string): Fault | undefined {
  const { rawCode, code = '' } = error as { rawCode?: number; code?: string };
  const blamed = [8, 10, 13, 14].includes(sqliteCode(error) ?? -1) ? rawCode !== shortRead : errnosOfDisk.includes(code);
  const fault = blamed ? ledgerFault(error, place) : undefined;
  return fault instanceof Fault ? fault : undefined;
}

/** What a failed write ended in: the outcome for the budget, or a text to add where no cost was reserved. */
export type Ending = Outcome | string;
export function withEnding(fault: Fault, end: Ending | undefined): Fault {
  if (end === undefined) return fault;
  return changedFault(fault, typeof end === 'string' ? { hint: `${fault.hint} ${end}` } : { outcome: end });
}

/** The same fault with the outcome for the budget; an outcome already attached stays. */
export const withFinalOutcome = (error: unknown, outcome: Outcome): unknown =>
  error instanceof Fault && !error.outcome ? changedFault(error, { outcome }) : error;
