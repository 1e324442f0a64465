/**
 * Some of the different values of a column, each with all of its cells: which ones is decided by a hash of the value, so that how often the sampled values
 * repeat is how often values repeat. Holds a few thousand however many there are.
 */
export class ValueSample {
  #counts: Map<string, number>;
  /** One in `#mask + 1` values is held. */
  #mask = 0;

  constructor(seen: ReadonlyMap<string, number>) {
    this.#counts = new Map(seen);
    this.#thin();
  }

  add(value: string): void {
    if ((hashOf(value) & this.#mask) !== 0) return;
    this.#counts.set(value, (this.#counts.get(value) ?? 0) + 1);
    this.#thin();
  }

  #thin(): void {
    while (this.#counts.size > most) {
      this.#mask = 2 * this.#mask + 1;
      for (const value of this.#counts.keys()) if ((hashOf(value) & this.#mask) !== 0) this.#counts.delete(value);
    }
  }

  /** Estimated number of different values, of values in a single cell, and the cells of the most frequent sampled value. */
  get repeats(): { readonly distinct: number; readonly once: number; readonly most: number } {
    return repeatsOf(this.#counts, this.#mask + 1);
  }
}

const most = 8192;

export function repeatsOf(
  counts: ReadonlyMap<string, number>,
  each = 1,
): { readonly distinct: number; readonly once: number; readonly most: number } {
  let once = 0;
  let highest = 0;
  for (const times of counts.values()) {
    if (times === 1) once++;
    if (times > highest) highest = times;
  }
  return { distinct: counts.size * each, once: once * each, most: highest };
}

/** Spread evenly over 32 bits, the lowest too. */
export function hashOf(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
