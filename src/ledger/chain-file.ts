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
} from 'node:fs';
import { dirname } from 'node:path';
import { Broken, beginning, type End, endOf, type Link, lineOf, linkAfter, type Stored } from './chain.js';

/**
 * The chain as text, one line `HASH BODY` per link, written in place into space that was filled with zeros before: a full disk is met while nothing is
 * spent, and making a line durable moves no other block. At least one zero follows the last line, so a file that was cut is not taken for one that ends.
 */
export interface ChainFile {
  readonly path: string;
  readonly identity: () => { readonly dev: number; readonly ino: number };
  /** Whether exactly this line is at its offset; `last` when nothing follows, for which one byte is looked at. */
  readonly holds: (link: Stored) => 'last' | 'followed' | false;
  /** Whether there is no line at all. */
  readonly blank: () => boolean;
  /** The links that follow, and how the file ends. */
  readonly linksFrom: (end: End) => Generator<{ readonly link: Link; readonly stored: Stored }, Ending>;
  /** Makes room for so many bytes, durably. */
  readonly room: (bytes: number) => void;
  readonly read: (offset: number, length: number) => Buffer;
  readonly write: (offset: number, bytes: Buffer) => void;
  readonly sync: () => void;
  /** Syncs what was written here and not synced since. */
  readonly flush: () => void;
  readonly close: () => void;
}

export interface Ending {
  /** `torn`: lines that were never synced. `cut`: the file ends without the zero that follows a last line. */
  readonly kind: 'clean' | 'torn' | 'cut' | 'damaged';
  /** Bytes up to the last one that is not zero. */
  readonly length: number;
  readonly why?: string;
}

const block = 1 << 20;
const firstRoom = 1 << 16;

export const chainPath = (place: string): string => `${place}.chain`;

/** Whether there is one; whatever else has its name, a dangling link too, is no sign that there was none. */
export function hasChainFile(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found && !found.isFile()) throw new Broken('the chain file is not a regular file');
  return found !== undefined;
}

export function syncFolder(path: string): void {
  const folder = openSync(dirname(path), 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

function writeAll(fd: number, bytes: Buffer, offset: number): void {
  for (let done = 0; done < bytes.length; ) {
    const wrote = writeSync(fd, bytes, done, bytes.length - done, offset + done);
    if (wrote <= 0) throw Object.assign(new Error('nothing was written'), { code: 'EIO' });
    done += wrote;
  }
}

function read(fd: number, offset: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  let held = 0;
  while (held < length) {
    const more = readSync(fd, bytes, held, length - held, offset + held);
    if (more === 0) break;
    held += more;
  }
  return bytes.subarray(0, held);
}

/** A file of these lines, whole and durable before it has its name. */
export function makeChainFile(path: string, lines: Iterable<Buffer>): void {
  const temporary = `${path}.${process.pid}.tmp`;
  rmSync(temporary, { force: true });
  const fd = openSync(temporary, 'wx', 0o600);
  try {
    let size = 0;
    for (const line of lines) {
      writeAll(fd, line, size);
      size += line.length;
    }
    writeAll(fd, Buffer.alloc(firstRoom), size);
    fsyncSync(fd);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  } finally {
    closeSync(fd);
  }
  renameSync(temporary, path);
  syncFolder(path);
}

export function openChainFile(path: string): ChainFile {
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
    linksFrom: (end) => linksFrom(fd, end),
    room: (bytes) => {
      if (bytes <= known) return;
      known = fstatSync(fd).size;
      const has = known;
      if (bytes <= has) return;
      const wanted = Math.max(bytes + firstRoom, has + Math.min(has, block));
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

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function parseLine(line: Buffer): { hash: string; body: string } | undefined {
  const hash = line.toString('latin1', 0, 64);
  if (line[64] !== 0x20 || !/^[0-9a-f]{64}$/.test(hash)) return undefined;
  try {
    return { hash, body: utf8.decode(line.subarray(65)) };
  } catch {
    return undefined;
  }
}

function* linksFrom(fd: number, from: End): ReturnType<ChainFile['linksFrom']> {
  let end = from;
  let held: Buffer = Buffer.alloc(0);
  for (;;) {
    const stop = held.indexOf(0x0a);
    const line = stop < 0 ? held : held.subarray(0, stop);
    if (line.includes(0)) {
      const whole = allButItsEnd(line, end);
      const rest = whole && endingAt(fd, endOf(whole.stored, whole.link));
      if (rest?.kind !== 'clean') return endingAt(fd, end);
      yield whole!;
      return rest;
    }
    if (stop < 0) {
      const more = read(fd, end.offset + held.length, block);
      if (more.length === 0) return { kind: held.length === 0 ? 'cut' : 'damaged', length: end.offset + held.length };
      held = Buffer.concat([held, more]);
      continue;
    }
    const found = linkIn(line, end);
    if (typeof found === 'string') return { ...endingAt(fd, end), kind: 'damaged', why: found };
    yield found;
    end = endOf(found.stored, found.link);
    held = held.subarray(stop + 1);
  }
}

/** A line of which only the last byte is lost may have been told: it is taken for whole. */
function allButItsEnd(line: Buffer, end: End): { link: Link; stored: Stored } | undefined {
  const zero = line.indexOf(0);
  for (const length of [zero, zero - 1]) {
    const found = length > 65 ? linkIn(line.subarray(0, length), end) : '';
    if (typeof found !== 'string') return found;
  }
  return undefined;
}

/** The link, or what is wrong with the line. */
function linkIn(line: Buffer, end: End): { link: Link; stored: Stored } | string {
  const parsed = parseLine(line);
  if (!parsed) return `the line of entry ${end.sequence + 1} is no line of a chain`;
  try {
    return linkAfter(end, parsed);
  } catch (error) {
    return error instanceof Broken ? error.message : `entry ${end.sequence + 1} is no link`;
  }
}

const zeros = Buffer.alloc(block);
const sector = 512;

/** The parts of `length` bytes at `offset` that a disk writes as a whole, counted from `offset`. */
export function sectorsOf(offset: number, length: number): (readonly [start: number, stop: number])[] {
  const parts: (readonly [number, number])[] = [];
  for (let start = 0; start < length; ) {
    const stop = Math.min(length, start + sector - ((offset + start) % sector));
    parts.push([start, stop]);
    start = stop;
  }
  return parts;
}

function endingAt(fd: number, end: End): Ending {
  const parts: Buffer[] = [];
  let length = 0;
  for (let at = end.offset; ; ) {
    const bytes = read(fd, at, block);
    if (bytes.length === 0) break;
    parts.push(bytes);
    if (!bytes.equals(zeros.subarray(0, bytes.length))) length = at - end.offset + bytes.findLastIndex((byte) => byte !== 0) + 1;
    at += bytes.length;
  }
  if (length === 0) return { kind: 'clean', length: end.offset };
  const unfinished = isUnfinished(Buffer.concat(parts).subarray(0, length), end);
  return { kind: unfinished ? 'torn' : 'damaged', length: end.offset + length, why: 'something follows its last line' };
}

/**
 * Whether this may be what was not synced yet when the machine went down: answers and after them at most one other line, each sector written or still as it
 * was. A line that knows of a durable one after `end` shows that something else was lost.
 */
function isUnfinished(tail: Buffer, end: End): boolean {
  const grown = sectorsOf(end.offset, tail.length).every(([start, stop]) => {
    const part = tail.subarray(start, stop);
    const written = part.indexOf(0);
    return written < 0 || part.subarray(written).equals(zeros.subarray(0, part.length - written));
  });
  if (!grown) return false;
  let sequence = end.sequence;
  for (let at = 0; at < tail.length; ) {
    const stop = tail.indexOf(0x0a, at);
    if (stop < 0) break;
    const line = tail.subarray(at, stop);
    at = stop + 1;
    if (line.includes(0)) continue;
    const link = linkOf(line);
    if (!link || !(link.sequence > sequence) || !((link.since ?? 0) <= end.sequence)) return false;
    if (link.kind !== 'answer' && at < tail.length) return false;
    sequence = link.sequence;
  }
  return true;
}

/** What a line says, whether or not it fits. */
function linkOf(line: Buffer): Link | undefined {
  try {
    return JSON.parse(parseLine(line)!.body) as Link;
  } catch {
    return undefined;
  }
}

/** The longest sound beginning of a chain file. */
export function readChain(path: string): { readonly links: readonly Stored[]; readonly ending: Ending } {
  const file = openChainFile(path);
  try {
    const links: Stored[] = [];
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

/** How many links a chain file says it has, sound or not, and whether the zeros after its last line are there. */
export function claimsOf(path: string): { readonly highest: number; readonly unfinished: boolean; readonly endSeen: boolean } {
  const bytes = readFileSync(path);
  const last = bytes.findLastIndex((byte) => byte !== 0);
  let highest = 0;
  let lines = 0;
  for (let at = 0; at <= last; lines++) {
    const stop = bytes.indexOf(0x0a, at);
    const end = stop < 0 ? last + 1 : stop;
    const numbers = [...bytes.toString('latin1', at, end).matchAll(/"sequence":(\d{1,15})/g)].map((found) => Number(found[1]));
    // A line that was not finished is none.
    if (stop >= 0) highest = Math.max(highest, ...numbers);
    at = end + 1;
  }
  const unfinished = last >= 0 && bytes[last] !== 0x0a;
  return { highest: Math.max(highest, lines - (unfinished ? 1 : 0)), unfinished, endSeen: last < bytes.length - 1 };
}
