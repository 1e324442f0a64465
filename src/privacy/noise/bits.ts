import { randomBytes, randomFillSync } from '../../base/platform/random.js';

/** Fills a buffer with uniform random bytes. Only tests pass another source than the operating system's. */
export type ByteSource = (buffer: Uint8Array) => void;

/** Uniform digits 0 .. base - 1 (base a power of two), the samplers' only source of randomness. */
export interface Digits {
  readonly base: number;
  word(): number;
  bit(): 0 | 1;
}

/** One call to the operating system serves this many bytes: a call per draw would cost a hundred times the draw. */
const poolBytes = 16384;
const two32 = 2 ** 32;

/**
 * Uniform random words from a pool of cryptographic bytes, and uniform integers by rejection (no modulo bias). Used words are
 * erased, so that memory does not reveal past noise.
 */
export class Bits implements Digits {
  readonly base = two32;
  private readonly pool = new Uint32Array(poolBytes / 4);
  private readonly bytes = new Uint8Array(this.pool.buffer);
  private at = this.pool.length;
  private reserve = 0;
  private reserved = 0;
  private readonly source: ByteSource;

  constructor(source: ByteSource) {
    this.source = source;
  }

  /** Uniform on 0 .. 2^32 - 1. */
  word(): number {
    if (this.at === this.pool.length) {
      this.source(this.bytes);
      this.at = 0;
    }
    const w = this.pool[this.at]!;
    this.pool[this.at++] = 0;
    return w;
  }

  /** A fair coin. */
  bit(): 0 | 1 {
    if (this.reserved === 0) {
      this.reserve = this.word();
      this.reserved = 32;
    }
    const b = (this.reserve & 1) as 0 | 1;
    this.reserve >>>= 1;
    this.reserved--;
    return b;
  }

  /** Uniform on 0 .. n - 1, for an integer 1 <= n <= 2^53. */
  below(n: number): number {
    if (n >= two32) return this.belowWide(n);
    // Lemire: the high word of w n is uniform once the low words under (2^32 mod n) are refused.
    let w = this.word();
    let low = Math.imul(w, n) >>> 0;
    if (low < n) {
      const refused = two32 % n;
      while (low < refused) {
        w = this.word();
        low = Math.imul(w, n) >>> 0;
      }
    }
    // The double w n is off by at most 2^10, far less than half of 2^32, so rounding restores the high word.
    return Math.round((w * n - low) / two32);
  }

  private belowWide(n: number): number {
    const high = Math.floor((n - 1) / two32);
    const mask = high === 0 ? 0 : 2 ** (32 - Math.clz32(high)) - 1;
    for (;;) {
      const r = (this.word() & mask) * two32 + this.word();
      if (r < n) return r;
    }
  }
}

/** The bits every release uses. Nothing can seed them. */
export const cryptoBits = new Bits((buffer) => randomFillSync(buffer));

/** Bytes for names and secrets that must be unguessable: fresh from the system, not from the pool of noise. */
export const secretBytes = (bytes: number): Buffer => randomBytes(bytes);
