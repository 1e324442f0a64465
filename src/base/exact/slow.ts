import { type Rational, zero } from './rational.js';

/** Enclosure of a number. That of exp has any precision, in integer arithmetic; of further functions for tests: test/enclosures.ts. */
export interface Enclosure {
  readonly low: Rational;
  readonly high: Rational;
}

/** An interval of integers that stands for [low, high] / 2^bits. */
export interface Fixed {
  readonly low: bigint;
  readonly high: bigint;
}

export const floorDivide = (a: bigint, b: bigint): bigint => (a >= 0n ? a / b : -((-a + b - 1n) / b));
export const ceilingDivide = (a: bigint, b: bigint): bigint => -floorDivide(-a, b);
export const floorShift = (a: bigint, bits: bigint): bigint => a >> bits;
export const ceilingShift = (a: bigint, bits: bigint): bigint => -(-a >> bits);
/** n / 2^bits in lowest terms: only twos can cancel, so no greatest common divisor is needed. */
function dyadic(n: bigint, bits: bigint): Rational {
  if (n === 0n) return zero;
  const twos = BigInt((n & -n).toString(2).length - 1);
  const shared = twos < bits ? twos : bits;
  return { num: n >> shared, den: 1n << (bits - shared) };
}
export const open = (f: Fixed, bits: bigint): Enclosure => ({ low: dyadic(f.low, bits), high: dyadic(f.high, bits) });

/** Bits that leave about `digits` correct ones in a result of the size of x. */
export function bitsFor(x: Rational, digits: number): bigint {
  const size = x.num === 0n ? 0 : x.num.toString(2).replace('-', '').length - x.den.toString(2).length;
  return BigInt(digits + 64 + Math.max(0, -size));
}

/** e^x for x >= 0: sum_n (x / 2^h)^n / n! until a term vanishes, the rest at most the last unit, then h squarings. */
function expFixed(x: Rational, bits: bigint): Fixed {
  const halvings = 12n + BigInt(Math.max(0, x.num.toString(2).length - x.den.toString(2).length));
  const inner = bits + 4n * halvings + BigInt(2 * Number(x.num / x.den)) + 16n;
  const point = 1n << inner;
  const low = floorDivide(x.num << inner, x.den << halvings);
  const high = ceilingDivide(x.num << inner, x.den << halvings);
  let sumLow = point;
  let sumHigh = point;
  let termLow = point;
  let termHigh = point;
  for (let n = 1n; termHigh > 1n; n++) {
    termLow = floorShift(termLow * low, inner) / n;
    termHigh = ceilingDivide(ceilingShift(termHigh * high, inner), n);
    sumLow += termLow;
    sumHigh += termHigh;
  }
  // The omitted terms are dominated by a geometric series of ratio below 2^-11 after a term of at most one unit.
  sumHigh += 1n;
  for (let i = 0n; i < halvings; i++) {
    sumLow = floorShift(sumLow * sumLow, inner);
    sumHigh = ceilingShift(sumHigh * sumHigh, inner);
  }
  return { low: floorShift(sumLow, inner - bits), high: ceilingShift(sumHigh, inner - bits) };
}

/** Of an enclosure of positive numbers. */
const inverse = (e: Enclosure): Enclosure => ({
  low: { num: e.high.den, den: e.high.num },
  high: { num: e.low.den, den: e.low.num },
});
export const flip = (x: Rational): Rational => ({ num: -x.num, den: x.den });

export const slowExp = (x: Rational, digits = 160): Enclosure => {
  const bits = bitsFor(x, digits);
  return x.num < 0n ? inverse(open(expFixed(flip(x), bits), bits)) : open(expFixed(x, bits), bits);
};
