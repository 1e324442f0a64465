import { describe, expect, it } from 'vitest';
import { rational, toNumber } from '../../../base/exact/rational.js';
import { pure, zcdp } from '../allotment.js';
import { type Effect, effectOn } from '../effect.js';
import { Paid } from '../paid.js';
import { everyRecord } from '../record-class.js';
import { convolutionOf } from './convolution.js';
import { by, type Counted, runningTotals } from './running-totals.js';
import { treeOf, treesOver } from './tree.js';
import { effectsThrough, type Moves, type Way } from './way.js';

const one: Effect = { l1: 1n, l2squared: 1n };
const two: Effect = { l1: 2n, l2squared: 2n };
const counted = (horizon: number, more: Partial<Counted> = {}): Counted => ({
  name: 'visits',
  cells: 1,
  horizon,
  effects: effectOn([everyRecord], one),
  moves: 'within a step',
  ...more,
});
const encoded = (way: Way, steps: readonly bigint[]): bigint[] => {
  const encode = way.encoder();
  return steps.flatMap((x) => [...encode(x)]);
};
const apart = (a: readonly bigint[], b: readonly bigint[]): Effect => {
  const moves = a.map((x, k) => x - b[k]!);
  return { l1: moves.reduce((s, m) => s + (m < 0n ? -m : m), 0n), l2squared: moves.reduce((s, m) => s + m * m, 0n) };
};
const horizons = [1, 2, 3, 7, 12, 30];
const ways = horizons.flatMap((horizon) => [...treesOver(horizon), convolutionOf(horizon)]);
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
function tried(way: Way, moves: Moves): Effect {
  let [l1, l2squared] = [0n, 0n];
  const see = (effect: Effect) => {
    if (effect.l1 > l1) l1 = effect.l1;
    if (effect.l2squared > l2squared) l2squared = effect.l2squared;
  };
  for (const stream of streams(way.horizon)) {
    const before = encoded(way, stream);
    for (let s = 0; s < way.horizon; s++) {
      if (moves === 'within a step') see(apart(before, encoded(way, stream.with(s, stream[s]! + 1n))));
      else
        for (let to = 0; to < way.horizon; to += 3) {
          if (to === s) continue;
          // A count leaves and enters; a number below 0 leaves as one above 0 enters.
          for (const leaves of [-1n, 1n]) {
            const moved = stream.with(s, stream[s]! + leaves);
            see(apart(before, encoded(way, moved.with(to, moved[to]! + 1n))));
          }
        }
    }
  }
  return { l1, l2squared };
}
type Bound = (way: Way, moves: Moves) => Effect;
const stated: Bound = (way, moves) =>
  effectsThrough(way, effectOn([everyRecord], moves === 'within a step' ? one : two), moves).get(everyRecord)!;
const violations = (bound: Bound): number =>
  ways.flatMap((way) =>
    (['within a step', 'between steps'] as const).filter((moves) => {
      const [real, said] = [tried(way, moves), bound(way, moves)];
      return real.l1 > said.l1 || real.l2squared > said.l2squared;
    }),
  ).length;

describe('running totals', () => {
  it('one record changes the encoded numbers by at most the stated sensitivity, at any step and for any move', () => {
    expect(violations(stated)).toBe(0);
  });

  it('the test detects a sensitivity that forgets a level, the rounding or the second step', () => {
    const part =
      (factor: bigint): Bound =>
      (way, moves) => {
        const { l1, l2squared } = stated(way, moves);
        return { l1: (l1 * factor) / 10n, l2squared: (l2squared * factor) / 10n };
      };
    expect(violations(part(9n))).toBeGreaterThan(10);
    expect(violations((way, moves) => stated({ ...way, slack: 0n }, moves))).toBeGreaterThan(0);
    expect(violations((way) => stated(way, 'within a step'))).toBeGreaterThan(10);
  });

  it('the sensitivity of a tree is exactly its number of levels', () => {
    const [, effect] = [...effectsThrough(treeOf(10_000, 10), effectOn([everyRecord], one), 'within a step')][0]!;
    expect(effect).toEqual({ l1: 4n, l2squared: 4n });
  });

  it('the decoded totals are exact without noise', () => {
    for (const way of ways) {
      for (const stream of streams(way.horizon)) {
        const [encode, decode] = [way.encoder(), way.decoder()];
        let total = 0n;
        for (const x of stream) {
          total += x;
          const told = decode(encode(x));
          expect(Math.abs(told - Number(total))).toBeLessThan(1e-4 + 1e-12 * Number(total));
        }
      }
    }
  });

  it('the variance of the totals is the expected one, by following each unit of noise', () => {
    for (const way of ways) {
      const lengths: number[] = [];
      const encode = way.encoder();
      for (let t = 1; t <= way.horizon; t++) lengths.push(encode(0n).length);
      expect(lengths.reduce((a, b) => a + b, 0)).toBe(way.numbers(1, way.horizon));
      expect(lengths.slice(1, 5).reduce((a, b) => a + b, 0)).toBe(way.numbers(2, Math.min(5, way.horizon)));
      const variances = new Array<number>(way.horizon).fill(0);
      const big = 1n << 20n;
      for (let t = 0; t < way.horizon; t++)
        for (let k = 0; k < lengths[t]!; k++) {
          const decode = way.decoder();
          lengths.forEach((n, at) => {
            const unit = Array.from({ length: n }, (_, i) => (at === t && i === k ? big : 0n));
            variances[at]! += (decode(unit) / Number(big)) ** 2;
          });
        }
      const foreseen = [...way.variances()];
      for (const [t, v] of variances.entries()) expect(foreseen[t]! / v).toBeCloseTo(1, 9);
      expect(way.meanVariance()).toBeCloseTo(variances.reduce((a, b) => a + b, 0) / way.horizon, 9);
    }
  });

  it('the totals pay once for the horizon and draw exactly the numbers it needs', () => {
    const totals = runningTotals(counted(30), pure(rational(1)));
    expect(toNumber(totals.mechanism.cost.perRecord.get(everyRecord)!)).toBe(1);
    const numbers = totals.way.numbers(1, 30);
    const add = totals.mechanism.ready(new Paid([totals.mechanism]), numbers);
    expect(add(encoded(totals.way, new Array<bigint>(30).fill(5n)))).toHaveLength(numbers);
    expect(() => totals.mechanism.ready(new Paid([totals.mechanism]), numbers + 1)).toThrow();
    expect(() => totals.mechanism.ready(new Paid([]), numbers)).toThrow();
  });

  it('the strategy is noise for each step at a short horizon, a tree at a long one, and a convolution if delta permits', () => {
    const name = (horizon: number, allotment = pure(rational(1))) => runningTotals(counted(horizon), allotment).way.name;
    expect([name(1), name(5), name(30), name(365)]).toEqual(['each step', 'each step', 'each step', 'tree']);
    expect([name(1, zcdp(rational(1, 2))), name(365, zcdp(rational(1, 2)))]).toEqual(['each step', 'convolution']);
  });

  it('the totals over 10,000 steps are twice as accurate as noise for each step, and a fifth better than the binary tree', () => {
    const steps = counted(10_000);
    const root = ({ meanVariance }: { readonly meanVariance: number }) => Math.sqrt(meanVariance);
    const best = root(runningTotals(steps, pure(rational(1))));
    const each = root(by(treeOf(10_000, 10_000), steps, pure(rational(1))));
    // As it is published: every total adds up the noise of the blocks themselves.
    const levels = 14;
    let blocks = 0;
    for (let t = 1; t <= 10_000; t++) blocks += t.toString(2).replaceAll('0', '').length;
    const binary = Math.sqrt((blocks / 10_000) * (Math.SQRT1_2 / Math.sinh(1 / (2 * levels))) ** 2);
    expect(best / each).toBeLessThan(0.25);
    expect(best / binary).toBeLessThan(0.46);
    expect(best / root(by(treesOver(10_000).at(-1)!, steps, pure(rational(1))))).toBeLessThan(0.62);
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
    expect(convolutionOf(horizon).how).toContain('8 fading memories');
  });
});
