import { BrokenChain, type ChainEnd, endOf, type Link, linkAfter, type StoredLink } from './chain.js';

/** Reads at an offset; fewer bytes where the file ends. */
export type ReadBytes = (offset: number, length: number) => Buffer;
export type LinkWalk = Generator<{ readonly link: Link; readonly stored: StoredLink }, ChainEnding>;

export interface ChainEnding {
  /** `torn`: lines that were never synced. `cut`: the file ends without the zero that follows a last line. */
  readonly kind: 'clean' | 'torn' | 'cut' | 'damaged';
  /** Bytes up to the last one that is not zero. */
  readonly length: number;
  readonly why?: string;
}

const block = 1 << 20;
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

/** The links that follow `from`, and how the file ends. */
export function* linksFrom(read: ReadBytes, from: ChainEnd): LinkWalk {
  let end = from;
  let held: Buffer = Buffer.alloc(0);
  for (;;) {
    const stop = held.indexOf(0x0a);
    const line = stop < 0 ? held : held.subarray(0, stop);
    if (line.includes(0)) {
      const whole = allButItsEnd(line, end);
      const rest = whole && endingAt(read, endOf(whole.stored, whole.link));
      if (rest?.kind !== 'clean') return endingAt(read, end);
      yield whole!;
      return rest;
    }
    if (stop < 0) {
      const more = read(end.offset + held.length, block);
      if (more.length === 0) return { kind: held.length === 0 ? 'cut' : 'damaged', length: end.offset + held.length };
      held = Buffer.concat([held, more]);
      continue;
    }
    const found = linkIn(line, end);
    if (typeof found === 'string') return { ...endingAt(read, end), kind: 'damaged', why: found };
    yield found;
    end = endOf(found.stored, found.link);
    held = held.subarray(stop + 1);
  }
}

/** The answer of a line that lost only its last byte may have been given out: the line counts as complete. */
function allButItsEnd(line: Buffer, end: ChainEnd): { link: Link; stored: StoredLink } | undefined {
  const zero = line.indexOf(0);
  for (const length of [zero, zero - 1]) {
    const found = length > 65 ? linkIn(line.subarray(0, length), end) : '';
    if (typeof found !== 'string') return found;
  }
  return undefined;
}

/** The link, or what is wrong with the line. */
function linkIn(line: Buffer, end: ChainEnd): { link: Link; stored: StoredLink } | string {
  const parsed = parseLine(line);
  if (!parsed) return `the line of entry ${end.sequence + 1} is no line of a chain`;
  try {
    return linkAfter(end, parsed);
  } catch (error) {
    return error instanceof BrokenChain ? error.message : `entry ${end.sequence + 1} is no link`;
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

function endingAt(read: ReadBytes, end: ChainEnd): ChainEnding {
  const parts: Buffer[] = [];
  let length = 0;
  for (let at = end.offset; ; ) {
    const bytes = read(at, block);
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
 * True if this may be a tail that was not synced before a crash: answers, then at most one other line, each sector written or unchanged.
 * A line that refers to a durable one after `end` shows that something else was lost.
 */
function isUnfinished(tail: Buffer, end: ChainEnd): boolean {
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

/** The link in a line, even if it does not fit the chain. */
function linkOf(line: Buffer): Link | undefined {
  try {
    return JSON.parse(parseLine(line)!.body) as Link;
  } catch {
    return undefined;
  }
}
