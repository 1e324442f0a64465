import { Fault } from '../errors.js';
import { exceeded, limits, within } from '../input/limits.js';

/** An exact fraction in lowest terms; the denominator is positive. */
export interface Rational {
  readonly num: bigint;
  readonly den: bigint;
}

/** Greatest common divisor, at least 0. */
export function gcd(a: bigint, b: bigint): bigint {
  let x = a < 0n ? -a : a;
  let y = b < 0n ? -b : b;
  while (y > largestSafe) [x, y] = [y, x % y];
  if (y === 0n) return x;
  // The remaining numbers are exact as doubles, where Euclid's algorithm is several times faster.
  let [u, v] = [Number(y), Number(x % y)];
  while (v !== 0) [u, v] = [v, u % v];
  return BigInt(u);
}
const largestSafe = BigInt(Number.MAX_SAFE_INTEGER);

export function rational(num: bigint | number, den: bigint | number = 1n): Rational {
  const n = BigInt(num);
  const d = BigInt(den);
  if (d === 1n) return { num: n, den: d };
  if (d === 0n) throw new RangeError('zero denominator');
  const g = gcd(n, d) || 1n;
  return d < 0n ? { num: -n / g, den: -d / g } : { num: n / g, den: d / g };
}

export const zero: Rational = rational(0);
export const one: Rational = rational(1);

const decimal = /^([+-]?)(\d+)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$|^([+-]?)\.(\d+)(?:[eE]([+-]?\d+))?$/;

/** Reads "0.3", "1e-6", "2/3" exactly; anything else (NaN, "1e400", "") is a fault naming `what`. */
export function parseRational(text: string, what = 'number'): Rational {
  within('digits', text.length, undefined, `The ${what}`);
  const trimmed = text.trim();
  const fraction = /^([+-]?\d+)\/(\d+)$/.exec(trimmed);
  if (fraction && BigInt(fraction[2]!) !== 0n) return usual(rational(BigInt(fraction[1]!), BigInt(fraction[2]!)), what);
  const m = decimal.exec(trimmed);
  const exponent = m ? Number(m[4] ?? m[7] ?? '0') : Number.NaN;
  if (m && !(Math.abs(exponent) <= limits.digits.most)) throw exceeded('exponent', exponent, undefined, `The ${what}`);
  if (!m)
    throw new Fault(
      'BUDGET_INVALID',
      `The ${what} is not a usable number.`,
      'Write a plain decimal such as 0.3 or 1e-6, or a fraction such as 2/3.',
    );
  const sign = (m[1] ?? m[5]) === '-' ? -1n : 1n;
  const whole = m[2] ?? '';
  const part = m[3] ?? m[6] ?? '';
  const digits = BigInt(`${whole}${part}` || '0') * sign;
  const shift = exponent - part.length;
  return usual(shift >= 0 ? rational(digits * 10n ** BigInt(shift)) : rational(digits, 10n ** BigInt(-shift)), what);
}

/** Refuses a number whose power of ten is beyond the limit, however it is written. */
function usual(x: Rational, what: string): Rational {
  const digits = (n: bigint) => `${n < 0n ? -n : n}`.length;
  if (x.num !== 0n) within('exponent', Math.abs(digits(x.num) - digits(x.den)), undefined, `The ${what}`);
  return x;
}

/** The exact value of a finite double. */
export function fromNumber(x: number): Rational {
  if (!Number.isFinite(x)) throw new RangeError('not finite');
  if (Number.isInteger(x)) return rational(BigInt(x));
  let y = x;
  let twos = 0;
  for (; !Number.isInteger(y); twos += 32) y *= 2 ** 32;
  for (; twos > 0 && y % 2 === 0; twos--) y /= 2;
  return { num: BigInt(y), den: 1n << BigInt(twos) };
}

export const add = (a: Rational, b: Rational): Rational =>
  a.den === b.den ? rational(a.num + b.num, a.den) : rational(a.num * b.den + b.num * a.den, a.den * b.den);
export const subtract = (a: Rational, b: Rational): Rational => rational(a.num * b.den - b.num * a.den, a.den * b.den);
export const multiply = (a: Rational, b: Rational): Rational => rational(a.num * b.num, a.den * b.den);
export const divide = (a: Rational, b: Rational): Rational => rational(a.num * b.den, a.den * b.num);
export const negate = (a: Rational): Rational => ({ num: -a.num, den: a.den });
export const compare = (a: Rational, b: Rational): -1 | 0 | 1 => {
  const left = a.num * b.den;
  const right = b.num * a.den;
  if (left === right) return 0;
  return left < right ? -1 : 1;
};
export const isZero = (a: Rational): boolean => a.num === 0n;
export const isPositive = (a: Rational): boolean => a.num > 0n;
export const equal = (a: Rational, b: Rational): boolean => a.num === b.num && a.den === b.den;
export const minimum = (a: Rational, b: Rational): Rational => (compare(a, b) <= 0 ? a : b);
export const maximum = (a: Rational, b: Rational): Rational => (compare(a, b) >= 0 ? a : b);
export const sum = (list: Iterable<Rational>): Rational => [...list].reduce(add, zero);

export function floor(a: Rational): bigint {
  const q = a.num / a.den;
  return a.num < 0n && q * a.den !== a.num ? q - 1n : q;
}
export const ceiling = (a: Rational): bigint => -floor(negate(a));

/** "3/10": exact and readable back by parseRational; the ledger stores this. */
export const toText = (a: Rational): string => (a.den === 1n ? `${a.num}` : `${a.num}/${a.den}`);

const words = new DataView(new ArrayBuffer(8));
/** The neighbouring double above (or below); the identity on +Infinity (or -Infinity) and NaN. */
export function nextUp(x: number): number {
  // Away from the underflow range x + step rounds to the neighbour (outward.proof.md, lemma 1); no bits are touched.
  const size = Math.abs(x);
  if (size > 2 ** -900 && size < Number.MAX_VALUE) return x + size * (2 ** -53 * (1 + 2 ** -52));
  if (Number.isNaN(x) || x === Number.POSITIVE_INFINITY) return x;
  if (x === 0) return Number.MIN_VALUE;
  words.setFloat64(0, x);
  const bits = words.getBigInt64(0);
  words.setBigInt64(0, x > 0 ? bits + 1n : bits - 1n);
  return words.getFloat64(0);
}
export const nextDown = (x: number): number => -nextUp(-x);

/** The nearest double (for reports). */
export function toNumber(a: Rational): number {
  const n = Number(a.num);
  const d = Number(a.den);
  if (Number.isFinite(n) && Number.isFinite(d) && a.num === BigInt(n) && a.den === BigInt(d)) return n / d;
  if (a.num === 0n) return 0;
  const sign = a.num < 0n ? -1 : 1;
  const top = a.num < 0n ? -a.num : a.num;
  const shift = BigInt(top.toString(2).length - a.den.toString(2).length);
  const scaled = shift > 64n ? top / (a.den << (shift - 64n)) : (top << (64n - shift)) / a.den;
  // Two factors, because 2^(shift - 64) alone underflows where the result is still a small double.
  const exponent = Number(shift - 64n);
  return exponent < -1000 ? sign * Number(scaled) * 2 ** -1000 * 2 ** (exponent + 1000) : sign * Number(scaled) * 2 ** exponent;
}
/** The least double not below a (toNumber is within two ulps, so a short walk reaches it). */
export function toNumberUp(a: Rational): number {
  let x = Math.max(toNumber(a), -Number.MAX_VALUE);
  while (Number.isFinite(x) && compare(fromNumber(x), a) < 0) x = nextUp(x);
  for (let y = nextDown(x); Number.isFinite(y) && compare(fromNumber(y), a) >= 0; y = nextDown(x)) x = y;
  return x;
}
/** The greatest double not above a. */
export const toNumberDown = (a: Rational): number => -toNumberUp(negate(a));
