import { Fault } from '../../base/errors.js';
import { countingSort } from '../../privacy/dependence/graph/factor-graph.js';
import type { MemoryLimit } from '../../privacy/dependence/graph/memory-limit.js';
import { type Spelling, shortName } from './spelling.js';

/** Bytes of long names are kept in segments, so that growing copies nothing. */
const segmentBits = 22;
const segmentSize = 2 ** segmentBits;
/** An address is 32 bits. */
const mostSegments = 2 ** (32 - segmentBits);
const none = 0xffffffff;

/**
 * Different texts, numbered in order of appearance and stored as bytes outside the heap: a Map holds at most
 * sixteen million. The hash is seeded per process, so that collisions are hard to prepare; no number depends on it.
 */
export class TextNames {
  readonly #segments: Uint8Array[] = [];
  #filled = segmentSize;
  readonly #grown: MemoryLimit['require'];
  /** Four words for each: its length, then its bytes where it is short, or where they begin. */
  #words = new Uint32Array(4 * 1024);
  #bytes = new Uint8Array(this.#words.buffer);
  #slots = new Uint32Array(4096).fill(none);
  #size = 0;
  #longest = 0;

  /** `grown` receives the number of bytes that the texts are about to take. */
  constructor(grown: MemoryLimit['require']) {
    this.#grown = grown;
  }

  get size(): number {
    return this.#size;
  }
  get bytes(): number {
    return this.#segments.length * segmentSize + 4 * (this.#words.length + this.#slots.length);
  }

  /** The number of a text, which it is given when it is new. */
  add(spelling: Spelling): number {
    const slot = this.#slotOf(spelling);
    const known = this.#slots[slot]!;
    if (known !== none) return known;
    const id = this.#size;
    this.#keep(id, spelling);
    this.#size++;
    this.#slots[slot] = id;
    if (2 * this.#size > this.#slots.length) this.#spread();
    return id;
  }

  find(spelling: Spelling): number | undefined {
    const known = this.#slots[this.#slotOf(spelling)]!;
    return known === none ? undefined : known;
  }

  text(id: number): string {
    return decoder.decode(this.bytesOf(id));
  }

  bytesOf(id: number): Uint8Array {
    const length = this.#words[4 * id]!;
    if (length <= shortName) return this.#bytes.subarray(16 * id + 4, 16 * id + 4 + length);
    const at = this.#words[4 * id + 1]!;
    const from = at & (segmentSize - 1);
    return this.#segments[at >>> segmentBits]!.subarray(from, from + length);
  }

  /** Their numbers in the order of their UTF-16 units, as JavaScript compares texts. */
  order(): Uint32Array {
    this.#grown(this.bytes + 24 * this.#size);
    if (this.#longest <= mostSorted) return this.#byBytes();
    return sorted(this.#size, (a, b) => compareBytes(this.bytesOf(a), this.bytesOf(b)));
  }

  /** Sorted by the last two bytes, then by the two before them, and so on; where a text has ended comes before every byte. */
  #byBytes(): Uint32Array {
    let order = Uint32Array.from({ length: this.#size }, (_, id) => id);
    const digits = new Uint32Array(this.#size);
    for (let at = (this.#longest - 1) & ~1; at >= 0; at -= 2) {
      for (let id = 0; id < this.#size; id++) digits[id] = this.#digit(id, at);
      order = countingSort(257 * 257, order, (id) => digits[id]!).order;
    }
    return order;
  }

  #digit(id: number, at: number): number {
    const length = this.#words[4 * id]!;
    const address = this.#words[4 * id + 1]!;
    const short = length <= shortName;
    const bytes = short ? this.#bytes : this.#segments[address >>> segmentBits]!;
    const from = short ? 16 * id + 4 : address & (segmentSize - 1);
    const high = at < length ? 1 + inOrder(bytes[from + at]!) : 0;
    return high * 257 + (at + 1 < length ? 1 + inOrder(bytes[from + at + 1]!) : 0);
  }

  /** Slot of the text, or the free slot for it. */
  #slotOf(spelling: Spelling): number {
    const mask = this.#slots.length - 1;
    const { length, words } = spelling;
    const hash = length <= shortName ? hashWords(length, words[0]!, words[1]!, words[2]!) : hashBytes(spelling.bytes, 0, length);
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const id = this.#slots[slot]!;
      if (id === none || this.#reads(id, spelling)) return slot;
    }
  }

  #reads(id: number, { length, words, bytes }: Spelling): boolean {
    const own = this.#words;
    if (own[4 * id] !== length) return false;
    if (length <= shortName) return own[4 * id + 1] === words[0] && own[4 * id + 2] === words[1] && own[4 * id + 3] === words[2];
    const known = this.bytesOf(id);
    for (let i = 0; i < length; i++) if (known[i] !== bytes[i]) return false;
    return true;
  }

  #keep(id: number, { length, words, bytes }: Spelling): void {
    if (4 * id === this.#words.length) {
      this.#grown(this.bytes + 8 * this.#words.length);
      const longer = new Uint32Array(2 * this.#words.length);
      longer.set(this.#words);
      this.#words = longer;
      this.#bytes = new Uint8Array(longer.buffer);
    }
    if (length > this.#longest) this.#longest = length;
    this.#words[4 * id] = length;
    if (length <= shortName) {
      for (let k = 0; k < 3; k++) this.#words[4 * id + 1 + k] = words[k]!;
      return;
    }
    if (length > segmentSize) throw tooLong();
    if (this.#filled + length > segmentSize) {
      if (this.#segments.length === mostSegments) throw tooLong();
      this.#grown(this.bytes + segmentSize);
      this.#segments.push(new Uint8Array(segmentSize));
      this.#filled = 0;
    }
    this.#segments.at(-1)!.set(bytes.subarray(0, length), this.#filled);
    this.#words[4 * id + 1] = (this.#segments.length - 1) * segmentSize + this.#filled;
    this.#filled += length;
  }

  #spread(): void {
    this.#grown(this.bytes + 8 * this.#slots.length);
    const slots = new Uint32Array(2 * this.#slots.length).fill(none);
    const mask = slots.length - 1;
    for (let id = 0; id < this.#size; id++) {
      let slot = this.#hashOf(id) & mask;
      while (slots[slot] !== none) slot = (slot + 1) & mask;
      slots[slot] = id;
    }
    this.#slots = slots;
  }

  #hashOf(id: number): number {
    const words = this.#words;
    const length = words[4 * id]!;
    if (length <= shortName) return hashWords(length, words[4 * id + 1]!, words[4 * id + 2]!, words[4 * id + 3]!);
    return hashBytes(this.bytesOf(id), 0, length);
  }
}

/** Names of up to this many bytes are sorted by radix; longer ones by comparison. */
const mostSorted = 32;
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** Bytes of UTF-8 order texts by code point. UTF-16 puts U+E000 to U+FFFF, which begin with these two bytes, behind what lies above U+FFFF. */
const inOrder = (byte: number): number => (byte === 0xee || byte === 0xef ? byte + 0x10 : byte);

export function compareBytes(x: Uint8Array, y: Uint8Array): number {
  const shared = Math.min(x.length, y.length);
  for (let i = 0; i < shared; i++) if (x[i] !== y[i]) return inOrder(x[i]!) - inOrder(y[i]!);
  return x.length - y.length;
}

const seed = Math.floor(performance.timeOrigin * 1024) | 0;
const stirred = (hash: number): number => {
  const once = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return (once ^ (once >>> 13)) >>> 0;
};
function stir(hash: number): number {
  const product = Math.imul(hash, 0x9e3779b1);
  return product ^ (product >>> 15);
}
function hashWords(length: number, a: number, b: number, c: number): number {
  let hash = Math.imul(seed ^ length, 0x01000193);
  hash = stir(hash ^ a);
  hash = stir(hash ^ b);
  return stirred(stir(hash ^ c));
}
function hashBytes(bytes: Uint8Array, from: number, to: number): number {
  let hash = seed;
  for (let i = from; i < to; i++) {
    hash = Math.imul(hash ^ bytes[i]!, 0x01000193);
    hash ^= hash >>> 15;
  }
  return stirred(hash);
}

const tooLong = (): Fault =>
  new Fault(
    'LIMIT_EXCEEDED',
    'The names in the data are longer than the 4 GB, or one of them than the 4 MB, that are read.',
    'Name records and groups by short codes.',
  );

/** 0 .. size-1 in order, by merging: nothing is copied to the heap. Equal ones stay as they stand. */
export function sorted(size: number, compare: (a: number, b: number) => number): Uint32Array {
  let from = Uint32Array.from({ length: size }, (_, k) => k);
  let to = new Uint32Array(size);
  for (let width = 1; width < size; width *= 2) {
    for (let left = 0; left < size; left += 2 * width) {
      const middle = Math.min(left + width, size);
      const end = Math.min(left + 2 * width, size);
      if (middle === end || compare(from[middle - 1]!, from[middle]!) <= 0) {
        to.set(from.subarray(left, end), left);
        continue;
      }
      let a = left;
      let b = middle;
      for (let k = left; k < end; k++)
        to[k] = b >= end || (a < middle && compare(from[a]!, from[b]!) <= 0) ? from[a++]! : from[b++]!;
    }
    [from, to] = [to, from];
  }
  return from;
}
