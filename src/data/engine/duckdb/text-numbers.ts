import { firstBytes } from '../engine.js';

/**
 * Numbers texts in order of appearance: equal texts have equal numbers. Short texts, as DuckDB stores them (length
 * and up to 12 bytes), are compared by these words and never become strings; longer ones are kept as text.
 */
export class TextNumbers {
  /** Open addressing: four words to a slot, and the number of its text plus one. */
  #words = new Uint32Array(4 << 12);
  #numbers = new Uint32Array(1 << 12);
  readonly #long = new Map<string, number>();
  #size = 0;

  /** The number of the text at `at`; `whole` reads one that is not stored in the words. */
  of(words: Uint32Array, at: number, whole: () => string): number {
    const length = words[at]!;
    if (length > 12) return this.#ofLong(whole());
    const a = firstBytes(words[at + 1]!, length);
    const b = firstBytes(words[at + 2]!, length - 4);
    const c = firstBytes(words[at + 3]!, length - 8);
    const last = this.#numbers.length - 1;
    for (let slot = hash(length, a, b, c) & last; ; slot = (slot + 1) & last) {
      const known = this.#numbers[slot]!;
      if (known === 0) return this.#add(slot, [length, a, b, c]);
      const own = this.#words;
      const from = slot << 2;
      if (own[from] === length && own[from + 1] === a && own[from + 2] === b && own[from + 3] === c) return known - 1;
    }
  }

  /** Number of a text that is not stored in the words. */
  ofText(text: string): number {
    const bytes = Buffer.from(text, 'utf8');
    const words = new Uint32Array(4);
    words[0] = bytes.length;
    if (bytes.length <= 12) bytes.copy(new Uint8Array(words.buffer, 4));
    return this.of(words, 0, () => text);
  }

  #ofLong(text: string): number {
    const known = this.#long.get(text);
    if (known !== undefined) return known;
    this.#long.set(text, this.#size);
    return this.#size++;
  }

  #add(slot: number, key: ArrayLike<number>): number {
    const number = this.#size++;
    this.#put(slot, number + 1, key);
    if (2 * (this.#size - this.#long.size) > this.#numbers.length) this.#grow();
    return number;
  }

  #put(slot: number, known: number, key: ArrayLike<number>): void {
    this.#numbers[slot] = known;
    this.#words.set(key, slot << 2);
  }

  #grow(): void {
    const [numbers, words] = [this.#numbers, this.#words];
    this.#numbers = new Uint32Array(2 * numbers.length);
    this.#words = new Uint32Array(2 * words.length);
    const last = this.#numbers.length - 1;
    numbers.forEach((known, old) => {
      if (known === 0) return;
      const key = words.subarray(old << 2, (old << 2) + 4);
      let slot = hash(key[0]!, key[1]!, key[2]!, key[3]!) & last;
      while (this.#numbers[slot] !== 0) slot = (slot + 1) & last;
      this.#put(slot, known, key);
    });
  }
}

function hash(length: number, a: number, b: number, c: number): number {
  let h = Math.imul(a ^ length, 0x9e3779b1);
  h = Math.imul((h ^ (h >>> 15)) + b, 0x85ebca77);
  h = Math.imul((h ^ (h >>> 13)) + c, 0xc2b2ae3d);
  return h ^ (h >>> 16);
}
