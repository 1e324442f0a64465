import { Fault } from '../../base/errors.js';
import { makeFolder, syncFolder } from '../../base/files/folder.js';
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  lstatSync,
  openSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
} from '../../base/platform/files.js';
import { basename, dirname, join, resolve } from '../../base/platform/paths.js';
import { chainPath, type LedgerChainFile } from './chain/file.js';
import { severalNames } from './faults.js';
import { makeLedgerFile } from './ledger-file.js';

/** The real path behind all links: SQLite keeps its log next to the real name, so the chain file must be there too. */
export function realPlace(place: string): string {
  for (let name = resolve(place), hops = 0; hops < 40; hops++) {
    try {
      return realpathSync(name);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
    const link = lstatSync(name, { throwIfNoEntry: false });
    if (link?.isSymbolicLink()) name = resolve(dirname(name), readlinkSync(name));
    else return existsSync(dirname(name)) ? join(realpathSync(dirname(name)), basename(name)) : name;
  }
  return place;
}

/** SQLite would wait for ever on a device, a pipe or a system file. */
export function checkKinds(place: string): void {
  for (const path of [place, `${place}-wal`, `${place}-shm`, `${place}-journal`]) {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found && !found.isFile()) throw noLedgerFile(path);
  }
  // Files of /proc and the like report size zero; nothing can be created next to them.
  if (statSync(place, { throwIfNoEntry: false })?.size !== 0 || existsSync(chainPath(place))) return;
  const probe = `${place}.${process.pid}.tmp`;
  rmSync(probe, { force: true });
  try {
    closeSync(openSync(probe, 'wx', 0o600));
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'ENOENT' ? noLedgerFile(place) : error;
  }
  rmSync(probe, { force: true });
}

const noLedgerFile = (path: string): Fault =>
  new Fault('READ_ONLY', `${basename(path)} is no file that a ledger can be kept in.`, 'Name an ordinary file after ledger:.', {
    place: { file: path },
  });

/**
 * An existing file is never opened here: closing it would drop every lock of this process on it (POSIX), also those of other connections,
 * and another process could then remove the write-ahead log under them.
 */
export function makeFile(place: string): void {
  checkKinds(place);
  if (existsSync(place)) {
    accessSync(place, constants.R_OK | constants.W_OK);
    if (statSync(place).nlink > 1) throw severalNames(place);
    return;
  }
  makeFolder(dirname(place), 0o700);
  try {
    closeSync(makeLedgerFile(place, 'ax'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  syncFolder(dirname(place));
}

/** `chain` checks only the file that a recovery replaces first, and the one that carries the lock. */
export function filesOf(place: string, writeAhead: boolean, chain: LedgerChainFile): (among: 'all' | 'chain') => void {
  const shared = `${place}-shm`;
  const known = (path: string) => ({ path, ...identity(path) });
  const first = [{ ...known(chain.path), ...chain.identity(), size: 0 }, ...(writeAhead ? [known(shared)] : [])];
  const all = [...first, known(place), ...(writeAhead ? [known(`${place}-wal`)] : [])];
  return (among) => {
    for (const { path, dev, ino, size } of among === 'all' ? all : first) {
      const now = identity(path);
      // Truncated shared memory would crash the process when it is touched.
      if (now.dev !== dev || now.ino !== ino || (path === shared && now.size < size)) throw replaced(path);
    }
  };
}

/** The memory that SQLite shares between processes, where there is one. */
export function sharedMemory(place: string): { readonly size: number } | undefined {
  const found = identity(`${place}-shm`);
  return found.ino === -1 ? undefined : found;
}

function identity(path: string): { readonly dev: number; readonly ino: number; readonly size: number } {
  const { dev, ino, size } = statSync(path, { throwIfNoEntry: false }) ?? { dev: -1, ino: -1, size: 0 };
  return { dev, ino, size };
}

export const replaced = (path: string): Fault =>
  new Fault(
    'LEDGER_CORRUPT',
    `${basename(path)} was replaced or deleted while the ledger was open.`,
    'If that was a restore or recovery, start again; otherwise put the file back, or run "fugu ledger POLICY recover --reason TEXT".',
    { place: { file: path } },
  );
