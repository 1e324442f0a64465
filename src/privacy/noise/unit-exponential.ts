import type { Rational } from '../../base/exact/rational.js';
import type { Digits } from './bits.js';
import { fallsEvenly, LazyReal } from './lazy-real.js';

/**
 * Exact exponential draws by von Neumann's falling runs of uniform reals (discrete-laplace.proof.md). Reals are compared by their
 * first digits; ties draw further digits (LazyReal).
 */
export class UnitExponential {
  /** The last draw, where its first digit was not enough to make it. */
  whole = 0n;
  fraction: LazyReal;
  private readonly source: Digits;
  private readonly roof: number;

  constructor(source: Digits) {
    this.source = source;
    this.fraction = new LazyReal(source);
    this.roof = 2 ** 52 / source.base;
  }

  /**
   * Draws E and returns N = floor(E base), below 2^53; the digits of E after the first are still undrawn.
   * Or returns -1 and leaves E in `whole` and `fraction`, whose digits may be partly drawn.
   */
  next(): number {
    const source = this.source;
    const base = source.base;
    for (let whole = 0; whole < this.roof; whole++) {
      const first = source.word();
      let last = first;
      let odd = true;
      for (;;) {
        const word = source.word();
        if (word >= last) {
          if (word > last) break;
          return this.settle(BigInt(whole), first, last, word, odd);
        }
        last = word;
        odd = !odd;
      }
      if (odd) return whole * base + first;
    }
    return this.continueFrom(BigInt(this.roof));
  }

  /** `word` ties with `last`, the newest member of a run of odd or even length that began with `first`. */
  private settle(whole: bigint, first: number, last: number, word: number, odd: boolean): -1 {
    const source = this.source;
    this.fraction = new LazyReal(source, [first]);
    // A run of one member: its first and its last are the same real.
    const previous = last === first ? this.fraction : new LazyReal(source, [last]);
    const next = new LazyReal(source, [word]);
    const oddInAll = next.isBelow(previous) ? odd !== fallsEvenly(next, source) : odd;
    if (!oddInAll) return this.continueFrom(whole + 1n);
    this.whole = whole;
    return -1;
  }

  private continueFrom(whole: bigint): -1 {
    for (let w = whole; ; w++) {
      const first = new LazyReal(this.source);
      if (fallsEvenly(first, this.source)) {
        this.whole = w;
        this.fraction = first;
        return -1;
      }
    }
  }
}

/** True with probability e^-x for x in [0, 1], where low <= x <= high are doubles and `exact` is evaluated only in doubt. */
export function survives(low: number, high: number, exact: () => Rational, source: Digits): boolean {
  const base = source.base;
  let last = source.word();
  if (last >= high * base) return true;
  if (last + 1 > low * base) {
    const first = new LazyReal(source, [last]);
    return !first.isBelowRational(exact()) || !fallsEvenly(first, source);
  }
  for (let odd = true; ; odd = !odd) {
    const word = source.word();
    if (word > last) return !odd;
    if (word === last) {
      const previous = new LazyReal(source, [last]);
      const next = new LazyReal(source, [word]);
      return next.isBelow(previous) ? odd === fallsEvenly(next, source) : !odd;
    }
    last = word;
  }
}
