/**
 * An answer before noise. Only engine, release and analysis may import this file (a test enforces it), so nothing else can open one.
 * Printing or serialising one by accident shows nothing.
 */
export class Exact<T> {
  readonly #value: T;
  constructor(value: T) {
    this.#value = value;
  }
  open(): T {
    return this.#value;
  }
  toString(): string {
    return '[exact answer]';
  }
  toJSON(): string {
    return '[exact answer]';
  }
}
