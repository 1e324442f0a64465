import { endianness } from 'node:os';
import { countingSort } from '../dependence/graph/factor-graph.js';
import type { Room } from '../dependence/graph/room.js';
import type { Cell, Chunk, StoredTexts } from '../engine/engine.js';
import { Fault } from '../errors.js';

/** Bytes of names are kept in segments, so that growing copies nothing. */
const segmentBits = 22;
const segmentSize = 2 ** segmentBits;
/** An address is 32 bits. */
const mostSegments = 2 ** (32 - segmentBits);
const none = 0xffffffff;

/**
 * Different names, numbered as they come: tens of millions of them as bytes, outside of the heap, where a Map ends at sixteen million. Where a name
 * stands in the table follows the start of the process, so that nobody can write names that all stand in one place; no number depends on it.
 */
export class NameList {
  readonly #segments: Uint8Array[] = [];
  readonly #filled: number[] = [];
  readonly #grown: (bytes: number) => void;
  #start = new Uint32Array(1024);
  #slots = new Uint32Array(4096).fill(none);
  #size = 0;
  #scratch = new Uint8Array(1024);
  #scratchWords = new Uint32Array(this.#scratch.buffer, 0, 3);
  #longest = 0;

  /** `grown` is told how many bytes the list is about to hold. */
  constructor(grown: Room['need'] = () => undefined) {
    this.#grown = grown;
  }

  get size(): number {
    return this.#size;
  }
  get bytes(): number {
    return this.#segments.length * segmentSize + 4 * (this.#start.length + this.#slots.length);
  }

  /** The number of a name, which it is given when it is new. */
  add(name: string): number {
    return this.#add(this.#encode(name));
  }
  /** The number of the name in a cell of a column; `noName` where there is none. */
  addAt(names: NameColumn, row: number): number {
    const length = this.#take(names, row);
    return length === 0 ? noName : this.#add(length);
  }

  #add(length: number): number {
    const slot = this.#slotOf(length);
    const known = this.#slots[slot]!;
    if (known !== none) return known;
    const id = this.#size++;
    this.#keep(id, length);
    this.#slots[slot] = id;
    if (2 * this.#size > this.#slots.length) this.#spread();
    return id;
  }

  find(name: string): number | undefined {
    const known = this.#slots[this.#slotOf(this.#encode(name))]!;
    return known === none ? undefined : known;
  }
  findAt(names: NameColumn, row: number): number | undefined {
    const length = this.#take(names, row);
    const known = length === 0 ? none : this.#slots[this.#slotOf(length)]!;
    return known === none ? undefined : known;
  }

  text(id: number): string {
    return decoder.decode(this.#bytesOf(id));
  }

  /** The place of each name among all in the order of their UTF-16 units, as JavaScript compares texts. */
  ranks(): Uint32Array {
    this.#grown(this.bytes + 24 * this.#size);
    const order = this.#longest <= mostSorted ? this.#byBytes() : sorted(this.#size, (a, b) => this.#compare(a, b));
    const ranks = new Uint32Array(this.#size);
    for (let k = 0; k < order.length; k++) ranks[order[k]!] = k;
    return ranks;
  }

  /** Sorted by the last two bytes, then by the two before them, and so on; where a name has ended comes before every byte. */
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
    const address = this.#start[id]!;
    const segment = this.#segments[address >>> segmentBits]!;
    const from = address & (segmentSize - 1);
    const length = this.#endOf(id) - address;
    const high = at < length ? 1 + inOrder(segment[from + at]!) : 0;
    return high * 257 + (at + 1 < length ? 1 + inOrder(segment[from + at + 1]!) : 0);
  }

  /** Brings the name in a cell to where names are compared; its length, 0 where there is none. */
  #take(names: NameColumn, row: number): number {
    const { texts } = names;
    if (texts === undefined || !littleEndian) {
      const cell = names.cell(row);
      return cell === null ? 0 : this.#encode(cell as string);
    }
    if (texts.valid && ((texts.valid[row >>> 5]! >>> (row & 31)) & 1) === 0) return 0;
    const length = texts.words[4 * row]!;
    if (length > 12) return this.#encode(texts.long.get(row)!);
    this.#scratchWords[0] = texts.words[4 * row + 1]!;
    this.#scratchWords[1] = texts.words[4 * row + 2]!;
    this.#scratchWords[2] = texts.words[4 * row + 3]!;
    return length;
  }

  #encode(name: string): number {
    if (this.#scratch.length < 3 * name.length) {
      this.#scratch = new Uint8Array(6 * name.length);
      this.#scratchWords = new Uint32Array(this.#scratch.buffer, 0, 3);
    }
    for (let i = 0; i < name.length; i++) {
      const unit = name.charCodeAt(i);
      if (unit > 127) return encoder.encodeInto(name, this.#scratch).written;
      this.#scratch[i] = unit;
    }
    return name.length;
  }

  /** Where the encoded name stands, or the free slot it would take. */
  #slotOf(length: number): number {
    const mask = this.#slots.length - 1;
    for (let slot = hashOf(this.#scratch, 0, length) & mask; ; slot = (slot + 1) & mask) {
      const id = this.#slots[slot]!;
      if (id === none || this.#reads(id, length)) return slot;
    }
  }

  #reads(id: number, length: number): boolean {
    const at = this.#start[id]!;
    if (this.#endOf(id) - at !== length) return false;
    const segment = this.#segments[at >>> segmentBits]!;
    const from = at & (segmentSize - 1);
    for (let i = 0; i < length; i++) if (segment[from + i] !== this.#scratch[i]) return false;
    return true;
  }

  #keep(id: number, length: number): void {
    if (length > segmentSize) throw tooLong();
    if (length > this.#longest) this.#longest = length;
    let last = this.#segments.length - 1;
    if (last < 0 || this.#filled[last]! + length > segmentSize) {
      if (this.#segments.length === mostSegments) throw tooLong();
      this.#grown(this.bytes + segmentSize);
      last = this.#segments.push(new Uint8Array(segmentSize)) - 1;
      this.#filled.push(0);
    }
    if (id === this.#start.length) {
      this.#grown(this.bytes + 4 * this.#start.length);
      const longer = new Uint32Array(2 * this.#start.length);
      longer.set(this.#start);
      this.#start = longer;
    }
    const from = this.#filled[last]!;
    this.#segments[last]!.set(this.#scratch.subarray(0, length), from);
    this.#filled[last] = from + length;
    this.#start[id] = last * segmentSize + from;
  }

  /** Names of one segment stand side by side; none is empty. */
  #endOf(id: number): number {
    const segment = this.#start[id]! >>> segmentBits;
    const next = id + 1 < this.#size ? this.#start[id + 1]! : none;
    return next !== none && next >>> segmentBits === segment ? next : segment * segmentSize + this.#filled[segment]!;
  }

  #bytesOf(id: number): Uint8Array {
    const at = this.#start[id]!;
    const from = at & (segmentSize - 1);
    return this.#segments[at >>> segmentBits]!.subarray(from, from + this.#endOf(id) - at);
  }

  #spread(): void {
    this.#grown(this.bytes + 8 * this.#slots.length);
    const slots = new Uint32Array(2 * this.#slots.length).fill(none);
    const mask = slots.length - 1;
    for (let id = 0; id < this.#size; id++) {
      const at = this.#start[id]!;
      const from = at & (segmentSize - 1);
      let slot = hashOf(this.#segments[at >>> segmentBits]!, from, from + this.#endOf(id) - at) & mask;
      while (slots[slot] !== none) slot = (slot + 1) & mask;
      slots[slot] = id;
    }
    this.#slots = slots;
  }

  #compare(a: number, b: number): number {
    const x = this.#bytesOf(a);
    const y = this.#bytesOf(b);
    const shared = Math.min(x.length, y.length);
    for (let i = 0; i < shared; i++) if (x[i] !== y[i]) return inOrder(x[i]!) - inOrder(y[i]!);
    return x.length - y.length;
  }
}

/** A column of names in a block of rows: compared as they are stored where they are, so that most of them never become a string. */
export class NameColumn {
  readonly texts: StoredTexts | undefined;
  readonly #block: Chunk;
  readonly #column: number;

  constructor(block: Chunk, column: number) {
    this.#block = block;
    this.#column = column;
    this.texts = block.texts?.[column];
  }

  cell(row: number): Cell {
    return this.#block.columns[this.#column]![row] ?? null;
  }
}

/** Where a cell names nobody. */
export const noName = none;

/** Names of up to so many bytes are sorted by their bytes; longer ones by comparing them. */
const mostSorted = 32;
const littleEndian = endianness() === 'LE';

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** Bytes of UTF-8 order texts by code point. UTF-16 puts U+E000 to U+FFFF, which begin with these two bytes, behind what lies above U+FFFF. */
const inOrder = (byte: number): number => (byte === 0xee || byte === 0xef ? byte + 0x10 : byte);

const seed = Math.floor(performance.timeOrigin * 1024) | 0;
function hashOf(bytes: Uint8Array, from: number, to: number): number {
  let hash = seed;
  for (let i = from; i < to; i++) {
    hash = Math.imul(hash ^ bytes[i]!, 0x01000193);
    hash ^= hash >>> 15;
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
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
