import { describe, expect, it } from 'vitest';
import { readVectors } from '../../../test/vectors.js';
import { enumerate, type JointDistribution } from '../../privacy/dependence/model/joint.js';
import type { Model } from '../../privacy/dependence/model/model.js';
import { exactLoss, leastScale } from './exact-loss.js';
import { joinQueries, type RecordQuery, readRecordQuery, stateAnswers } from './record-query.js';

const flat = (nested: unknown): number[] => (Array.isArray(nested) ? nested.flatMap(flat) : [nested as number]);

function jointOf(domains: readonly (readonly number[])[], weights: unknown): JointDistribution {
  const ids = domains.map((_, j) => `r${j}`);
  const model: Model = { ids, values: domains, factors: [{ records: [...ids.keys()], table: Float64Array.from(flat(weights)) }] };
  return enumerate(model);
}
// biome-ignore lint/suspicious/noExplicitAny: the file is data
function workloadOf(query: any, joint: JointDistribution): RecordQuery {
  const text: string =
    { sum: query.weights ? `sum:${query.weights}` : 'sum', count_ge: `atLeast:${query.threshold}`, table: 'table:t' }[
      query.kind as string
    ] ?? query.kind;
  return readRecordQuery(text, joint, () => query.values);
}

describe('the exact loss on the vectors', () => {
  for (const v of readVectors('exact-loss').vectors)
    it(`is the one of vector ${v.id} (${v.name}, ${v.query.kind})`, () => {
      const joint = jointOf(v.domains, v.joint_weights);
      const answers = stateAnswers(joint, workloadOf(v.query, joint));
      expect([...answers.points]).toEqual(flat(v.f_values_C_order));
      expect(answers.sensitivities).toEqual(v.dQ);
      for (const [adversary, key] of [
        ['uninformed', 'i'],
        ['informed', 'ii'],
      ] as const) {
        const at = (scale: number) => exactLoss(joint, answers, scale, { adversary }).loss;
        expect(at(v.mechanism.scale)).toBeCloseTo(v[`loss_${key}`], 8);
        expect(at(v.dpm18_scale_all)).toBeCloseTo(v[`dpm18_loss_${key}`], 8);
        expect(at(v.dpm14_scale_all)).toBeCloseTo(v[`dpm14_loss_${key}`], 8);
        if (v.markov_quilt_scale_unit1) expect(at(v.markov_quilt_scale_unit1)).toBeCloseTo(v[`markov_quilt_loss_${key}`], 8);
        const least = leastScale(joint, answers, v.eps, { adversary });
        expect(Math.abs(least - v[`min_scale_${key}`])).toBeLessThanOrEqual(3e-9 * v[`min_scale_${key}`]);
      }
    });
});

const fairTrio = jointOf(
  [
    [0, 1],
    [0, 1],
    [0, 1],
  ],
  [
    [
      [1, 0],
      [0, 1],
    ],
    [
      [0, 1],
      [1, 0],
    ],
  ],
);
/** The loss of two releases together, by the model's name and what each alone costs; 0 where there is no vector. */
const composed: { model: string; eps_each: number; together_i: number }[] = readVectors('exact-loss').composition;
const composedLoss = (model: string, epsilon: number): number =>
  composed.find((v) => v.model.startsWith(model) && v.eps_each === epsilon)?.together_i ?? 0;
const lossOf = (joint: JointDistribution, workload: RecordQuery, scale: number, adversary: 'informed' | 'uninformed') =>
  exactLoss(joint, stateAnswers(joint, workload), scale, { adversary }).loss;

describe('the exact loss', () => {
  it('the loss of the xor model is ln(e^{2 epsilon}/2 + 1/2) uninformed and 2 epsilon informed', () => {
    for (const epsilon of [0.1, 1, 10])
      for (const query of ['sum', 'identity']) {
        const workload = readRecordQuery(query, fairTrio);
        expect(lossOf(fairTrio, workload, 1 / epsilon, 'uninformed')).toBeCloseTo(Math.log(Math.exp(2 * epsilon) / 2 + 0.5), 10);
        expect(lossOf(fairTrio, workload, 1 / epsilon, 'informed')).toBeCloseTo(2 * epsilon, 10);
      }
  });

  it('the loss of two releases on the xor model exceeds the sum of their losses', () => {
    const workloads = ['sum:1,1,0', 'sum:1,0,1'].map((text) => readRecordQuery(text, fairTrio));
    for (const epsilon of [0.1, 1, 10]) {
      for (const workload of workloads) expect(lossOf(fairTrio, workload, 1 / epsilon, 'uninformed')).toBeCloseTo(epsilon, 10);
      const both = joinQueries(workloads.map((workload) => ({ workload, scale: 1 / epsilon })));
      const loss = lossOf(fairTrio, both, 1, 'uninformed');
      expect(loss).toBeCloseTo(3 * epsilon + Math.log((1 + Math.exp(-2 * epsilon)) / 2), 10);
      if (epsilon !== 1) expect(loss).toBeCloseTo(composedLoss('xor3 uniform', epsilon), 8);
    }
  });

  it('the loss of two releases about a shared trait grows without bound in the number of people', () => {
    for (const m of [3, 4, 5]) {
      // Value 2 b + r: the shared bit b and a private coin r.
      const domains = Array.from({ length: m }, () => [0, 1, 2, 3]);
      const weights = Array.from({ length: 4 ** m }, (_, state) => {
        const bits = Array.from({ length: m }, (_, k) => (state >> (2 * k + 1)) & 1);
        return bits.every((b) => b === bits[0]) ? 1 : 0;
      });
      const joint = jointOf(domains, weights);
      const first: RecordQuery = { text: 'sum r', answer: (x) => [x.reduce((s, v) => s + (v % 2), 0)] };
      const second: RecordQuery = { text: 'sum r xor b', answer: (x) => [x.reduce((s, v) => s + ((v % 2) ^ (v >> 1)), 0)] };
      for (const epsilon of [1, 3]) {
        for (const adversary of ['informed', 'uninformed'] as const)
          for (const alone of [first, second]) expect(lossOf(joint, alone, 1 / epsilon, adversary)).toBeCloseTo(epsilon, 9);
        const both = joinQueries([first, second].map((workload) => ({ workload, scale: 1 / epsilon })));
        const expected = Math.max(2 * epsilon, epsilon + (m - 1) * Math.log(Math.cosh(epsilon)));
        const loss = lossOf(joint, both, 1, 'uninformed');
        expect(loss).toBeCloseTo(expected, 9);
        if (epsilon === 3) expect(loss).toBeCloseTo(composedLoss(`shared trait m=${m}`, epsilon), 8);
      }
    }
  });

  it('the loss of parallel releases on twins is twice epsilon', () => {
    const twins = jointOf(
      [
        [0, 1],
        [0, 1],
      ],
      [
        [1, 0],
        [0, 1],
      ],
    );
    expect(lossOf(twins, readRecordQuery('identity', twins), 1, 'uninformed')).toBeCloseTo(2, 12);
  });

  it('the audit finds the loss that a quilt bound overlooks when the adversary knows two ends of a chain', () => {
    const stay = 0.7;
    const weights = Array.from({ length: 32 }, (_, s) =>
      [0, 1, 2, 3].reduce((w, t) => w * (((s >> t) & 1) === ((s >> (t + 1)) & 1) ? stay : 1 - stay), 1),
    );
    const chain = jointOf(
      Array.from({ length: 5 }, () => [0, 1]),
      weights,
    );
    const answers = stateAnswers(chain, readRecordQuery('sum', chain));
    const informed = exactLoss(chain, answers, 1 / 4, { adversary: 'informed' });
    expect(informed.loss).toBeCloseTo(6.18633, 5);
    expect(informed.worst?.record).toBe(2);
    expect(informed.worst?.known.map(([j]) => j)).toEqual([0, 4]);
    expect(exactLoss(chain, answers, 1 / 4, { adversary: 'uninformed' }).loss).toBeCloseTo(5.664, 5);
  });

  it('the loss of the flu clique allows a smaller scale than the Wasserstein distance', () => {
    const counts = [0.1, 0.15, 0.5, 0.15, 0.1].map((p, k) => p / [1, 4, 6, 4, 1][k]!);
    const ones = (s: number) => [0, 1, 2, 3].reduce((n, t) => n + ((s >> t) & 1), 0);
    const flu = jointOf(
      Array.from({ length: 4 }, () => [0, 1]),
      Array.from({ length: 16 }, (_, s) => counts[ones(s)]!),
    );
    const workload = readRecordQuery('sum', flu);
    expect(lossOf(flu, workload, 2, 'uninformed')).toBeCloseTo(0.560393, 6);
    const answers = stateAnswers(flu, workload);
    for (const [epsilon, scale] of [
      [1, 1.154527],
      [0.5, 2.233791],
      [2, 0.61217],
    ] as const)
      expect(leastScale(flu, answers, epsilon, { adversary: 'uninformed' })).toBeCloseTo(scale, 6);
  });

  it('the loss stays finite and correct where the likelihoods underflow', () => {
    const workload = readRecordQuery('sum', fairTrio);
    expect(lossOf(fairTrio, workload, 1e-4, 'uninformed')).toBeCloseTo(2e4 - Math.log(2), 6);
    expect(lossOf(fairTrio, workload, 1e-4, 'informed')).toBeCloseTo(2e4, 6);
  });

  it('the loss never increases with the scale', () => {
    const answers = stateAnswers(fairTrio, readRecordQuery('histogram', fairTrio));
    const losses = [0.01, 0.1, 0.5, 1, 2, 10].map((scale) => exactLoss(fairTrio, answers, scale, { adversary: 'informed' }).loss);
    expect(losses).toEqual([...losses].sort((a, b) => b - a));
  });

  it('an audit above the size limit is refused, with the size in the fault', () => {
    const answers = stateAnswers(fairTrio, readRecordQuery('sum', fairTrio));
    expect(() => exactLoss(fairTrio, answers, 1, { adversary: 'informed', limit: 100 })).toThrow(
      expect.objectContaining({ code: 'MODEL_TOO_LARGE', details: { size: 170, limit: 100 } }),
    );
    const many: Model = {
      ids: Array.from({ length: 40 }, (_, j) => `r${j}`),
      values: Array.from({ length: 40 }, () => [0, 1]),
      factors: [],
    };
    expect(() => enumerate(many)).toThrow(
      expect.objectContaining({ code: 'MODEL_TOO_LARGE', details: { size: 2 ** 40, limit: 2 ** 20 } }),
    );
  });

  it('an answer without information needs no noise', () => {
    const opposite = jointOf(
      [
        [0, 1],
        [0, 1],
      ],
      [
        [0, 1],
        [1, 0],
      ],
    );
    const answers = stateAnswers(opposite, readRecordQuery('sum', opposite));
    expect(exactLoss(opposite, answers, 1, { adversary: 'informed' })).toMatchObject({ loss: 0 });
    expect(leastScale(opposite, answers, 1, { adversary: 'informed' })).toBe(0);
  });
});

describe('a joint distribution', () => {
  it('a joint distribution uses the symmetric table for an odds ratio and states it', () => {
    const pair: Model = {
      ids: ['a', 'b'],
      values: [
        [0, 1],
        [0, 1],
      ],
      factors: [{ records: [0, 1], oddsRatio: 81 }],
    };
    const joint = enumerate(pair);
    expect([...joint.probabilities].map((p) => Number(p.toFixed(12)))).toEqual([0.45, 0.05, 0.05, 0.45]);
    expect(joint.assumptions).toHaveLength(1);
    expect(() =>
      enumerate({
        ...pair,
        values: [
          [0, 1],
          [0, 1, 2],
        ],
      }),
    ).toThrow(expect.objectContaining({ code: 'MODEL_INVALID' }));
  });

  it('a joint distribution keeps exact weights in addition to rounded ones', () => {
    const joint = enumerate({
      ids: ['a', 'b'],
      values: [
        [0, 1],
        [0, 1],
      ],
      factors: [
        { records: [0], table: Float64Array.of(0.1, 0.9) },
        { records: [0, 1], table: Float64Array.of(0.7, 0.3, 0.3, 0.7) },
      ],
    });
    expect(joint.exactWeights()).toEqual([7n, 3n, 27n, 63n]);
  });

  it('an unknown query, or one that does not fit, is refused', () => {
    for (const text of ['median', 'sum:1,2', 'atLeast', 'atLeast:x', 'table:', 'toString'])
      expect(() => readRecordQuery(text, fairTrio)).toThrow(expect.objectContaining({ code: 'QUERY_INVALID' }));
    expect(() => readRecordQuery('table:t', fairTrio, () => [1, 2, 3])).toThrow(
      expect.objectContaining({ code: 'QUERY_INVALID' }),
    );
  });
});
