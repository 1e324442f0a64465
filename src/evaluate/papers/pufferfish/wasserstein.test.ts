import { describe, expect, it } from 'vitest';
import { enumerate } from '../../../privacy/dependence/model/joint.js';
import type { Model } from '../../../privacy/dependence/model/model.js';
import { readRecordQuery, stateAnswers } from '../../audit/record-query.js';
import { SumDistributions } from '../compare/sum-distribution.js';
import { answerDistance } from './wasserstein.js';
import { infinityDistance, pointDistribution } from './wasserstein-distance.js';

const line = (masses: readonly (readonly [number, bigint])[]) => pointDistribution(masses.map(([x, w]) => [[x], w]));
const chain = (transition: readonly number[], initial: readonly number[], length: number): Model => {
  const ids = Array.from({ length }, (_, t) => `t${t}`);
  const step = { table: Float64Array.from(transition) };
  return {
    ids,
    values: ids.map(() => [0, 1]),
    factors: [
      { records: [0], table: Float64Array.from(initial) },
      ...ids.slice(1).map((_, t) => ({ records: [t, t + 1], ...step })),
    ],
  };
};
const flu: Model = (() => {
  const counts = [12, 18, 60, 18, 12].map((w, k) => w / [1, 4, 6, 4, 1][k]!);
  const table = Float64Array.from({ length: 16 }, (_, s) => counts[[0, 1, 2, 3].reduce((n, t) => n + ((s >> t) & 1), 0)]! * 2);
  return {
    ids: ['a', 'b', 'c', 'd'],
    values: [
      [0, 1],
      [0, 1],
      [0, 1],
      [0, 1],
    ],
    factors: [{ records: [0, 1, 2, 3], table }],
  };
})();
const sum = (_: number, v: number) => v;

describe('the Wasserstein distance', () => {
  it('the distance of the flu clique is 2, half of group noise', () => {
    const joint = enumerate(flu);
    expect(answerDistance(joint, stateAnswers(joint, readRecordQuery('sum', joint)), 'uninformed')).toBe(2);
    const distributions = new SumDistributions(flu, sum).given(0);
    const share = (k: number) =>
      [0, 1, 2, 3, 4].map(
        (n) => Number(distributions[k]!.get(n) ?? 0n) / Number([...distributions[k]!.values()].reduce((s, w) => s + w, 0n)),
      );
    expect(share(0)).toEqual([0.2, 0.225, 0.5, 0.075, 0]);
    expect(share(1)).toEqual([0, 0.075, 0.5, 0.225, 0.2]);
  });

  it('the distance of counts on a stationary chain is 3, 4, 4, 4, without enumeration', () => {
    const of = (length: number, record: number) =>
      new SumDistributions(chain([0.9, 0.1, 0.4, 0.6], [0.8, 0.2], length), sum).distance(record);
    expect([0, 1, 2].map((record) => of(3, record)).reduce((a, b) => Math.max(a, b))).toBe(3);
    const ten = new SumDistributions(chain([0.9, 0.1, 0.4, 0.6], [0.8, 0.2], 10), sum);
    expect(Math.max(...Array.from({ length: 10 }, (_, record) => ten.distance(record)))).toBe(4);
    expect(of(30, 14)).toBe(4);
    expect(of(60, 29)).toBe(4);
  });

  it('the distance is the same by messages on a tree and by enumeration', () => {
    const tree: Model = {
      ids: ['a', 'b', 'c', 'd', 'e'],
      values: [
        [0, 1],
        [0, 1, 3],
        [0, 2],
        [0, 1],
        [1, 4],
      ],
      factors: [
        { records: [0, 1], table: Float64Array.of(5, 1, 2, 1, 4, 3) },
        { records: [1, 2], table: Float64Array.of(1, 2, 3, 0, 1, 1) },
        { records: [1, 3, 4], table: Float64Array.from({ length: 12 }, (_, k) => 1 + ((k * 7) % 5)) },
      ],
    };
    const joint = enumerate(tree);
    const distributions = new SumDistributions(tree, sum);
    const byMessages = Math.max(...tree.ids.map((_, record) => distributions.distance(record)));
    expect(byMessages).toBe(answerDistance(joint, stateAnswers(joint, readRecordQuery('sum', joint)), 'uninformed'));
  });

  it('loops and ties without a table are refused', () => {
    const table = Float64Array.of(2, 1, 1, 2);
    const base = {
      ids: ['a', 'b', 'c'],
      values: [
        [0, 1],
        [0, 1],
        [0, 1],
      ],
    };
    const loop = {
      ...base,
      factors: [
        [0, 1],
        [1, 2],
        [2, 0],
      ].map((records) => ({ records, table })),
    };
    expect(() => new SumDistributions(loop, sum)).toThrow(expect.objectContaining({ code: 'QUERY_UNSUPPORTED' }));
    expect(() => new SumDistributions({ ...base, factors: [{ records: [0, 1], oddsRatio: 4 }] }, sum)).toThrow(
      expect.objectContaining({ code: 'MODEL_INVALID' }),
    );
  });

  it('the distance includes mass that rounding would hide', () => {
    const huge = 10n ** 40n;
    expect(
      infinityDistance(
        line([
          [0, huge],
          [1, 1n],
        ]),
        line([[0, huge + 1n]]),
      ),
    ).toBe(1);
    expect(
      infinityDistance(
        line([
          [0, huge],
          [9, huge],
        ]),
        line([
          [0, huge],
          [9, huge],
        ]),
      ),
    ).toBe(0);
  });

  it('the distance of points in the plane needs a transport plan, not a sweep', () => {
    const corners = pointDistribution([
      [[0, 0], 1n],
      [[1, 1], 1n],
    ]);
    const others = pointDistribution([
      [[0, 1], 1n],
      [[1, 0], 1n],
    ]);
    expect(infinityDistance(corners, others)).toBe(1);
    expect(
      infinityDistance(
        pointDistribution([
          [[0, 0], 2n],
          [[3, 0], 1n],
        ]),
        pointDistribution([
          [[0, 0], 1n],
          [[3, 0], 2n],
        ]),
      ),
    ).toBe(3);
  });

  it('the distance of the continuous example of Liu et al. 2016 is 1.5 for the cause', () => {
    // D_j = D_i/2 + X/2 on a fine grid of X: given D_i = 0 or 1 the sum shifts by exactly 1.5.
    const distribution = (d: number) =>
      pointDistribution(Array.from({ length: 101 }, (_, k) => [[d + d / 2 + k / 200], 1n] as const));
    expect(infinityDistance(distribution(0), distribution(1))).toBeCloseTo(1.5, 12);
  });
});
