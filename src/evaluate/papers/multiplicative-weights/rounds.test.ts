import { describe, expect, it } from 'vitest';
import { enumerate } from '../../../privacy/dependence/model/joint.js';
import type { Model } from '../../../privacy/dependence/model/model.js';
import { exactLoss } from '../../audit/exact-loss.js';
import { type RecordQuery, readRecordQuery, stateAnswers } from '../../audit/record-query.js';
import type { MechanismInput } from '../compare/mechanism.js';
import { cim, cimRounds } from '../correlated-sensitivity/cim.js';
import { correlatedSensitivity, pearson } from '../correlated-sensitivity/pearson.js';
import { pmw, pmwRounds } from './pmw.js';
import { queriesOf, releasedAnswers, type WeightRounds } from './rounds.js';
import { roundsLoss } from './rounds-loss.js';

function setting(
  values: readonly number[],
  records: number,
  weights: readonly number[],
  query: string | RecordQuery,
  epsilon = 1,
): MechanismInput {
  const ids = Array.from({ length: records }, (_, j) => `r${j}`);
  const model: Model = {
    ids,
    values: ids.map(() => values),
    factors: [{ records: [...ids.keys()], table: Float64Array.from(weights) }],
  };
  const joint = enumerate(model);
  return {
    model,
    joint,
    answers: stateAnswers(joint, typeof query === 'string' ? readRecordQuery(query, joint) : query),
    epsilon,
  };
}
/** Two records that are likely equal, and a third. */
const three = (query: string) => setting([0, 1], 3, [4, 2, 1, 1, 1, 1, 2, 4], query);
const both = ['uninformed', 'informed'] as const;

describe('the loss over rounds', () => {
  it('the loss is that of Laplace noise on all answers if the histogram is never kept', () => {
    const s = three('histogram');
    const { queries, exact } = queriesOf(s);
    for (const rate of [0, 0.3]) {
      const rounds: WeightRounds = { records: 3, queries, scale: 1.7, threshold: 0, rate, most: 9 };
      for (const adversary of both)
        expect(roundsLoss(s.joint, exact, rounds, adversary)).toBeCloseTo(
          exactLoss(s.joint, s.answers, 1.7, { adversary }).loss,
          9,
        );
    }
  });

  it('the loss is at least that of any list of released numbers, kept rounds included, and that of the worst of them', () => {
    const s = three('histogram');
    const { queries, exact } = queriesOf(s);
    const rounds: WeightRounds = { records: 3, queries, scale: 0.8, threshold: 0.9, rate: 0.4, most: 9 };
    const loss = roundsLoss(s.joint, exact, rounds, 'uninformed');
    // By quadrature over noisy answers: the output is a bin of the grid, or that the histogram was kept.
    const step = 0.1;
    const grid = Array.from({ length: 130 }, (_, k) => -5 + (k + 0.5) * step);
    const distribution = (centre: number, x: number) => {
      const cdf = (y: number) => (y < centre ? Math.exp((y - centre) / 0.8) / 2 : 1 - Math.exp((centre - y) / 0.8) / 2);
      return cdf(x + step / 2) - cdf(x - step / 2);
    };
    const states = [...s.joint.probabilities.keys()];
    const masses = new Map<string, Float64Array>();
    const kernels = [0, 1].map((t) => grid.map((x) => states.map((state) => distribution(exact[t]![state]!, x))));
    for (const [a, x] of grid.entries())
      for (const [b, y] of grid.entries()) {
        const released = releasedAnswers(rounds, [x, y]).map((z, t) => (z === [x, y][t] ? `${z}` : 'kept'));
        const sums = masses.get(released.join()) ?? new Float64Array(states.length);
        masses.set(released.join(), sums);
        for (const state of states) sums[state]! += kernels[0]![a]![state]! * kernels[1]![b]![state]!;
      }
    let seen = 0;
    for (const sums of masses.values())
      for (let j = 0; j < 3; j++) {
        const given = [0, 1].map((v) => {
          const own = states.filter((state) => Math.floor(state / s.joint.strides[j]!) % 2 === v);
          const mass = own.reduce((p, state) => p + s.joint.probabilities[state]!, 0);
          return own.reduce((p, state) => p + s.joint.probabilities[state]! * sums[state]!, 0) / mass;
        });
        seen = Math.max(seen, Math.abs(Math.log(given[0]! / given[1]!)));
      }
    expect(seen).toBeLessThanOrEqual(loss + 1e-9);
    expect(seen).toBeGreaterThan(0.95 * loss);
  });

  it('the loss is lower if answers near the histogram are kept, and no answer follows the last correction', () => {
    const s = three('histogram');
    const { queries, exact } = queriesOf(s);
    const rounds: WeightRounds = { records: 3, queries, scale: 1.7, threshold: 4, rate: 0.4, most: 9 };
    const open = roundsLoss(s.joint, exact, { ...rounds, threshold: 0 }, 'uninformed');
    expect(roundsLoss(s.joint, exact, { ...rounds, most: 1 }, 'uninformed')).toBeLessThan(0.9 * open);
    expect(releasedAnswers({ ...rounds, most: 1 }, [20, -20])).toEqual([20, undefined]);
    expect(releasedAnswers(rounds, [1.6, 20])).toEqual([1.5, 20]);
  });
});

describe('the correlated iteration mechanism', () => {
  it('the mechanism adds the noise of the published sensitivity, once for every query', () => {
    const s = three('histogram');
    // One bin moves by one where all of a histogram moves by two.
    expect(cim(s)).toMatchObject({ name: 'cim', certified: false, composes: false });
    expect(cim(s).scale).toBeCloseTo(2 * (correlatedSensitivity(s.joint, s.answers.sensitivities) / 2), 12);
    expect(cimRounds(queriesOf(s).queries, 3, 1, 0.5)).toMatchObject({ scale: 4, rate: (4 * Math.log(40)) / 6 });
  });

  it('the mechanism loses twice epsilon where the correlation is zero', () => {
    // The second has the middle value just where the first has it.
    const weights = [1, 0, 1, 0, 2, 0, 1, 0, 1];
    const middle: RecordQuery = { text: 'middle', answer: (x) => [x.filter((v) => v === 1).length] };
    const s = setting([0, 1, 2], 2, weights, middle);
    expect(pearson(s.joint, 0, 1)).toBeCloseTo(0, 12);
    expect(cim(s).loss!('uninformed')).toBeCloseTo(2, 9);
  });

  it('the mechanism keeps its promise about independent records', () => {
    const s = setting([0, 1, 2], 2, new Array<number>(9).fill(1), 'histogram');
    for (const adversary of both) expect(cim(s).loss!(adversary)).toBeLessThanOrEqual(1 + 1e-9);
  });
});

describe('private multiplicative weights', () => {
  it('the noise has ten logarithms of one over delta, far more than Laplace noise on three answers', () => {
    const s = setting([0, 1, 2], 4, new Array<number>(81).fill(1), 'histogram');
    const rounds = pmwRounds(queriesOf(s).queries, 4, 1);
    expect(rounds.scale).toBeCloseTo(20 * Math.log(1e6) * Math.log(3) ** 0.25, 9);
    expect(pmw(s).loss!('informed')).toBeLessThan(0.05);
  });

  it('the loss is multiplied by the number of copies of a record: the promise is about independent ones', () => {
    const copies = (n: number) =>
      setting(
        [0, 1],
        n,
        Array.from({ length: 2 ** n }, (_, k) => (k === 0 || k === 2 ** n - 1 ? 1 : 0)),
        'atLeast:1',
      );
    const [two, six] = [2, 6].map((n) => pmw(copies(n)).loss!('uninformed') * pmwRounds([new Float64Array(2)], n, 1).scale);
    expect(two).toBeCloseTo(2, 6);
    expect(six).toBeCloseTo(6, 6);
  });

  it('queries that do not add up over records are refused', () => {
    expect(() => pmw(three('product'))).toThrow(expect.objectContaining({ code: 'QUERY_UNSUPPORTED' }));
  });
});
