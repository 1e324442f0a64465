import { remove } from '../../../base/files/file-draft.js';
import { syncFolder } from '../../../base/files/folder.js';
import {
  closeSync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from '../../../base/platform/files.js';
import { dirname } from '../../../base/platform/paths.js';
import { makeLedgerFile } from '../ledger-file.js';
import { BrokenChain, beginning, type ChainEnd, lineOf, type StoredLink } from './chain.js';
import { type ChainEnding, type LinkWalk, linksFrom } from './lines.js';

/**
 * The chain as text, one line `HASH BODY` per link, written into preallocated zeros: a full disk is noticed before anything
 * is spent, and a sync moves no other block. At least one zero follows the last line, so that a truncated file is recognised.
 */
export interface LedgerChainFile {
  readonly path: string;
  readonly identity: () => { readonly dev: number; readonly ino: number };
  /** Tests that exactly this line is at its offset; `last` when nothing follows, for which one byte is read. */
  readonly holds: (link: StoredLink) => 'last' | 'followed' | false;
  /** True if the file has no line. */
  readonly blank: () => boolean;
  /** The links after `end`, and how the file ends. */
  readonly linksFrom: (end: ChainEnd) => LinkWalk;
  /** Allocates this number of bytes, durably. */
  readonly allocate: (bytes: number) => void;
  readonly read: (offset: number, length: number) => Buffer;
  readonly write: (offset: number, bytes: Buffer) => void;
  readonly sync: () => void;
  /** Syncs writes of this process that are not synced yet. */
  readonly flush: () => void;
  readonly close: () => void;
}

const block = 1 << 20;
const firstAllocation = 1 << 16;

export const chainPath = (place: string): string => `${place}.chain`;

/** Anything else with its name, even a dangling link, is an error: it does not show that there was no chain file. */
export function hasChainFile(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found && !found.isFile()) throw new BrokenChain('the chain file is not a regular file');
  return found !== undefined;
}

function writeAll(fd: number, bytes: Buffer, offset: number): void {
  for (let done = 0; done < bytes.length; ) {
    const wrote = writeSync(fd, bytes, done, bytes.length - done, offset + done);
    if (wrote <= 0) throw Object.assign(new Error('nothing was written'), { code: 'EIO' });
    done += wrote;
  }
}

function read(fd: number, offset: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  let held = 0;
  while (held < length) {
    const more = readSync(fd, bytes, held, length - held, offset + held);
    if (more === 0) break;
    held += more;
  }
  return bytes.subarray(0, held);
}

/** A file of these lines, complete and durable before it gets its name. */
export function makeChainFile(path: string, lines: Iterable<Buffer>): void {
  const temporary = `${path}.${process.pid}.tmp`;
  rmSync(temporary, { force: true });
  const fd = makeLedgerFile(temporary, 'wx');
  try {
    try {
      let size = 0;
      for (const line of lines) {
        writeAll(fd, line, size);
        size += line.length;
      }
      writeAll(fd, Buffer.alloc(firstAllocation), size);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    renameSync(temporary, path);
  } catch (error) {
    remove(temporary);
    throw error;
  }
  syncFolder(dirname(path));
}

export function openChainFile(path: string): LedgerChainFile {
  const fd = openSync(path, 'r+');
  let known = 0;
  let dirty = false;
  const sync = (): void => {
    fdatasyncSync(fd);
    dirty = false;
  };
  return {
    path,
    identity: () => {
      const { dev, ino } = fstatSync(fd);
      return { dev, ino };
    },
    holds: (link) => {
      const line = lineOf(link);
      const found = read(fd, link.offset, line.length + 1);
      if (line.compare(found, 0, Math.min(line.length, found.length)) !== 0) return false;
      return found[line.length] === 0 ? 'last' : 'followed';
    },
    blank: () => read(fd, 0, 1)[0] === 0,
    linksFrom: (end) => linksFrom((offset, length) => read(fd, offset, length), end),
    allocate: (bytes) => {
      if (bytes <= known) return;
      known = fstatSync(fd).size;
      const has = known;
      if (bytes <= has) return;
      const wanted = Math.max(bytes + firstAllocation, has + Math.min(has, block));
      writeAll(fd, Buffer.alloc(wanted - has), has);
      fsyncSync(fd);
      known = wanted;
    },
    read: (offset, length) => read(fd, offset, length),
    write: (offset, bytes) => {
      dirty = true;
      writeAll(fd, bytes, offset);
    },
    sync,
    flush: () => {
      if (dirty) sync();
    },
    close: () => closeSync(fd),
  };
}

/** The longest sound beginning of a chain file. */
export function readChain(path: string): { readonly links: readonly StoredLink[]; readonly ending: ChainEnding } {
  const file = openChainFile(path);
  try {
    const links: StoredLink[] = [];
    const walk = file.linksFrom(beginning);
    for (;;) {
      const step = walk.next();
      if (step.done) return { links, ending: step.value };
      links.push(step.value.stored);
    }
  } finally {
    file.close();
  }
}

/** Largest number of links that a chain file claims, sound or not, and whether the zeros after its last line are present. */
export function claimedLength(path: string): {
  readonly highest: number;
  readonly unfinished: boolean;
  readonly endSeen: boolean;
} {
  const bytes = readFileSync(path);
  const last = bytes.findLastIndex((byte) => byte !== 0);
  let highest = 0;
  let lines = 0;
  for (let at = 0; at <= last; lines++) {
    const stop = bytes.indexOf(0x0a, at);
    const end = stop < 0 ? last + 1 : stop;
    const numbers = [...bytes.toString('latin1', at, end).matchAll(/"sequence":(\d{1,15})/g)].map((found) => Number(found[1]));
    // A line that was not finished does not count.
    if (stop >= 0) highest = Math.max(highest, ...numbers);
    at = end + 1;
  }
  const unfinished = last >= 0 && bytes[last] !== 0x0a;
  return { highest: Math.max(highest, lines - (unfinished ? 1 : 0)), unfinished, endSeen: last < bytes.length - 1 };
}
