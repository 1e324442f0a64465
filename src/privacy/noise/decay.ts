import type { Rational } from '../../base/exact/rational.js';
import { slowExp } from '../../base/exact/slow.js';

/** Integers around 2^bits e^-x, x >= 0. From x = bits on the value is below one, because e > 2: no digits of a huge x are needed. */
export function scaledExponential(x: Rational, bits: number): { readonly low: bigint; readonly high: bigint } {
  if (x.num >= BigInt(bits) * x.den) return { low: 0n, high: 1n };
  const { low, high } = slowExp({ num: -x.num, den: x.den }, bits);
  return { low: (low.num << BigInt(bits)) / low.den, high: (high.num << BigInt(bits)) / high.den + 1n };
}
