import { compare, fromNumber, type Rational, rational, subtract, zero } from './rational.js';

/**
 * Enclosures of exp, log, tanh and artanh to any precision in integer arithmetic: the slower reference for the tests of
 * outward.ts, with which it shares only definitions.
 */
export interface Enclosure {
  readonly low: Rational;
  readonly high: Rational;
}

/** An interval of integers that stands for [low, high] / 2^bits. */
interface Fixed {
  readonly low: bigint;
  readonly high: bigint;
}

const floorDivide = (a: bigint, b: bigint): bigint => (a >= 0n ? a / b : -((-a + b - 1n) / b));
const ceilingDivide = (a: bigint, b: bigint): bigint => -floorDivide(-a, b);
const floorShift = (a: bigint, bits: bigint): bigint => a >> bits;
const ceilingShift = (a: bigint, bits: bigint): bigint => -(-a >> bits);
/** n / 2^bits in lowest terms: only twos can cancel, so no greatest common divisor is needed. */
function dyadic(n: bigint, bits: bigint): Rational {
  if (n === 0n) return zero;
  const twos = BigInt((n & -n).toString(2).length - 1);
  const shared = twos < bits ? twos : bits;
  return { num: n >> shared, den: 1n << (bits - shared) };
}
const open = (f: Fixed, bits: bigint): Enclosure => ({ low: dyadic(f.low, bits), high: dyadic(f.high, bits) });

/** Bits that leave about `digits` correct ones in a result of the size of x. */
function bitsFor(x: Rational, digits: number): bigint {
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

/** 2 artanh(s) = 2 (s + s^3/3 + ..) for a rational 0 <= s <= 1/3; the rest is at most a ninth of the last term and more. */
function twiceArtanh(s: Rational, bits: bigint): Fixed {
  const square = rational(s.num * s.num, s.den * s.den);
  let powerLow = floorDivide(s.num << bits, s.den);
  let powerHigh = ceilingDivide(s.num << bits, s.den);
  let low = 0n;
  let high = 0n;
  for (let n = 1n; powerHigh > 1n; n += 2n) {
    low += powerLow / n;
    high += ceilingDivide(powerHigh, n);
    powerLow = floorDivide(powerLow * square.num, square.den);
    powerHigh = ceilingDivide(powerHigh * square.num, square.den);
  }
  return { low: 2n * low, high: 2n * (high + 2n) };
}

/** log x = k log 2 + 2 artanh((m - 1)/(m + 1)), x = 2^k m, 1 <= m <= 2; x >= 1. */
function logFixed(x: Rational, bits: bigint): Fixed {
  let k = BigInt(x.num.toString(2).length - x.den.toString(2).length);
  if (x.num < x.den << k) k -= 1n;
  const m = rational(x.num, x.den << k);
  const inner = bits + 32n;
  const part = twiceArtanh(rational(m.num - m.den, m.num + m.den), inner);
  const ln2 = twiceArtanh(rational(1, 3), inner);
  return { low: floorShift(k * ln2.low + part.low, 32n), high: ceilingShift(k * ln2.high + part.high, 32n) };
}

const negative = (e: Enclosure): Enclosure => ({
  low: { num: -e.high.num, den: e.high.den },
  high: { num: -e.low.num, den: e.low.den },
});
/** Of an enclosure of positive numbers. */
const inverse = (e: Enclosure): Enclosure => ({
  low: { num: e.high.den, den: e.high.num },
  high: { num: e.low.den, den: e.low.num },
});
const flip = (x: Rational): Rational => ({ num: -x.num, den: x.den });

export const slowExp = (x: Rational, digits = 160): Enclosure => {
  const bits = bitsFor(x, digits);
  return x.num < 0n ? inverse(open(expFixed(flip(x), bits), bits)) : open(expFixed(x, bits), bits);
};
export const slowExpm1 = (x: Rational, digits = 160): Enclosure => {
  const e = slowExp(x, digits);
  return { low: subtract(e.low, rational(1)), high: subtract(e.high, rational(1)) };
};
export const slowLog = (x: Rational, digits = 160): Enclosure => {
  if (x.num <= 0n) throw new RangeError('log of a number that is not positive');
  if (x.num === x.den) return { low: zero, high: zero };
  if (x.num < x.den) return negative(slowLog(rational(x.den, x.num), digits));
  const bits = bitsFor(subtract(x, rational(1)), digits);
  return open(logFixed(x, bits), bits);
};
export const slowLog1p = (x: Rational, digits = 160): Enclosure => slowLog(rational(x.num + x.den, x.den), digits);
export const slowTanh = (x: Rational, digits = 160): Enclosure => {
  const ratio = (e: Rational): Rational => rational(e.num - e.den, e.num + e.den);
  const e = slowExp(rational(2n * x.num, x.den), digits);
  return { low: ratio(e.low), high: ratio(e.high) };
};
export const slowArtanh = (y: Rational, digits = 160): Enclosure => {
  if (y.num < 0n) return negative(slowArtanh(flip(y), digits));
  const e = slowLog(rational(y.den + y.num, y.den - y.num), digits);
  return { low: rational(e.low.num, 2n * e.low.den), high: rational(e.high.num, 2n * e.high.den) };
};

/** True if the double is certainly not below (isAbove) or not above (isBelow) the enclosed value. */
export const isAbove = (x: number, e: Enclosure): boolean =>
  x === Number.POSITIVE_INFINITY || (Number.isFinite(x) && compare(fromNumber(x), e.high) >= 0);
export const isBelow = (x: number, e: Enclosure): boolean =>
  x === Number.NEGATIVE_INFINITY || (Number.isFinite(x) && compare(fromNumber(x), e.low) <= 0);
