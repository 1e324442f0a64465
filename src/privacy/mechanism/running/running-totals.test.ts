import { describe, expect, it } from 'vitest';
import { rational, toNumber } from '../../../base/exact/rational.js';
import { pure, zcdp } from '../budget-share.js';
import { Payment } from '../payment.js';
import { everyRecord } from '../record-class.js';
import { type Sensitivity, sensitivityOn } from '../sensitivity.js';
import { type ContinualStrategy, encodedSensitivity, type StepChange } from './continual-strategy.js';
import { convolutionStrategy } from './convolution.js';
import { type CountedSteps, runningTotals, totalsWith } from './running-totals.js';
import { treeStrategy, treesOver } from './tree.js';

const one: Sensitivity = { l1: 1n, l2squared: 1n };
const two: Sensitivity = { l1: 2n, l2squared: 2n };
const counted = (horizon: number, more: Partial<CountedSteps> = {}): CountedSteps => ({
  name: 'visits',
  cells: 1,
  horizon,
  sensitivity: sensitivityOn([everyRecord], one),
  moves: 'within a step',
  ...more,
});
const encoded = (strategy: ContinualStrategy, steps: readonly bigint[]): bigint[] => {
  const encode = strategy.encoder();
  return steps.flatMap((x) => [...encode(x)]);
};
const difference = (a: readonly bigint[], b: readonly bigint[]): Sensitivity => {
  const moves = a.map((x, k) => x - b[k]!);
  return { l1: moves.reduce((s, m) => s + (m < 0n ? -m : m), 0n), l2squared: moves.reduce((s, m) => s + m * m, 0n) };
};
const horizons = [1, 2, 3, 7, 12, 30];
const strategies = horizons.flatMap((horizon) => [...treesOver(horizon), convolutionStrategy(horizon)]);
/** Streams of made counts, in the order of a fixed generator. */
function* streams(horizon: number): Iterable<bigint[]> {
  let seed = 7;
  for (let k = 0; k < 12; k++)
    yield Array.from({ length: horizon }, () => {
      seed = (seed * 48271) % 2147483647;
      return BigInt(seed % [3, 1000, 1_000_003][k % 3]!);
    });
}

/** The largest move of what is noised, over every place of the change: by trying. */
function tried(strategy: ContinualStrategy, moves: StepChange): Sensitivity {
  let [l1, l2squared] = [0n, 0n];
  const see = (sensitivity: Sensitivity) => {
    if (sensitivity.l1 > l1) l1 = sensitivity.l1;
    if (sensitivity.l2squared > l2squared) l2squared = sensitivity.l2squared;
  };
  for (const stream of streams(strategy.horizon)) {
    const before = encoded(strategy, stream);
    for (let s = 0; s < strategy.horizon; s++) {
      if (moves === 'within a step') see(difference(before, encoded(strategy, stream.with(s, stream[s]! + 1n))));
      else
        for (let to = 0; to < strategy.horizon; to += 3) {
          if (to === s) continue;
          // A count leaves and enters; a number below 0 leaves as one above 0 enters.
          for (const leaves of [-1n, 1n]) {
            const moved = stream.with(s, stream[s]! + leaves);
            see(difference(before, encoded(strategy, moved.with(to, moved[to]! + 1n))));
          }
        }
    }
  }
  return { l1, l2squared };
}
type Bound = (strategy: ContinualStrategy, moves: StepChange) => Sensitivity;
const stated: Bound = (strategy, moves) =>
  encodedSensitivity(strategy, sensitivityOn([everyRecord], moves === 'within a step' ? one : two), moves).get(everyRecord)!;
const violations = (bound: Bound): number =>
  strategies.flatMap((strategy) =>
    (['within a step', 'between steps'] as const).filter((moves) => {
      const [real, bounded] = [tried(strategy, moves), bound(strategy, moves)];
      return real.l1 > bounded.l1 || real.l2squared > bounded.l2squared;
    }),
  ).length;

describe('running totals', () => {
  it('one record changes the encoded numbers by at most the stated sensitivity, at any step and for any move', () => {
    expect(violations(stated)).toBe(0);
  });

  it('the test detects a sensitivity that forgets a level, the rounding or the second step', () => {
    const part =
      (factor: bigint): Bound =>
      (strategy, moves) => {
        const { l1, l2squared } = stated(strategy, moves);
        return { l1: (l1 * factor) / 10n, l2squared: (l2squared * factor) / 10n };
      };
    expect(violations(part(9n))).toBeGreaterThan(10);
    expect(violations((strategy, moves) => stated({ ...strategy, slack: 0n }, moves))).toBeGreaterThan(0);
    expect(violations((strategy) => stated(strategy, 'within a step'))).toBeGreaterThan(10);
  });

  it('the sensitivity of a tree is exactly its number of levels', () => {
    const [, sensitivity] = [
      ...encodedSensitivity(treeStrategy(10_000, 10), sensitivityOn([everyRecord], one), 'within a step'),
    ][0]!;
    expect(sensitivity).toEqual({ l1: 4n, l2squared: 4n });
  });

  it('the decoded totals are exact without noise', () => {
    for (const strategy of strategies) {
      for (const stream of streams(strategy.horizon)) {
        const [encode, decode] = [strategy.encoder(), strategy.decoder()];
        let total = 0n;
        for (const x of stream) {
          total += x;
          const decoded = decode(encode(x));
          expect(Math.abs(decoded - Number(total))).toBeLessThan(1e-4 + 1e-12 * Number(total));
        }
      }
    }
  });

  it('the variance of the totals is the expected one, by following each unit of noise', () => {
    for (const strategy of strategies) {
      const lengths: number[] = [];
      const encode = strategy.encoder();
      for (let t = 1; t <= strategy.horizon; t++) lengths.push(encode(0n).length);
      expect(lengths.reduce((a, b) => a + b, 0)).toBe(strategy.numbers(1, strategy.horizon));
      expect(lengths.slice(1, 5).reduce((a, b) => a + b, 0)).toBe(strategy.numbers(2, Math.min(5, strategy.horizon)));
      const variances = new Array<number>(strategy.horizon).fill(0);
      const big = 1n << 20n;
      for (let t = 0; t < strategy.horizon; t++)
        for (let k = 0; k < lengths[t]!; k++) {
          const decode = strategy.decoder();
          lengths.forEach((n, at) => {
            const unit = Array.from({ length: n }, (_, i) => (at === t && i === k ? big : 0n));
            variances[at]! += (decode(unit) / Number(big)) ** 2;
          });
        }
      const expected = [...strategy.variances()];
      for (const [t, v] of variances.entries()) expect(expected[t]! / v).toBeCloseTo(1, 9);
      expect(strategy.meanVariance()).toBeCloseTo(variances.reduce((a, b) => a + b, 0) / strategy.horizon, 9);
    }
  });

  it('the totals pay once for the horizon and draw exactly the numbers it needs', () => {
    const totals = runningTotals(counted(30), pure(rational(1)));
    expect(toNumber(totals.mechanism.cost.perRecord.get(everyRecord)!)).toBe(1);
    const numbers = totals.strategy.numbers(1, 30);
    const add = totals.mechanism.prepare(new Payment([totals.mechanism]), numbers);
    expect(add(encoded(totals.strategy, new Array<bigint>(30).fill(5n)))).toHaveLength(numbers);
    expect(() => totals.mechanism.prepare(new Payment([totals.mechanism]), numbers + 1)).toThrow();
    expect(() => totals.mechanism.prepare(new Payment([]), numbers)).toThrow();
  });

  it('the strategy is noise for each step at a short horizon, a tree at a long one, and a convolution if delta permits', () => {
    const name = (horizon: number, share = pure(rational(1))) => runningTotals(counted(horizon), share).strategy.name;
    expect([name(1), name(5), name(30), name(365)]).toEqual(['each step', 'each step', 'each step', 'tree']);
    expect([name(1, zcdp(rational(1, 2))), name(365, zcdp(rational(1, 2)))]).toEqual(['each step', 'convolution']);
  });

  it('the totals over 10,000 steps are twice as accurate as noise for each step, and a fifth better than the binary tree', () => {
    const steps = counted(10_000);
    const root = ({ meanVariance }: { readonly meanVariance: number }) => Math.sqrt(meanVariance);
    const best = root(runningTotals(steps, pure(rational(1))));
    const each = root(totalsWith(treeStrategy(10_000, 10_000), steps, pure(rational(1))));
    // As it is published: every total adds up the noise of the blocks themselves.
    const levels = 14;
    let blocks = 0;
    for (let t = 1; t <= 10_000; t++) blocks += t.toString(2).replaceAll('0', '').length;
    const binary = Math.sqrt((blocks / 10_000) * (Math.SQRT1_2 / Math.sinh(1 / (2 * levels))) ** 2);
    expect(best / each).toBeLessThan(0.25);
    expect(best / binary).toBeLessThan(0.46);
    expect(best / root(totalsWith(treesOver(10_000).at(-1)!, steps, pure(rational(1))))).toBeLessThan(0.62);
  });

  it('the totals with delta are as accurate as the square root of the summing matrix, with a memory of 8 numbers', () => {
    const horizon = 10_000;
    let [coefficient, column, rows] = [1, 0, 0];
    for (let j = 0; j < horizon; j++) {
      column += coefficient ** 2;
      rows += column;
      coefficient *= (2 * j + 1) / (2 * j + 2);
    }
    const known = Math.sqrt((column * rows) / horizon);
    const ours = Math.sqrt(runningTotals(counted(horizon), zcdp(rational(1, 2))).meanVariance);
    expect(ours / known).toBeLessThan(1);
    expect(convolutionStrategy(horizon).description).toContain('8 fading memories');
  });
});
