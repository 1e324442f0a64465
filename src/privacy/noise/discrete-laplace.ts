import { type Rational, toNumber } from '../../base/exact/rational.js';
import { bernoulliExponential } from './bernoulli.js';
import { type Bits, cryptoBits, type Digits } from './bits.js';
import { LazyReal } from './lazy-real.js';
import { uniformBelow } from './uniform.js';
import { UnitExponential } from './unit-exponential.js';

/**
 * Discrete Laplace, exactly (discrete-laplace.proof.md): `wideLaplace` as in Canonne et al. 2020 in BigInt; `laplaceNumbers` in
 * doubles with a certificate per draw, and integers where it fails.
 */

/** Draws integers: a bigint only where a step of the draw left the safe range of numbers. */
export interface NumberSampler {
  readonly draw: () => number | bigint;
}

function requirePositive(scale: Rational): void {
  if (scale.num <= 0n) throw new RangeError('the scale of noise must be positive');
}

const one = { num: 1n, den: 1n };

/** G >= 0 with P(G >= k) = e^(-k s / t): (U + t V) div s, U uniform below t kept with e^(-U / t), V geometric in e^-1. */
function wideGeometric(t: bigint, s: bigint, bits: Bits): bigint {
  let u = uniformBelow(t, bits);
  while (!bernoulliExponential({ num: u, den: t }, bits)) u = uniformBelow(t, bits);
  let v = 0n;
  while (bernoulliExponential(one, bits)) v++;
  return (u + t * v) / s;
}

/** The BigInt sampler, for scales of any size. */
export function wideLaplace(scale: Rational, bits: Bits = cryptoBits): () => bigint {
  requirePositive(scale);
  return () => {
    for (;;) {
      const g = wideGeometric(scale.num, scale.den, bits);
      // Zero has one sign: (-, 0) is refused, or zero would come twice as often.
      if (bits.bit() === 0) return g;
      if (g !== 0n) return -g;
    }
  };
}

/** floor(scale (whole + fraction)), drawing digits of the fraction until both ends of its interval agree. */
function exactFloor(scale: Rational, whole: bigint, fraction: LazyReal, base: bigint): bigint {
  let unit = base;
  for (let digits = 1; ; digits++, unit *= base) {
    const point = whole * unit + fraction.prefix(digits);
    const divisor = scale.den * unit;
    const low = (scale.num * point) / divisor;
    // The fraction is strictly below the end of its interval, so an end that is an integer is not reached.
    const high = (scale.num * (point + 1n) - 1n) / divisor;
    if (low === high) return low;
  }
}

/** Above the relative error of a product of two doubles, one of them a rational's double (proof note, lemma 2). */
const above = 1 + 2 ** -48;
const below = 1 - 2 ** -48;
const safe = 2 ** 53;

/** Magnitudes of the discrete Laplace, in doubles: G = floor(scale E), E exponential. */
export function geometricNumbers(scale: Rational, source: Digits): () => number | bigint {
  requirePositive(scale);
  const exponential = new UnitExponential(source);
  const base = source.base;
  const ratio = toNumber(scale) / base;
  if (!(ratio > 2 ** -900 && ratio < 2 ** 900)) return () => slowly(exponential.next());

  function slowly(n: number): bigint {
    if (n >= 0) {
      exponential.whole = BigInt(Math.floor(n / base));
      exponential.fraction = new LazyReal(source, [n % base]);
    }
    return exactFloor(scale, exponential.whole, exponential.fraction, BigInt(base));
  }

  return () => {
    const n = exponential.next();
    const product = n * ratio;
    const g = Math.floor(product);
    // scale E lies in [n, n + 1) scale / base; both ends, widened by more than their rounding, must have the same floor.
    if (n >= 0 && product * below >= g && (product + ratio) * above <= g + 1 && g < safe) return g;
    return slowly(n);
  };
}

/** The plain-number sampler. */
export function laplaceNumbers(scale: Rational, source: Digits = cryptoBits): NumberSampler {
  const magnitude = geometricNumbers(scale, source);
  return {
    draw: () => {
      for (;;) {
        const g = magnitude();
        if (source.bit() === 0) return g;
        if (g !== 0 && g !== 0n) return -g;
      }
    },
  };
}

/** The sampler a release uses. */
export function laplaceSampler(scale: Rational, source: Digits = cryptoBits): () => bigint {
  const { draw } = laplaceNumbers(scale, source);
  return () => BigInt(draw());
}
