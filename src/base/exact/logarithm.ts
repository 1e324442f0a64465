import { sumError } from './directed.js';
import { ln2High, ln2Low } from './exponential.js';

/** log, log1p and artanh from + - * / alone. Bounds are padded by more than the whole error (outward.proof.md, lemmas 6 to 8). */

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

/** R(s^2) with log((1+s)/(1-s)) = 2s + s R(s^2), for |s| <= 0.1716. */
const seriesOf = (z: number): number => {
  const w = z * z;
  const odd = d1 + w * (d3 + w * (d5 + w * (d7 + w * d9)));
  const even = d2 + w * (d4 + w * (d6 + w * (d8 + w * d10)));
  return z * (odd + z * even);
};

/** log(1 + f) - f for sqrt(1/2) <= 1 + f <= sqrt(2): with s = f/(2+f), log(1+f) = f - (f^2/2 - s (f^2/2 + R(s^2))). */
const tailOf = (f: number): number => {
  const s = f / (2 + f);
  const half = 0.5 * (f * f);
  return s * (half + seriesOf(s * s)) - half;
};

/** A bound of log(1 + f) where f + tail is all there is. */
const nearOne = (f: number, side: 1 | -1): number =>
  f + (tailOf(f) + side * (unit * (3 * f * f + 1.25 * Math.abs(f)) + 4 * tiny));

const asDouble = new Float64Array(1);
const asWords = new Uint32Array(asDouble.buffer);
/** Index of the word of a double that holds the exponent on this machine (endianness). */
const top = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1 ? 1 : 0;
const subnormal = 2 ** -1022;
/** downscale[e] = 2^(1023 - e) brings a double of biased exponent e into [1, 2); the last ones are subnormal but exact. */
const downscale = Float64Array.from({ length: 2047 }, (_, e) => 2 ** (1023 - e));

/** A bound of log(x) + shift log(2) + correction, for normal x > 0, |correction| <= 1.01 unit and wrong by at most `wrong`. */
function logBound(x: number, shift: number, correction: number, wrong: number, side: 1 | -1): number {
  asDouble[0] = x;
  const exponent = asWords[top]! >>> 20;
  let m = x * downscale[exponent]!;
  let k = exponent - 1023 + shift;
  if (m > Math.SQRT2) {
    m *= 0.5;
    k++;
  }
  const f = m - 1;
  const whole = k * ln2High;
  const head = whole + f;
  const rest = sumError(whole, f, head) + (tailOf(f) + (k * ln2Low + correction));
  const pad = unit * (3 * f * f + 0.25 + 1.3 * Math.abs(head)) + wrong;
  return head + (rest + side * pad);
}

function logOf(x: number, side: 1 | -1): number {
  if (x > 0.71 && x < 1.41) return x === 1 ? 0 : nearOne(x - 1, side);
  if (x >= subnormal && x < Number.POSITIVE_INFINITY) return logBound(x, 0, 0, 0, side);
  if (x > 0 && x < subnormal) return logBound(x * 2 ** 54, -54, 0, 0, side);
  if (x === 0) return Number.NEGATIVE_INFINITY;
  return x > 0 ? x : Number.NaN;
}
export const logUp = (x: number): number => logOf(x, 1);
export const logDown = (x: number): number => logOf(x, -1);

function log1pOf(x: number, side: 1 | -1): number {
  if (x > -0.29 && x < 0.41) return x === 0 ? x : nearOne(x, side);
  if (!(x > -1)) return x === -1 ? Number.NEGATIVE_INFINITY : Number.NaN;
  if (x === Number.POSITIVE_INFINITY) return x;
  const y = 1 + x;
  return logBound(y, 0, sumError(1, x, y) / y, 0, side);
}
export const log1pUp = (x: number): number => log1pOf(x, 1);
export const log1pDown = (x: number): number => log1pOf(x, -1);

/** artanh y is half of log((1+y)/(1-y)): the series itself for small y, else log1p of q = 2y/(1-y), wrong by 2.1 units. */
function artanhOfPositive(y: number, side: 1 | -1): number {
  if (y < 0.17) return y + (0.5 * y * seriesOf(y * y) + side * (1.25 * unit * y + 4 * tiny));
  if (y >= 1) return y === 1 ? Number.POSITIVE_INFINITY : Number.NaN;
  const q = (2 * y) / (1 - y);
  const ratio = 1 + q;
  return 0.5 * logBound(ratio, 0, sumError(1, q, ratio) / ratio, 2.1 * unit * Math.min(1, 2 * y), side);
}
function artanhOf(y: number, side: 1 | -1): number {
  if (y > 0) return artanhOfPositive(y, side);
  return y < 0 ? -artanhOfPositive(-y, side === 1 ? -1 : 1) : y;
}
export const artanhUp = (y: number): number => artanhOf(y, 1);
export const artanhDown = (y: number): number => artanhOf(y, -1);
