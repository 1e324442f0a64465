import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { category, samplePolicy } from '../../test/sample-policy.js';
import { rational } from '../base/exact/rational.js';
import { laplaceSampler } from '../privacy/noise/discrete-laplace.js';
import { bindBatch } from './bind.js';
import { nearestCounts } from './nearest-counts.js';
import { parseBatch } from './parse.js';

vi.mock('../privacy/noise/bits.js', async (original) => {
  const real = await original<typeof import('../privacy/noise/bits.js')>();
  return (await import('../../test/seeded-source.js')).seededNoise(real, 5);
});

const policy = samplePolicy([category('vote', ['red', 'blue', 'green']), category('sex', ['m', 'f'], { public: true })]);
const tableOf = (query: object, counts: readonly (number | bigint)[]) =>
  bindBatch(parseBatch([query]), policy).finish([{ noise: { kind: 'laplace', scale: 10 }, values: counts.map(BigInt) }])[0]!;

describe('shares of a table', () => {
  test('shares are fractions of the rows with an answer', () => {
    const { rows } = tableOf({ kind: 'histogram', column: 'vote' }, [100, 300, 600, 50]);
    expect(rows.map((r) => r.share?.value)).toEqual([0.1, 0.3, 0.6, undefined]);
    for (const { share } of rows.slice(0, 3)) {
      expect(share!.low).toBeLessThan(share!.value!);
      expect(share!.high).toBeGreaterThan(share!.value!);
      expect(share!.high - share!.low).toBeLessThan(0.15);
    }
  });
  test('shares are fractions of their own group', () => {
    const { rows } = tableOf({ kind: 'histogram', column: 'vote', by: ['sex'] }, [10, 30, 60, 5, 80, 10, 10, 5, 0, 0, 0, 9]);
    expect(rows.map((r) => r.share?.value ?? null)).toEqual([0.1, 0.3, 0.6, null, 0.8, 0.1, 0.1, null, null, null, null, null]);
    expect(rows[8]!.share).toEqual({ value: null, low: 0, high: 1 });
  });
  test('the interval of a share covers the true share in 95 % of draws, and not much more', () => {
    const truth = [60, 90, 150, 20];
    const draw = laplaceSampler(rational(10));
    let [held, tried] = [0, 0];
    for (let k = 0; k < 1500; k++) {
      const { rows } = tableOf(
        { kind: 'histogram', column: 'vote' },
        truth.map((x) => BigInt(x) + draw()),
      );
      for (const [i, { share }] of rows.slice(0, 3).entries()) {
        tried++;
        if (share!.low <= truth[i]! / 300 && truth[i]! / 300 <= share!.high) held++;
      }
    }
    expect(held / tried).toBeGreaterThan(0.94);
    expect(held / tried).toBeLessThan(0.985);
  });
  test('shares come from one non-negative estimate, so they add up to one whatever was drawn', () => {
    const { rows } = tableOf({ kind: 'histogram', column: 'vote' }, [90, 60, -50, 4]);
    expect(rows.slice(0, 3).map((r) => r.share!.value)).toEqual([0.65, 0.35, 0]);
    for (const { share } of rows.slice(0, 3)) {
      expect(share!.low).toBeLessThanOrEqual(share!.value!);
      expect(share!.high).toBeGreaterThanOrEqual(share!.value!);
    }
  });
  test('the shares of each group add up to one', () => {
    const { rows } = tableOf({ kind: 'histogram', column: 'vote', by: ['sex'] }, [40, 30, -30, 5, 9, -30, 80, 5, 0, 0, 0, 9]);
    const sums = [0, 4].map((first) => rows.slice(first, first + 3).reduce((all, { share }) => all + share!.value!, 0));
    for (const sum of sums) expect(sum).toBeCloseTo(1, 12);
  });
  test('the correction is largest for the noisiest answers, where answers are sums of several numbers', () => {
    expect(nearestCounts([60, 60, -30], 90)).toEqual([45, 45, 0]);
    expect(nearestCounts([60, 60, -30], 90, [1, 2, 1])).toEqual([50, 40, 0]);
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: -500, max: 900 }), fc.integer({ min: 1, max: 9 })), { minLength: 1, maxLength: 12 }),
        fc.integer({ min: 1, max: 2000 }),
        (list, total) => {
          const [values, spreads] = [list.map(([value]) => value), list.map(([, spread]) => spread)];
          const nearest = nearestCounts(values, total, spreads);
          expect(nearest.reduce((a, b) => a + b)).toBeCloseTo(total, 6);
          // Positive entries are shifted in proportion to their spread, all at one rate; entries at 0 reach 0 at no higher rate.
          const shifts = nearest.map((x, k) => [x, (values[k]! - x) / spreads[k]!] as const);
          const shift = shifts.find(([x]) => x > 0)![1];
          for (const [x, moved] of shifts)
            if (x > 0) expect(moved).toBeCloseTo(shift, 6);
            else expect(moved).toBeLessThanOrEqual(shift + 1e-6);
        },
      ),
    );
  });

  const levels = Array.from({ length: 12 }, (_, k) => `a${k}`);
  const wide = samplePolicy([category('answer', levels)]);
  const people = { full: levels.map((_, k) => k + 1), sparse: levels.map((_, k) => (k % 3 === 0 ? k + 1 : 0)) };
  test.each([
    [300, 'full'],
    [300, 'sparse'],
    [3000, 'full'],
    [3000, 'sparse'],
  ] as const)(
    'shares of %i people in a %s table cover the true share with 95 %, add up to one, and lie in their intervals',
    (n, shape) => {
      const all = people[shape].reduce((a, b) => a + b);
      const truth = people[shape].map((x) => Math.round((x * n) / all));
      const size = truth.reduce((a, b) => a + b);
      const draw = laplaceSampler(rational(30));
      const bound = bindBatch(parseBatch([{ kind: 'histogram', column: 'answer' }]), wide);
      let [held, tried, adding] = [0, 0, 0];
      const tries = 250;
      for (let k = 0; k < tries; k++) {
        const values = [...truth, 0].map((x) => BigInt(x) + draw());
        const shares = bound
          .finish([{ noise: { kind: 'laplace', scale: 30 }, values }])[0]!
          .rows.slice(0, -1)
          .map((r) => r.share!);
        if (shares[0]!.value === null) continue;
        adding = Math.max(adding, Math.abs(shares.reduce((sum, { value }) => sum + value!, 0) - 1));
        for (const [i, { value, low, high }] of shares.entries()) {
          tried++;
          expect(low <= value! && value! <= high).toBe(true);
          if (low <= truth[i]! / size && truth[i]! / size <= high) held++;
        }
      }
      expect(adding).toBeLessThan(1e-9);
      expect(tried).toBeGreaterThan(tries * 6);
      expect(held / tried).toBeGreaterThan(0.935);
    },
  );

  test('the share of an answer that nobody gave is small, also among many answers with Laplace noise', () => {
    const truth = levels.map((_, k) => (k % 3 === 0 ? 75 : 0));
    const draw = laplaceSampler(rational(10));
    const bound = bindBatch(parseBatch([{ kind: 'histogram', column: 'answer' }]), wide);
    let [held, tried, width] = [0, 0, 0];
    for (let k = 0; k < 250; k++) {
      const values = [...truth, 0].map((x) => BigInt(x) + draw());
      const { rows } = bound.finish([{ noise: { kind: 'laplace', scale: 10 }, values }])[0]!;
      for (const [i, { share }] of rows.slice(0, -1).entries()) {
        if (truth[i]! > 0) continue;
        tried++;
        width += share!.high - share!.low;
        if (share!.low === 0) held++;
      }
    }
    expect(held / tried).toBeGreaterThan(0.95);
    expect(width / tried).toBeLessThan(0.16);
  });
});
