import { compare, fromNumber, type Rational, rational, subtract, zero } from '../src/base/exact/rational.js';
import {
  bitsFor,
  ceilingDivide,
  ceilingShift,
  type Enclosure,
  type Fixed,
  flip,
  floorDivide,
  floorShift,
  open,
  slowExp,
} from '../src/base/exact/slow.js';

/** Enclosures of log, tanh and artanh in integer arithmetic: with those of exp the slower reference for outward.ts. */

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
