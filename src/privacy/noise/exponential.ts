import { type Rational, rational } from '../../base/exact/rational.js';
import { firstWhere } from '../../base/exact/search.js';
import { cryptoBits, type Digits } from './bits.js';
import { scaledExponential } from './decay.js';
import { LazyReal } from './lazy-real.js';

/**
 * Exponential mechanism over finitely many candidates: an index with probability proportional to multiplicity e^(rate score),
 * exactly, by integer enclosures of increasing precision (exponential.proof.md).
 */
export interface Candidates {
  /** Larger is better. */
  readonly scores: readonly bigint[];
  /** Number of equal candidates that an index stands for (the width of an interval); one each when absent. */
  readonly multiplicities?: readonly bigint[];
}

interface Sums {
  /** Cumulative weights, scaled by 2^bits: low[i] <= sum of the first i + 1 weights <= high[i]. */
  readonly low: readonly bigint[];
  readonly high: readonly bigint[];
}

/** Weights relative to the best candidate, from gap to gap by one multiplication. */
function weightsOf(gaps: readonly bigint[], rate: Rational, bits: number): Map<bigint, { low: bigint; high: bigint }> {
  const shift = BigInt(bits);
  const steps = new Map<bigint, { low: bigint; high: bigint }>();
  const weights = new Map<bigint, { low: bigint; high: bigint }>();
  let current = { low: 1n << shift, high: 1n << shift };
  let at = 0n;
  for (const gap of [...new Set(gaps)].sort((a, b) => Number(a > b) - Number(a < b))) {
    if (gap > at) {
      const step = steps.get(gap - at) ?? scaledExponential(rational(rate.num * (gap - at), rate.den), bits);
      steps.set(gap - at, step);
      current = { low: (current.low * step.low) >> shift, high: ((current.high * step.high) >> shift) + 1n };
      at = gap;
    }
    weights.set(gap, current);
  }
  return weights;
}

function sumsOf(candidates: Candidates, gaps: readonly bigint[], rate: Rational, bits: number): Sums {
  const weights = weightsOf(gaps, rate, bits);
  const low: bigint[] = [];
  const high: bigint[] = [];
  let lowSum = 0n;
  let highSum = 0n;
  for (const [i, gap] of gaps.entries()) {
    const count = candidates.multiplicities?.[i] ?? 1n;
    const weight = weights.get(gap)!;
    lowSum += count * weight.low;
    highSum += count * weight.high;
    low.push(lowSum);
    high.push(highSum);
  }
  return { low, high };
}

/** The index whose stretch of the cumulative sums holds the point for certain, or -1. */
function locate({ low, high }: Sums, last: number, digits: bigint, unit: bigint): number {
  const from = digits * low[last]!;
  const to = (digits + 1n) * high[last]!;
  const left = firstWhere(last, (k) => low[k]! * unit >= to);
  // The last stretch ends at the total itself, which the point never reaches.
  return left === 0 || high[left - 1]! * unit <= from ? left : -1;
}

function check(candidates: Candidates, rate: Rational): void {
  const { scores, multiplicities } = candidates;
  if (rate.num < 0n) throw new RangeError('a negative rate would prefer the worst candidate');
  if (multiplicities && (multiplicities.length !== scores.length || multiplicities.some((m) => m < 0n)))
    throw new RangeError('one multiplicity of zero or more for each score');
  if (scores.length === 0 || multiplicities?.every((m) => m === 0n)) throw new RangeError('nothing to choose from');
}

/** Draws of one choice; the sums of weights are kept between draws. */
export function exponentialSampler(candidates: Candidates, rate: Rational, source: Digits = cryptoBits): () => number {
  check(candidates, rate);
  const { scores, multiplicities } = candidates;
  const isPossible = (i: number): boolean => multiplicities === undefined || multiplicities[i]! > 0n;
  const best = scores.reduce<bigint | undefined>((a, b, i) => (isPossible(i) && (a === undefined || b > a) ? b : a), undefined)!;
  const gaps = scores.map((s) => (s > best ? 0n : best - s));
  const last = scores.findLastIndex((_, i) => isPossible(i));
  const base = BigInt(source.base);
  const kept = new Map<number, Sums>();
  const sums = (bits: number): Sums => {
    const known = kept.get(bits) ?? sumsOf(candidates, gaps, rate, bits);
    kept.set(bits, known);
    return known;
  };
  return () => {
    const point = new LazyReal(source);
    for (let digits = 4, bits = 192; ; digits *= 2, bits *= 2) {
      const found = locate(sums(bits), last, point.prefix(digits), base ** BigInt(digits));
      if (found >= 0) return found;
    }
  };
}

/** One draw: the index chosen. */
export const chooseExponential = (candidates: Candidates, rate: Rational, source: Digits = cryptoBits): number =>
  exponentialSampler(candidates, rate, source)();
