import { describe, expect, it } from 'vitest';
import { enumerate } from '../../../privacy/dependence/model/joint.js';
import type { Model } from '../../../privacy/dependence/model/model.js';
import { exactLoss } from '../../audit/exact-loss.js';
import { readRecordQuery, stateAnswers } from '../../audit/record-query.js';
import { Contraction, robustLeakage, robustScale } from './robust-quilt.js';

const first = [
  [0.9, 0.1],
  [0.4, 0.6],
];
const second = [
  [0.8, 0.2],
  [0.3, 0.7],
];

describe('the robust influence of a chain', () => {
  it('the influence reproduces the cross ratios of powers and Birkhoff’s bound', () => {
    const one = new Contraction(first);
    [2.60269, 1.329136, 0.7033, 0.367725, 0.189063, 0.09602].forEach((h, t) => {
      expect(one.after(t + 1)).toBeCloseTo(h, 6);
    });
    [2.60269, 1.489057, 0.851923, 0.487404, 0.278855, 0.159539].forEach((h, t) => {
      expect(one.bound(t + 1)).toBeCloseTo(h, 6);
    });
    const two = new Contraction(second);
    [2.233592, 1.047969, 0.518956, 0.259511, 0.129926, 0.065027].forEach((h, t) => {
      expect(two.after(t + 1)).toBeCloseTo(h, 6);
    });
  });

  it('the influence reproduces the robust scales and conversions', () => {
    const rows = [
      [first, 1, 13.614535, [6, 6]],
      [first, 5, 1.281105, [2, 2]],
      [first, 10, 0.208567, [1, 1]],
      [second, 1, 12.159737, [5, 5]],
      [second, 5, 1.033035, [2, 2]],
      [second, 10, 0.18074, [1, 1]],
    ] as const;
    for (const [transition, epsilon, value, quilt] of rows) {
      const robust = robustScale({ transition, length: 1000 }, epsilon);
      expect(robust.score).toBeCloseTo(value, 6);
      expect([robust.a, robust.b]).toEqual(quilt);
    }
    expect(1 / robustScale({ transition: first, length: 1000 }, 10).score).toBeCloseTo(4.79462, 5);
    expect(1 / robustScale({ transition: first, length: 1000 }, 1).score).toBeCloseTo(0.073451, 6);
    expect(robustLeakage({ transition: first, length: 1000 }, 0.1).score).toBeCloseTo(1.278125, 6);
    expect(robustLeakage({ transition: second, length: 1000 }, 0.1).score).toBeCloseTo(1.159852, 6);
  });

  it('the bound covers an adversary who knows both ends of a chain, where the plain quilt bound does not', () => {
    const transition = [
      [0.7, 0.3],
      [0.3, 0.7],
    ];
    const bound = robustLeakage({ transition, length: 5 }, 4).score;
    expect(bound).toBeCloseTo(7.389191, 6);
    const ids = ['a', 'b', 'c', 'd', 'e'];
    const model: Model = {
      ids,
      values: ids.map(() => [0, 1]),
      factors: [0, 1, 2, 3].map((t) => ({ records: [t, t + 1], table: Float64Array.from(transition.flat()) })),
    };
    const joint = enumerate(model);
    const { loss } = exactLoss(joint, stateAnswers(joint, readRecordQuery('sum', joint)), 1 / 4, { adversary: 'informed' });
    expect(loss).toBeCloseTo(6.18633, 5);
    expect(loss).toBeLessThan(bound);
  });

  it('the bound is that of the whole chain if a transition is impossible', () => {
    expect(
      robustScale(
        {
          transition: [
            [0, 1],
            [1, 0],
          ],
          length: 7,
        },
        1,
      ),
    ).toEqual({ score: 7, a: null, b: null });
  });
});
