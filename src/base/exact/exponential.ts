import { stepDown, stepUp, subDown, sumError } from './directed.js';

/**
 * exp, expm1 and tanh from + - * / alone, since ECMAScript does not specify the accuracy of Math.exp. Bounds are padded by more
 * than the whole error (outward.proof.md, lemmas 3 to 5).
 */

/** ln 2 = ln2High + ln2Low within 2^-101; ln2High has 42 bits, so k ln2High is exact for |k| < 2^11. */
export const ln2High = 0.6931471805598903;
export const ln2Low = 5.497923018708371e-14;
const inverseLn2 = Math.LOG2E;
const unit = 2 ** -53;
const tiny = Number.MIN_VALUE;

const c3 = 1 / 6;
const c4 = 1 / 24;
const c5 = 1 / 120;
const c6 = 1 / 720;
const c7 = 1 / 5040;
const c8 = 1 / 40320;
const c9 = 1 / 362880;
const c10 = 1 / 3628800;
const c11 = 1 / 39916800;
const c12 = 1 / 479001600;
const c13 = 1 / 6227020800;
const c14 = 1 / 87178291200;

/** e^(r + correction) - 1 - r for |r| <= 0.3468 and |correction| <= unit |r|. */
const tailOf = (r: number, correction: number): number => {
  const z = r * r;
  const odd = c3 + z * (c5 + z * (c7 + z * (c9 + z * (c11 + z * c13))));
  const even = c4 + z * (c6 + z * (c8 + z * (c10 + z * (c12 + z * c14))));
  return z * (0.5 + r * (odd + r * even)) + (correction + correction * r);
};

const powers = Float64Array.from({ length: 2047 }, (_, i) => 2 ** (i - 1023));
const powerOfTwo = (k: number): number => powers[k + 1023]!;

function expBound(x: number, side: 1 | -1): number {
  const k = Math.floor(x * inverseLn2 + 0.5);
  const hi = x - k * ln2High;
  const lo = -k * ln2Low;
  const r = hi + lo;
  const head = 1 + r;
  const rest = sumError(1, r, head) + tailOf(r, sumError(hi, lo, r));
  const pad = unit * (Math.abs(r) + 0.16 + 1.15 * head);
  const y = head + (rest + side * pad);
  if (k > -1000 && k < 1024) return y * powerOfTwo(k);
  if (k > 0) return y * powerOfTwo(k - 1) * 2;
  const small = y * powerOfTwo(k + 200) * powerOfTwo(-200);
  return side > 0 ? stepUp(small) : Math.max(0, stepDown(small));
}

/** e^709.79 overflows and e^-745.2 is below half the least double. */
const overflowing = 709.79;
const vanishing = -745.2;

export function expUp(x: number): number {
  if (x > overflowing) return Number.POSITIVE_INFINITY;
  if (x < vanishing) return x === Number.NEGATIVE_INFINITY ? 0 : tiny;
  return x === 0 ? 1 : expBound(x, 1);
}
export function expDown(x: number): number {
  if (x > overflowing) return x === Number.POSITIVE_INFINITY ? x : Number.MAX_VALUE;
  if (x < vanishing) return 0;
  return x === 0 ? 1 : Math.min(Number.MAX_VALUE, expBound(x, -1));
}

/** For -40 <= x <= 40; outside, e^x or -1 dominates. */
function expm1Bound(x: number, side: 1 | -1): number {
  const k = Math.floor(x * inverseLn2 + 0.5);
  if (k === 0) return x + (tailOf(x, 0) + side * (unit * (2.8 * x * x + 1.25 * Math.abs(x)) + 4 * tiny));
  const hi = x - k * ln2High;
  const lo = -k * ln2Low;
  const r = hi + lo;
  const head = 1 + r;
  const rest = sumError(1, r, head) + tailOf(r, sumError(hi, lo, r));
  const scale = powerOfTwo(k);
  const scaled = head * scale;
  const difference = scaled - 1;
  const pad = unit * (scale * (Math.abs(r) + 0.25) + 1.35 * Math.abs(difference));
  return difference + (sumError(scaled, -1, difference) + rest * scale + side * pad);
}

export function expm1Up(x: number): number {
  if (x > 40) return expUp(x);
  if (x < -40) return x === Number.NEGATIVE_INFINITY ? -1 : -1 + unit;
  return x === 0 ? x : expm1Bound(x, 1);
}
export function expm1Down(x: number): number {
  if (x > 40) return x === Number.POSITIVE_INFINITY ? x : subDown(expDown(x), 1);
  if (x < -40) return -1;
  return x === 0 ? x : Math.max(-1, expm1Bound(x, -1));
}

/** From here tanh lies between the last double below one and one. */
const saturated = 19;

function tanhOfPositive(x: number, side: 1 | -1): number {
  if (x >= saturated) return side > 0 || x === Number.POSITIVE_INFINITY ? 1 : 1 - unit;
  // tanh x = t / (t + 2) with t = e^(2x) - 1, increasing in t; the quotient's own error is below 3.2 units.
  const t = expm1Bound(2 * x, side);
  const q = t / (t + 2);
  const bound = q + side * (3.2 * unit * q + 2 * tiny);
  return side > 0 ? Math.min(1, bound) : Math.max(0, bound);
}

function tanhOf(x: number, side: 1 | -1): number {
  if (x > 0) return tanhOfPositive(x, side);
  return x < 0 ? -tanhOfPositive(-x, side === 1 ? -1 : 1) : x;
}
export const tanhUp = (x: number): number => tanhOf(x, 1);
export const tanhDown = (x: number): number => tanhOf(x, -1);
