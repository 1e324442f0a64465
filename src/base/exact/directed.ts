/**
 * Arithmetic on doubles that rounds to a known side: `xUp` is never below the true value, `xDown` never above.
 * Tight: an exact result is returned as it is, an inexact one moves by one neighbour. See outward.proof.md.
 */

const maximum = Number.MAX_VALUE;
const tiny = Number.MIN_VALUE;
/** 2^-53 (1 + 2^-52): more than half a unit in the last place, less than one (proof note, lemma 1). */
const justOverHalf = 2 ** -53 * (1 + 2 ** -52);
/** Veltkamp's constant 2^27 + 1 splits a double into two halves of 26 bits. */
const splitter = 134217729;
/** Inside these magnitudes the error of a product is itself a double and no step of computing it overflows. */
const floorOfExact = 2 ** -900;
const roofOfExact = 2 ** 990;

/** A double above x: its neighbour, or in the underflow range at most the second one. */
export const stepUp = (x: number): number =>
  x === Number.NEGATIVE_INFINITY ? -maximum : x + (Math.abs(x) * justOverHalf + tiny);
export const stepDown = (x: number): number =>
  x === Number.POSITIVE_INFINITY ? maximum : x - (Math.abs(x) * justOverHalf + tiny);

/** The rounding error of s = fl(a + b), exactly (Knuth). */
export const sumError = (a: number, b: number, s: number): number => {
  const t = s - a;
  return a - (s - t) + (b - t);
};

/** The rounding error of p = fl(a b), exactly, when a, b and p lie within the exact magnitudes (Dekker). */
const productError = (a: number, b: number, p: number): number => {
  const ca = a * splitter;
  const ah = ca - (ca - a);
  const al = a - ah;
  const cb = b * splitter;
  const bh = cb - (cb - b);
  const bl = b - bh;
  return al * bl - (p - ah * bh - al * bh - ah * bl);
};

const isExactRange = (x: number): boolean => {
  const m = Math.abs(x);
  return m > floorOfExact && m < roofOfExact;
};

export function addUp(a: number, b: number): number {
  const s = a + b;
  // An error of NaN (overflow on the way) is not `<= 0`, so it steps.
  if (sumError(a, b, s) <= 0) return s;
  return a === Number.NEGATIVE_INFINITY || b === Number.NEGATIVE_INFINITY ? s : stepUp(s);
}
export const addDown = (a: number, b: number): number => 0 - addUp(-a, -b);
export const subUp = (a: number, b: number): number => addUp(a, -b);
export const subDown = (a: number, b: number): number => 0 - addUp(-a, b);

/** 0 times Infinity is NaN, as in IEEE 754: a caller who means a limit must say which. */
export function mulUp(a: number, b: number): number {
  const p = a * b;
  if (isExactRange(a) && isExactRange(b) && isExactRange(p)) return productError(a, b, p) <= 0 ? p : stepUp(p);
  if (a === 0 || b === 0 || a - a !== 0 || b - b !== 0) return p;
  return a > 0 === b > 0 ? stepUp(p) : Math.min(0, stepUp(p));
}
export const mulDown = (a: number, b: number): number => 0 - mulUp(-a, b);

/** The sign of a - q b, where q is the double nearest to a / b. */
const remainder = (a: number, b: number, q: number): number => {
  const p = q * b;
  return a - p - productError(q, b, p);
};

/** x / 0 is an infinity of the usual sign and 0 / 0 is NaN. */
export function divUp(a: number, b: number): number {
  const q = a / b;
  if (isExactRange(a) && isExactRange(b) && isExactRange(q)) {
    const r = remainder(a, b, q);
    return r === 0 || r > 0 !== b > 0 ? q : stepUp(q);
  }
  if (a === 0 || b === 0 || a - a !== 0 || b - b !== 0) return q;
  return a > 0 === b > 0 ? stepUp(q) : Math.min(0, stepUp(q));
}
export const divDown = (a: number, b: number): number => 0 - divUp(-a, b);

export function sqrtUp(x: number): number {
  const s = Math.sqrt(x);
  if (isExactRange(x)) return remainder(x, s, s) <= 0 ? s : stepUp(s);
  return x === 0 || s - s !== 0 ? s : stepUp(s);
}
export function sqrtDown(x: number): number {
  const s = Math.sqrt(x);
  if (isExactRange(x)) return remainder(x, s, s) >= 0 ? s : stepDown(s);
  return x === 0 || s - s !== 0 ? s : Math.max(0, stepDown(s));
}
