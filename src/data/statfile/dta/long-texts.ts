import type { Bytes, Cursor } from '../bytes.js';
import { type Decode, untilNul } from '../decode.js';
import type { DtaLayout } from './layout.js';

/** A text is named by the variable and the row where it was first used. */
const keyOf = (variable: number, row: number): number => row * 2 ** 17 + variable;

/** A text longer than this ends there. */
const mostBytes = 1 << 20;

/** Offsets of the long texts of a file: sixteen bytes each, whatever the length of the text. */
export class LongTexts {
  readonly #bytes: Bytes;
  readonly #decode: Decode;
  readonly #little: boolean;
  #keys = new Float64Array(1024);
  #places = new Float64Array(1024);
  #count = 0;
  #sorted = true;

  constructor(cursor: Cursor, { release, decode, strlsAt }: DtaLayout) {
    this.#bytes = cursor.bytes;
    this.#decode = decode;
    this.#little = cursor.little;
    cursor.position = strlsAt!;
    for (;;) {
      const tag = cursor.take(3).toString('latin1');
      if (tag === '</s') break;
      if (tag !== 'GSO') throw cursor.bytes.cutOff();
      const variable = cursor.u32();
      const row = release === 117 ? cursor.u32() : cursor.u64();
      cursor.skip(1);
      this.#add(keyOf(variable, row), cursor.position);
      cursor.skip(cursor.u32());
    }
    this.#sort();
  }

  #add(key: number, place: number): void {
    if (this.#count === this.#keys.length) {
      const [keys, places] = [new Float64Array(2 * this.#count), new Float64Array(2 * this.#count)];
      keys.set(this.#keys);
      places.set(this.#places);
      [this.#keys, this.#places] = [keys, places];
    }
    if (this.#count > 0 && !(this.#keys[this.#count - 1]! < key)) this.#sorted = false;
    this.#keys[this.#count] = key;
    this.#places[this.#count++] = place;
  }

  #sort(): void {
    if (this.#sorted) return;
    const order = Uint32Array.from({ length: this.#count }, (_, i) => i).sort((a, b) => this.#keys[a]! - this.#keys[b]!);
    const [keys, places] = [this.#keys, this.#places];
    this.#keys = Float64Array.from(order, (i) => keys[i]!);
    this.#places = Float64Array.from(order, (i) => places[i]!);
  }

  text(variable: number, row: number): string | null {
    if (variable === 0 && row === 0) return '';
    const key = keyOf(variable, row);
    let [low, high] = [0, this.#count];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#keys[middle]! < key) low = middle + 1;
      else high = middle;
    }
    if (low === this.#count || this.#keys[low] !== key) return null;
    return this.#at(this.#places[low]!);
  }

  #at(place: number): string {
    const head = this.#bytes.at(place, 4);
    const length = this.#little ? head.readUInt32LE() : head.readUInt32BE();
    return untilNul(this.#bytes.at(place + 4, Math.min(length, mostBytes)), this.#decode);
  }
}
