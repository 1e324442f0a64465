import { type Bits, cryptoBits } from './bits.js';

/** Uniform on 0 .. 2^width - 1. */
export function uniformBits(width: number, bits: Bits = cryptoBits): bigint {
  let value = 0n;
  let left = width;
  for (; left >= 32; left -= 32) value = (value << 32n) | BigInt(bits.word());
  return left === 0 ? value : (value << BigInt(left)) | BigInt(bits.word() >>> (32 - left));
}

/** Uniform on 0 .. n - 1 for n >= 1, by rejection: fewer than two tries on average. */
export function uniformBelow(n: bigint, bits: Bits = cryptoBits): bigint {
  if (n <= 0n) throw new RangeError('uniform below a number that is not positive');
  const width = (n - 1n).toString(2).length;
  for (;;) {
    const r = n === 1n ? 0n : uniformBits(width, bits);
    if (r < n) return r;
  }
}
