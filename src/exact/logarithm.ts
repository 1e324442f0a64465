import { divDown, divUp, mulDown, mulUp, roundSum, subDown, subUp, sumError } from './directed.js';
import { ln2High, ln2Low } from './exponential.js';

/**
 * log, log1p and artanh from + - * / alone.
 * x = 2^k (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)]; log(1 + f) is kept as f + tail, whose error is at most `slack` (proof note, lemma 4).
 */

const unit = 2 ** -53;
const tiny = Number.MIN_VALUE;

const d1 = 2 / 3;
const d2 = 2 / 5;
const d3 = 2 / 7;
const d4 = 2 / 9;
const d5 = 2 / 11;
const d6 = 2 / 13;
const d7 = 2 / 15;
const d8 = 2 / 17;
const d9 = 2 / 19;
const d10 = 2 / 21;

/** log(1 + f) - f for sqrt(1/2) <= 1 + f <= sqrt(2): with s = f/(2+f), log(1+f) = f - (f^2/2 - s (f^2/2 + R(s^2))). */
const tailOf = (f: number): number => {
  const s = f / (2 + f);
  const z = s * s;
  const w = z * z;
  const odd = d1 + w * (d3 + w * (d5 + w * (d7 + w * d9)));
  const even = d2 + w * (d4 + w * (d6 + w * (d8 + w * d10)));
  const half = 0.5 * (f * f);
  return s * (half + z * (odd + z * even)) - half;
};
const slackOf = (f: number): number => 2.5 * unit * (f * f) + 4 * tiny;

const asDouble = new Float64Array(1);
const asWords = new Uint32Array(asDouble.buffer);
/** Which of the two words holds the exponent on this machine. */
const top = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1 ? 1 : 0;
const subnormal = 2 ** -1022;

/** A bound of log(x (1 + correction)) for finite x > 0 and |correction| <= 1.01 unit. */
function logBound(x: number, correction: number, side: 1 | -1): number {
  let k = 0;
  asDouble[0] = x;
  if (x < subnormal) {
    asDouble[0] = x * 2 ** 54;
    k = -54;
  }
  const word = asWords[top]!;
  k += (word >>> 20) - 1023;
  asWords[top] = (word & 0xfffff) | 0x3ff00000;
  let m = asDouble[0]!;
  if (m > Math.SQRT2) {
    m *= 0.5;
    k++;
  }
  const f = m - 1;
  const tail = tailOf(f);
  if (k === 0 && correction === 0) return f === 0 ? 0 : roundSum(f, tail + side * slackOf(f), side);
  const whole = k * ln2High;
  const head = whole + f;
  const rest = sumError(whole, f, head) + (tail + (k * ln2Low + correction));
  return roundSum(head, rest + side * (slackOf(f) + 0.25 * unit), side);
}

const logOf = (x: number, side: 1 | -1): number => {
  if (x > 0 && x < Number.POSITIVE_INFINITY) return logBound(x, 0, side);
  return x === 0 ? Number.NEGATIVE_INFINITY : x > 0 ? x : Number.NaN;
};
export const logUp = (x: number): number => logOf(x, 1);
export const logDown = (x: number): number => logOf(x, -1);

function log1pOf(x: number, side: 1 | -1): number {
  if (x > -0.29 && x < 0.41) return x === 0 ? x : roundSum(x, tailOf(x) + side * slackOf(x), side);
  if (!(x > -1)) return x === -1 ? Number.NEGATIVE_INFINITY : Number.NaN;
  if (x === Number.POSITIVE_INFINITY) return x;
  const y = 1 + x;
  return logBound(y, sumError(1, x, y) / y, side);
}
export const log1pUp = (x: number): number => log1pOf(x, 1);
export const log1pDown = (x: number): number => log1pOf(x, -1);

/** artanh y = log1p(2y / (1 - y)) / 2 for 0 < y; beyond one there is no value. */
const artanhOfPositive = (y: number, side: 1 | -1): number => {
  if (y >= 1) return y === 1 ? Number.POSITIVE_INFINITY : Number.NaN;
  return side > 0 ? mulUp(0.5, log1pUp(divUp(2 * y, subDown(1, y)))) : mulDown(0.5, log1pDown(divDown(2 * y, subUp(1, y))));
};
export const artanhUp = (y: number): number => (y > 0 ? artanhOfPositive(y, 1) : y < 0 ? -artanhOfPositive(-y, -1) : y);
export const artanhDown = (y: number): number => (y > 0 ? artanhOfPositive(y, -1) : y < 0 ? -artanhOfPositive(-y, 1) : y);
