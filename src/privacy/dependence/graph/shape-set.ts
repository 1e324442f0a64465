/** Components up to this many nodes are compared with one another. */
export const largestCompared = 64;
/** Limit on the shapes kept for comparison: with all components different, comparison is useless. */
const mostShapes = 50_000;

/** The shapes of components that were kept. */
export class ShapeSet<T> {
  readonly #known = new Map<number, T[]>();
  readonly #hash: (shape: T) => number;
  readonly #same: (a: T, b: T) => boolean;
  #size = 0;

  constructor(hash: (shape: T) => number, same: (a: T, b: T) => boolean) {
    this.#hash = hash;
    this.#same = same;
  }

  /** False when there is one of its shape. */
  add(shape: T): boolean {
    const hash = this.#hash(shape);
    const known = this.#known.get(hash);
    if (known?.some((other) => this.#same(other, shape))) return false;
    if (this.#size >= mostShapes) return true;
    this.#size++;
    if (known) known.push(shape);
    else this.#known.set(hash, [shape]);
    return true;
  }
}

export const mixHash = (hash: number, word: number): number => Math.imul((hash ^ word) >>> 0, 0x9e3779b1) ^ (hash >>> 15);
