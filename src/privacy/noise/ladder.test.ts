import { describe, expect, it } from 'vitest';
import { rational, toNumber } from '../../base/exact/rational.js';
import { slowExp } from '../../base/exact/slow.js';
import { smoothDistribution, smoothScale } from '../mechanism/smooth-sensitivity.js';
import { Bits } from './bits.js';
import { ladderSampler, rungsTabulated } from './ladder.js';
import { quarticSampler } from './quartic.js';

/** A small generator, only to make these tests repeatable. */
function seeded(seed: number): Bits {
  let a = seed >>> 0;
  const next = () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return (t ^ (t >>> 14)) >>> 0;
  };
  return new Bits((buffer) => {
    const words = new Uint32Array(buffer.buffer, buffer.byteOffset, buffer.length / 4);
    for (let i = 0; i < words.length; i++) words[i] = next();
  });
}

/** Pearson's statistic over the cells that expect at least five, the rest pooled; and its 1e-6 bound (Wilson-Hilferty). */
function fits(
  counts: ReadonlyMap<bigint, number>,
  probability: (x: bigint) => number,
  range: readonly bigint[],
  draws: number,
): boolean {
  let statistic = 0;
  let cells = 0;
  let pooled = 1;
  let seen = 0;
  for (const x of range) {
    const p = probability(x);
    if (p * draws < 5) continue;
    const c = counts.get(x) ?? 0;
    statistic += (c - p * draws) ** 2 / (p * draws);
    cells++;
    pooled -= p;
    seen += c;
  }
  if (pooled * draws >= 5) statistic += (draws - seen - pooled * draws) ** 2 / (pooled * draws);
  const h = 2 / (9 * cells);
  return statistic < cells * (1 - h + 4.75 * Math.sqrt(h)) ** 3;
}
const tally = (draw: () => bigint, draws: number) => {
  const counts = new Map<bigint, number>();
  for (let i = 0; i < draws; i++) {
    const x = draw();
    counts.set(x, (counts.get(x) ?? 0) + 1);
  }
  return counts;
};
const integers = (n: number) => Array.from({ length: 2 * n + 1 }, (_, i) => BigInt(i - n));

describe('the ladder sampler', () => {
  const widths = [2n, 2n, 3n, 5n, 7n];
  const rungs = { width: (t: number) => widths[Math.min(t, 4)]!, widest: 7n };
  const decay = 0.4;
  const rungOf = (x: bigint) => {
    let left = x < 0n ? -x : x;
    let u = 0;
    while (left > 0n) left -= rungs.width(u++);
    return u;
  };
  let z = 1;
  for (let u = 1; u < 200; u++) z += 2 * Number(rungs.width(u - 1)) * Math.exp(-decay * u);
  const probability = (x: bigint) => Math.exp(-decay * rungOf(x)) / z;
  const draws = 40_000;

  it('the ladder sampler has the stated distribution', () => {
    const draw = ladderSampler(rungs, rational(2, 5), seeded(1));
    expect(fits(tally(draw, draws), probability, integers(60), draws)).toBe(true);
  });

  it('the test detects a ladder sampler that forgets one rung', () => {
    const draw = ladderSampler({ width: (t) => rungs.width(t + 1), widest: 7n }, rational(2, 5), seeded(2));
    expect(fits(tally(draw, draws), probability, integers(60), draws)).toBe(false);
  });

  it('the ladder sampler is discrete Laplace if every rung is one wide', () => {
    const draw = ladderSampler({ width: () => 1n, widest: 1n }, rational(1, 3), seeded(3));
    const norm = (1 - Math.exp(-1 / 3)) / (1 + Math.exp(-1 / 3));
    expect(fits(tally(draw, draws), (x) => norm * Math.exp(-Math.abs(Number(x)) / 3), integers(40), draws)).toBe(true);
  });

  it('the ladder sampler ends at once for any large epsilon, without computing digits of the decay that no draw needs', () => {
    for (const epsilon of [10n ** 300n, 10n ** 9n, 10n ** 6n, 10n ** 4n]) {
      const draw = ladderSampler(rungs, rational(epsilon, 2n), seeded(5));
      for (let k = 0; k < 100; k++) expect(draw()).toBe(0n);
      const smooth = smoothScale(smoothDistribution(rational(epsilon)), rungs, 64);
      expect(toNumber(smooth.low) / toNumber(smooth.high)).toBeCloseTo(1, 9);
    }
  });

  it('the ladder sampler reports in advance how many rungs a draw of a small epsilon would tabulate', () => {
    let deepest = 0;
    const counted = {
      width: (t: number) => {
        deepest = Math.max(deepest, t + 1);
        return 3n;
      },
      widest: 3n,
    };
    for (const decay of [rational(1, 20), rational(1, 500)]) {
      deepest = 0;
      ladderSampler(counted, decay, seeded(6))();
      expect(deepest).toBeLessThanOrEqual(rungsTabulated(decay, 3n));
      expect(deepest).toBeGreaterThan(0.9 * rungsTabulated(decay, 3n));
    }
  });

  it('the ladder sampler stays exact for rungs wider than doubles can count', () => {
    const draw = ladderSampler({ width: () => 10n ** 30n, widest: 10n ** 30n }, rational(1, 2), seeded(4));
    const values = Array.from({ length: 200 }, draw).filter((x) => x !== 0n);
    expect(values.length).toBe(200);
    expect(values.some((x) => x % 2n !== 0n)).toBe(true);
  });
});

describe('the rounded quartic sampler', () => {
  const draws = 40_000;
  const scale = 2.5 * Math.exp(-0.3);
  const exactScale = (digits: number) => {
    const e = slowExp(rational(-3, 10), digits);
    return { low: { num: 5n * e.low.num, den: 2n * e.low.den }, high: { num: 5n * e.high.num, den: 2n * e.high.den } };
  };
  /** Mass of [x - 1/2, x + 1/2] by Simpson's rule. */
  const probability = (x: bigint) => {
    const n = 40;
    const density = (y: number) => Math.SQRT2 / Math.PI / scale / (1 + (y / scale) ** 4);
    let total = 0;
    for (let i = 0; i <= n; i++) total += density(Number(x) - 0.5 + i / n) * (i === 0 || i === n ? 1 : i % 2 === 1 ? 4 : 2);
    return total / (3 * n);
  };

  it('the quartic sampler has the stated distribution', () => {
    expect(fits(tally(quarticSampler(exactScale, seeded(5)), draws), probability, integers(40), draws)).toBe(true);
  });

  it('the test detects a quartic scale that is one tenth off', () => {
    const off = (digits: number) => {
      const e = exactScale(digits);
      return { low: { num: 11n * e.low.num, den: 10n * e.low.den }, high: { num: 11n * e.high.num, den: 10n * e.high.den } };
    };
    expect(fits(tally(quarticSampler(off, seeded(6)), draws), probability, integers(40), draws)).toBe(false);
  });

  it('the quartic density has a slide constant below 2.2796 and a dilation constant of 3', () => {
    const grid = Array.from({ length: 20_000 }, (_, i) => i / 1000);
    expect(Math.max(...grid.map((z) => (4 * z ** 3) / (1 + z ** 4)))).toBeLessThan(2.2796);
    expect(Math.max(...grid.map((z) => (4 * z ** 4) / (1 + z ** 4) - 1))).toBeLessThanOrEqual(3);
  });
});
