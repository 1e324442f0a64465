import type { Rational } from '../../base/exact/rational.js';
import type { Digits } from './bits.js';

/**
 * Uniform real in [0, 1) whose digits are drawn on demand. Undrawn digits are independent of all decisions so far, so decisions
 * digit by digit are exact.
 */
export class LazyReal {
  private readonly known: number[];
  private readonly source: Digits;

  constructor(source: Digits, known: readonly number[] = []) {
    this.source = source;
    this.known = [...known];
  }

  digit(i: number): number {
    while (this.known.length <= i) this.known.push(this.source.word());
    return this.known[i]!;
  }

  /** The first `count` digits as one integer D: the real lies in [D, D + 1) / base^count. */
  prefix(count: number): bigint {
    const base = BigInt(this.source.base);
    let value = 0n;
    for (let i = 0; i < count; i++) value = value * base + BigInt(this.digit(i));
    return value;
  }

  /** True if this real is below another, independent one (equality has probability zero). */
  isBelow(other: LazyReal): boolean {
    for (let i = 0; ; i++) {
      const a = this.digit(i);
      const b = other.digit(i);
      if (a !== b) return a < b;
    }
  }

  isBelowRational(x: Rational): boolean {
    if (x.num >= x.den) return true;
    const base = BigInt(this.source.base);
    let rest = x.num;
    for (let i = 0; rest !== 0n; i++) {
      rest *= base;
      const digit = Number(rest / x.den);
      rest %= x.den;
      const own = this.digit(i);
      if (own !== digit) return own < digit;
    }
    return false;
  }
}

/** Continues a run of falling uniform reals from its last member; true if the members still to come are even in number. */
export function fallsEvenly(last: LazyReal, source: Digits): boolean {
  let previous = last;
  for (let even = true; ; even = !even) {
    const next = new LazyReal(source);
    if (!next.isBelow(previous)) return even;
    previous = next;
  }
}
