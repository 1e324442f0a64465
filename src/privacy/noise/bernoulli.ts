import type { Rational } from '../../base/exact/rational.js';
import { type Bits, cryptoBits } from './bits.js';
import { uniformBelow } from './uniform.js';

/** True with probability p, exactly, for 0 <= p <= 1. */
export const bernoulli = (p: Rational, bits: Bits = cryptoBits): boolean => uniformBelow(p.den, bits) < p.num;

/** True with probability e^-x for 0 <= x <= 1: the first failing K of a run of Bernoulli(x / K) is odd that often (Canonne et al. 2020). */
function unitExponential(num: bigint, den: bigint, bits: Bits): boolean {
  let k = 1n;
  while (uniformBelow(den * k, bits) < num) k++;
  return k % 2n === 1n;
}

/** True with probability e^-x, exactly, for any rational x >= 0. */
export function bernoulliExponential(x: Rational, bits: Bits = cryptoBits): boolean {
  if (x.num < 0n) throw new RangeError('e^-x is no probability for a negative x');
  for (let whole = x.num / x.den; whole > 0n; whole--) if (!unitExponential(1n, 1n, bits)) return false;
  return unitExponential(x.num % x.den, x.den, bits);
}
