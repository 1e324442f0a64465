import { type Rational, toNumber } from '../../base/exact/rational.js';
import { firstWhere } from '../../base/exact/search.js';
import { type Bits, cryptoBits } from './bits.js';
import { scaledExponential } from './decay.js';
import { uniformBelow, uniformBits } from './uniform.js';

/**
 * Rungs of integers around zero: zero has weight 1, each of the widths(u - 1) integers on either side in rung u has weight
 * e^(-decay u). Sampled exactly by integer enclosures (ladder.proof.md).
 */
export interface Rungs {
  /** Non-negative and non-decreasing in t; a width of 0 counts as 1. */
  readonly width: (t: number) => bigint;
  /** No width is larger. */
  readonly widest: bigint;
}

export function ladderSampler(rungs: Rungs, decay: Rational, bits: Bits = cryptoBits): () => bigint {
  if (decay.num <= 0n) throw new RangeError('a ladder must decay');
  const width = (t: number): bigint => rungs.width(t) || 1n;
  const firstBits = digitsFor(rungs.widest);
  const tables = new Map<number, Table>();
  const table = (precision: number): Table => {
    const known = tables.get(precision) ?? tabulate(width, rungs.widest || 1n, decay, precision);
    tables.set(precision, known);
    return known;
  };
  return () => {
    const rung = findRung(table, firstBits, bits);
    if (rung === 0) return 0n;
    let distance = 1n + uniformBelow(width(rung - 1), bits);
    for (let t = 0; t < rung - 1; t++) distance += width(t);
    return bits.bit() === 1 ? -distance : distance;
  };
}

/** Enclosures of the cumulated weights of rungs 0 .. u, and of the total, as integers over 2^precision. */
interface Table {
  readonly low: readonly bigint[];
  readonly high: readonly bigint[];
  readonly totalLow: bigint;
  readonly totalHigh: bigint;
}

/** Upper bound on the rungs that a draw tabulates, from the decay and a bound on the widths: rungs until their weight sinks below half the digits. */
export const rungsTabulated = (decay: Rational, widest: bigint): number =>
  Math.ceil((0.5 * digitsFor(widest) * Math.LN2) / toNumber(decay)) + 1;
/** Wide rungs weigh much even where e^(-decay u) is small, so they need more digits. */
const digitsFor = (widest: bigint): number => 128 + 2 * widest.toString(2).length;

function tabulate(width: (t: number) => bigint, widest: bigint, decay: Rational, precision: number): Table {
  const p = BigInt(precision);
  const one = 1n << p;
  const { low: ratioLow, high: ratioHigh } = scaledExponential(decay, precision);
  const low = [one];
  const high = [one];
  let powerLow = one;
  let powerHigh = one;
  // Rungs whose weight has sunk below half the digits are left to the rest.
  while (powerHigh > one >> (p / 2n)) {
    powerLow = (powerLow * ratioLow) >> p;
    powerHigh = ((powerHigh * ratioHigh) >> p) + 1n;
    const both = 2n * width(low.length - 1);
    low.push(low.at(-1)! + both * powerLow);
    high.push(high.at(-1)! + both * powerHigh);
  }
  const rest = (2n * widest * powerHigh * ratioHigh) / (one - ratioHigh) + 1n;
  return { low, high, totalLow: low.at(-1)!, totalHigh: high.at(-1)! + rest };
}

function findRung(table: (precision: number) => Table, firstBits: number, bits: Bits): number {
  let digits = 0n;
  for (let precision = firstBits; ; precision *= 2) {
    const fresh = precision === firstBits ? precision : precision / 2;
    digits = (digits << BigInt(fresh)) | uniformBits(fresh, bits);
    const t = table(precision);
    const p = BigInt(precision);
    const from = (digits * t.totalLow) >> p;
    const to = (((digits + 1n) * t.totalHigh) >> p) + 1n;
    const u = firstWhere(t.low.length, (k) => t.low[k]! >= to);
    if (u < t.low.length && (u === 0 || from >= t.high[u - 1]!)) return u;
  }
}
