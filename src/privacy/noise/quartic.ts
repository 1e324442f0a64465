import type { Enclosure } from '../../base/exact/slow.js';
import { type Bits, cryptoBits } from './bits.js';
import { uniformBits } from './uniform.js';

/**
 * Exact sample of the nearest integer to scale x Z, Z with density proportional to 1 / (1 + z^4), by ratio of uniforms with lazy
 * digits. `scale` returns enclosures of any precision (quartic.proof.md).
 */
export function quarticSampler(scale: (digits: number) => Enclosure, bits: Bits = cryptoBits): () => bigint {
  const known = new Map<number, Enclosure>();
  const enclosed = (digits: number): Enclosure => {
    const e = known.get(digits) ?? scale(digits);
    known.set(digits, e);
    return e;
  };
  return () => {
    for (;;) {
      const drawn = tryOnce(enclosed, bits);
      if (drawn !== undefined) return bits.bit() === 1 ? -drawn : drawn;
    }
  };
}

const firstBits = 64;

function tryOnce(scale: (digits: number) => Enclosure, bits: Bits): bigint | undefined {
  let u = 0n;
  let v = 0n;
  let accepted = false;
  for (let precision = firstBits; ; precision *= 2) {
    const fresh = precision === firstBits ? precision : precision / 2;
    u = (u << BigInt(fresh)) | uniformBits(fresh, bits);
    v = (v << BigInt(fresh)) | uniformBits(fresh, bits);
    if (!accepted) {
      const p = BigInt(precision);
      const verdict = inside(u, v, p);
      if (verdict === 'no') return undefined;
      accepted = verdict === 'yes';
    }
    if (!accepted || u === 0n) continue;
    // scale v / u lies between low (v) / (u + 1) and high (v + 1) / u, in units of the last digit.
    const { low, high } = scale(precision);
    const least = nearest(low.num * v, low.den * (u + 1n));
    if (least === nearest(high.num * (v + 1n), high.den * u)) return least;
  }
}

/** Decides u^4 + v^4 <= u^2 for all reals with these digits: 'yes' for all, 'no' for none, otherwise 'open'. */
function inside(u: bigint, v: bigint, p: bigint): 'yes' | 'no' | 'open' {
  const [u1, v1] = [u + 1n, v + 1n];
  if (u1 ** 4n + v1 ** 4n <= (u * u) << (2n * p)) return 'yes';
  if (u ** 4n + v ** 4n > (u1 * u1) << (2n * p)) return 'no';
  return 'open';
}

const nearest = (num: bigint, den: bigint): bigint => (2n * num + den) / (2n * den);
