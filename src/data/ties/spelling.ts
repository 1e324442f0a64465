import { endianness } from '../../base/platform/host.js';
import { type Cell, type Chunk, firstBytes, isValid, type StoredTexts } from '../engine/engine.js';

/** Names of up to this many bytes are compared as three words. */
export const shortName = 12;
const littleEndian = endianness() === 'LE';

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

/** The bytes of one name at a time, where names are compared; the words of a short one hold nothing else. */
export class Spelling {
  bytes = new Uint8Array(1024);
  words = new Uint32Array(this.bytes.buffer, 0, 3);
  length = 0;

  /** The name in a cell: false where there is none. */
  take(names: NameColumn, row: number): boolean {
    const { texts } = names;
    if (texts === undefined || !littleEndian) {
      const cell = names.cell(row);
      if (cell !== null) this.spell(cell as string);
      return cell !== null;
    }
    const { words, valid, long } = texts;
    if (!isValid(valid, row)) return false;
    const length = words[4 * row]!;
    if (length > shortName) {
      this.spell(long.get(row)!);
      return true;
    }
    this.length = length;
    for (let k = 0; k < 3; k++) this.words[k] = firstBytes(words[4 * row + 1 + k]!, length - 4 * k);
    return true;
  }

  spell(name: string): void {
    if (this.bytes.length < 3 * name.length) {
      this.bytes = new Uint8Array(6 * name.length);
      this.words = new Uint32Array(this.bytes.buffer, 0, 3);
    }
    this.words.fill(0);
    this.length = name.length;
    for (let i = 0; i < name.length; i++) {
      const unit = name.charCodeAt(i);
      if (unit > 127) {
        this.length = encoder.encodeInto(name, this.bytes).written;
        return;
      }
      this.bytes[i] = unit;
    }
  }

  number(): number {
    const { length, words, bytes } = this;
    if (littleEndian) return numberIn(length, words[0]!, words[1]!, words[2]!);
    const wordAt = (at: number) => bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
    return numberIn(length, wordAt(0), wordAt(4), wordAt(8));
  }
}
/** The same for the name in a cell as it is stored; -1 where there is none. */
export function nameNumberAt({ words, valid }: StoredTexts, row: number): number {
  if (!littleEndian || !isValid(valid, row)) return -1;
  return numberIn(words[4 * row]!, words[4 * row + 1]!, words[4 * row + 2]!, words[4 * row + 3]!);
}

/**
 * The whole number from 0 that a name spells in the one way that names spell it (data/engine/name.ts), where it is below a billion; -1 otherwise. The bytes of the name are
 * those of the words from the lowest up.
 */
function numberIn(length: number, first: number, second: number, third: number): number {
  if (length > 9 || length === 0) return -1;
  let value = 0;
  let word = first;
  for (let i = 0; i < length; i++) {
    if (i === 4) word = second;
    else if (i === 8) word = third;
    const digit = ((word >>> (8 * (i & 3))) & 255) - zero;
    if (digit < 0 || digit > 9) return -1;
    value = 10 * value + digit;
  }
  return length > 1 && (first & 255) === zero ? -1 : value;
}

const zero = 48;
const encoder = new TextEncoder();
