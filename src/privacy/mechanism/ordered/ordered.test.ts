import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Sensitivity } from '../sensitivity.js';
import { isotonic } from './isotonic.js';
import { prefixEstimator } from './prefix-estimator.js';
import { encoded, moveSensitivity, noisedCount, presenceSensitivity, type Strategy } from './strategy.js';

const anyStrategy: fc.Arbitrary<Strategy> = fc
  .record({
    size: fc.integer({ min: 1, max: 24 }),
    inner: fc.array(fc.integer({ min: 1, max: 23 }), { maxLength: 5 }),
    arity: fc.integer({ min: 2, max: 6 }),
    prefix: fc.integer({ min: 1, max: 4 }),
    tree: fc.integer({ min: 0, max: 3 }),
  })
  .map(({ size, inner, arity, prefix, tree }) => ({
    size,
    arity,
    prefix,
    tree,
    ends:
      tree === 0
        ? Array.from({ length: size }, (_, k) => k + 1)
        : [...new Set([...inner.filter((end) => end < size), size])].sort((a, b) => a - b),
  }));

/** The columns of the strategy, by its own encoder. */
const columnsOf = (strategy: Strategy): readonly (readonly number[])[] =>
  Array.from({ length: strategy.size }, (_, at) =>
    encoded(
      strategy,
      Array.from({ length: strategy.size }, (_, k) => (k === at ? 1n : 0n)),
    ).map(Number),
  );

function inverse(matrix: readonly (readonly number[])[]): number[][] {
  const n = matrix.length;
  const rows = matrix.map((row, i) => [...row, ...row.map((_, j) => (i === j ? 1 : 0))]);
  for (let c = 0; c < n; c++) {
    let best = c;
    for (let r = c; r < n; r++) if (Math.abs(rows[r]![c]!) > Math.abs(rows[best]![c]!)) best = r;
    [rows[c], rows[best]] = [rows[best]!, rows[c]!];
    const pivot = rows[c]![c]!;
    rows[c] = rows[c]!.map((x) => x / pivot);
    for (let r = 0; r < n; r++) {
      if (r === c) continue;
      const times = rows[r]![c]!;
      rows[r] = rows[r]!.map((x, j) => x - times * rows[c]![j]!);
    }
  }
  return rows.map((row) => row.slice(n));
}
const dot = (a: readonly number[], b: readonly number[]): number => a.reduce((sum, x, k) => sum + x * b[k]!, 0);
const difference = (a: readonly number[], b: readonly number[]): Sensitivity => {
  const moves = a.map((x, k) => BigInt(x - b[k]!));
  return { l1: moves.reduce((s, m) => s + (m < 0n ? -m : m), 0n), l2squared: moves.reduce((s, m) => s + m * m, 0n) };
};
const within = (a: Sensitivity, b: Sensitivity) => a.l1 <= b.l1 && a.l2squared <= b.l2squared;

describe('estimates of ordered counts', () => {
  it('the estimates are least squares with the variance of every range, compared with the dense inverse', () => {
    fc.assert(
      fc.property(
        anyStrategy,
        fc.array(fc.integer({ min: -50, max: 50 }), { minLength: 200, maxLength: 200 }),
        (strategy, noise) => {
          const columns = columnsOf(strategy);
          const { size } = strategy;
          const covariance = inverse(columns.map((a) => columns.map((b) => dot(a, b))));
          const reading = prefixEstimator(strategy);
          const numbers = noisedCount(strategy);
          expect(columns[0]).toHaveLength(numbers);
          const noisy = noise.slice(0, numbers);
          const sums = columns.map((a) => dot(a, noisy));
          const best = covariance.map((row) => dot(row, sums));
          const estimate = reading.prefixes(noisy);
          let [before, mean] = [0, 0];
          for (let p = 0; p <= size; p++) {
            expect(estimate[p]).toBeCloseTo(before, 6);
            before += best[p] ?? 0;
            for (let q = p + 1; q <= size; q++) {
              let exact = 0;
              for (let i = p; i < q; i++) for (let j = p; j < q; j++) exact += covariance[i]![j]!;
              expect(reading.variance(p, q)).toBeCloseTo(exact, 8);
              mean += exact;
            }
          }
          expect(reading.meanVariance()).toBeCloseTo(mean / ((size * (size + 1)) / 2), 8);
        },
      ),
      { numRuns: 150 },
    );
  });

  it('the estimates are the exact counts without noise', () => {
    fc.assert(
      fc.property(anyStrategy, fc.array(fc.nat({ max: 1000 }), { minLength: 24, maxLength: 24 }), (strategy, counts) => {
        const exact = counts.slice(0, strategy.size);
        const estimate = prefixEstimator(strategy).prefixes(encoded(strategy, exact.map(BigInt)).map(Number));
        let before = 0;
        exact.forEach((x, p) => {
          expect(estimate[p]).toBeCloseTo(before, 6);
          before += x;
        });
        expect(estimate[strategy.size]).toBeCloseTo(before, 6);
      }),
      { numRuns: 100 },
    );
  });
});

describe('the sensitivity of noised ordered counts', () => {
  const blockAt = ({ ends }: Strategy, position: number) => ends.findIndex((end) => end > position);
  type Bound = typeof moveSensitivity;
  const violations = (move: Bound, presence: typeof presenceSensitivity): number => {
    let found = 0;
    for (const strategy of fc.sample(anyStrategy, { numRuns: 150, seed: 11 })) {
      const columns = columnsOf(strategy);
      const none = columns[0]!.map(() => 0);
      columns.forEach((a, i) => {
        if (!within(difference(a, none), presence(strategy))) found++;
        for (let j = 0; j < i; j++)
          if (!within(difference(a, columns[j]!), move(strategy, blockAt(strategy, i) - blockAt(strategy, j)))) found++;
      });
    }
    return found;
  };
  it('the noised numbers change by at most the stated sensitivity, for a move between any positions or a removal', () => {
    expect(violations(moveSensitivity, presenceSensitivity)).toBe(0);
  });
  it('the test detects a sensitivity that forgets a tree, an end of a block or a prefix', () => {
    expect(
      violations((s, n) => moveSensitivity({ ...s, tree: s.tree === 0 ? 0 : s.tree - 1 }, n), presenceSensitivity),
    ).toBeGreaterThan(10);
    expect(violations((s, n) => moveSensitivity(s, n - 1), presenceSensitivity)).toBeGreaterThan(10);
    expect(violations(moveSensitivity, (s) => presenceSensitivity({ ...s, ends: s.ends.slice(0, -1) }))).toBeGreaterThan(10);
  });
  it('the sensitivity is exact for full trees', () => {
    const strategy: Strategy = { size: 64, ends: [16, 32, 48, 64], arity: 4, prefix: 3, tree: 2 };
    const columns = columnsOf(strategy);
    expect(difference(columns[15]!, columns[16]!)).toEqual(moveSensitivity(strategy, 1));
    expect(difference(columns[15]!, columns[48]!)).toEqual(moveSensitivity(strategy, 3));
    expect(
      difference(
        columns[0]!,
        columns[0]!.map(() => 0),
      ),
    ).toEqual(presenceSensitivity(strategy));
  });
});

describe('isotonic regression', () => {
  it('the result is the nearest sequence that does not decrease and is not negative', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: -20, max: 40 }), { minLength: 1, maxLength: 12 }),
        fc.infiniteStream(fc.integer({ min: 0, max: 40 })),
        (values, others) => {
          const estimate = isotonic(values).map((x) => Math.max(0, x));
          const far = (list: ArrayLike<number>) => values.reduce((sum, x, k) => sum + (x - list[k]!) ** 2, 0);
          estimate.forEach((x, k) => {
            expect(x).toBeGreaterThanOrEqual(estimate[k - 1] ?? 0);
          });
          for (let n = 0; n < 30; n++) {
            const rising = values.map(() => others.next().value).sort((a, b) => a - b);
            expect(far(estimate)).toBeLessThanOrEqual(far(rising) + 1e-9);
          }
        },
      ),
    );
  });
});
