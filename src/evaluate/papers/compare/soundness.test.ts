import { describe, expect, it } from 'vitest';
import { enumerate } from '../../../privacy/dependence/model/joint.js';
import type { Model } from '../../../privacy/dependence/model/model.js';
import { type Adversary, exactLoss } from '../../audit/exact-loss.js';
import { joinQueries, type RecordQuery, readRecordQuery, stateAnswers } from '../../audit/record-query.js';
import { pearson, zhu } from '../correlated-sensitivity/pearson.js';
import { dpm14, dpm18, equation14, equation18, fixedPoint } from '../dependent-tuples/dpm.js';
import { kappa } from '../dependent-tuples/kappa.js';
import { componentGroup } from '../group-dp/group.js';
import { wasserstein } from '../pufferfish/wasserstein.js';
import type { Calibration, MechanismInput } from './mechanism.js';

/** A joint distribution given by its weight at each list of positions. */
function setting(
  values: readonly (readonly number[])[],
  weight: (at: readonly number[]) => number,
  query: string | RecordQuery,
  epsilon: number,
): MechanismInput {
  const sizes = values.map((v) => v.length);
  const cells = sizes.reduce((product, m) => product * m, 1);
  const table = Float64Array.from({ length: cells }, (_, cell) => {
    let rest = cell;
    const at = sizes.map(() => 0);
    for (let j = sizes.length - 1; j >= 0; j--) {
      at[j] = rest % sizes[j]!;
      rest = Math.floor(rest / sizes[j]!);
    }
    return weight(at);
  });
  const model: Model = { ids: values.map((_, j) => `r${j}`), values, factors: [{ records: [...values.keys()], table }] };
  const joint = enumerate(model);
  return {
    model,
    joint,
    answers: stateAnswers(joint, typeof query === 'string' ? readRecordQuery(query, joint) : query),
    epsilon,
  };
}
const loss = (s: MechanismInput, scale: number, adversary: Adversary) => exactLoss(s.joint, s.answers, scale, { adversary }).loss;
const lossOf = (s: MechanismInput, calibration: Calibration, adversary: Adversary) => loss(s, calibration.scale, adversary);
const bits = (n: number) => Array.from({ length: n }, () => [0, 1]);

describe('dependent perturbation', () => {
  /** Rarely everybody is ill; otherwise each alone with a small probability. */
  const outbreak = (n: number, alone: number, epsilon: number) =>
    setting(
      bits(n),
      (at) => (at.every((v) => v === 1) ? 1e-4 : 0) + (1 - 1e-4) * at.reduce((p: number, v) => p * (v ? alone : 1 - alone), 1),
      'sum',
      epsilon,
    );

  it('dependent perturbation with Eq. 14 loses 1.72 epsilon in a rare outbreak among four, 1.49 among five', () => {
    const four = outbreak(4, 0.00773, 10);
    expect(dpm14(four).scale).toBeCloseTo(0.13794, 5);
    expect(lossOf(four, dpm14(four), 'uninformed')).toBeCloseTo(17.215, 3);
    const five = outbreak(5, 0.00167, 1);
    expect(dpm14(five).scale).toBeCloseTo(1.32597, 5);
    expect(lossOf(five, dpm14(five), 'uninformed')).toBeCloseTo(1.4908, 4);
    expect(lossOf(five, dpm14(five), 'informed')).toBeCloseTo(2.986, 3);
  });

  it('the fixed point has exactly one solution, found on the safe side', () => {
    const four = outbreak(4, 0.00773, 1);
    for (const equation of [equation14, equation18]) {
      const scale = fixedPoint(four, equation, 'all');
      const near = fixedPoint({ ...four, epsilon: 1 - 1e-7 }, equation, 'all');
      expect(near).toBeGreaterThan(scale);
      expect(near).toBeLessThan(scale * (1 + 1e-5));
    }
  });

  it('either equation fails for a query that does not follow the records’ own numbers', () => {
    const values = [0, 1, 1.001, 2.001];
    const s = setting([values, values], ([a, b]) => (a === b && (a === 1 || a === 2) ? 1 : 0), 'atLeast:1.0005', 1);
    expect(lossOf(s, dpm14(s), 'uninformed')).toBeCloseTo(1.999, 3);
    expect(lossOf(s, dpm18(s, 'all'), 'uninformed')).toBeCloseTo(1.333, 3);
    expect(lossOf(s, kappa(s), 'uninformed')).toBeLessThanOrEqual(1 + 1e-9);
  });

  it('Eq. 18, like kappa and W-infinity, holds for an adversary who knows nothing and not for one who knows a hidden switch', () => {
    const s = setting(
      [
        [0, 1, 2],
        [0, 1, 2],
        [0, 1],
        [0, 1],
      ],
      ([i, j, k, l]) => {
        const prior = (k ? 0.05 : 0.95) * (l ? 0.05 : 0.95);
        if (k && l) return i === j && i !== 1 ? prior / 2 : 0;
        return prior * (i === 1 && j === 1 ? 0.9 : i === 1 || j === 1 ? 0.025 : 0);
      },
      'sum:1,1,0,0',
      1,
    );
    const eighteen = dpm18(s, 'all');
    expect(eighteen.scale).toBeCloseTo(3.0616, 4);
    expect(lossOf(s, eighteen, 'uninformed')).toBeCloseTo(0.685, 3);
    expect(lossOf(s, eighteen, 'informed')).toBeCloseTo(1.3065, 4);
    const moved = wasserstein(s, 'uninformed');
    expect(lossOf(s, moved, 'uninformed')).toBeLessThanOrEqual(1);
    expect(lossOf(s, moved, 'informed')).toBeCloseTo(1.333, 3);
    expect(lossOf(s, kappa(s), 'uninformed')).toBeLessThanOrEqual(1);
    expect(lossOf(s, kappa(s), 'informed')).toBeGreaterThan(1);
    expect(lossOf(s, wasserstein(s, 'informed'), 'informed')).toBeLessThanOrEqual(1 + 1e-12);
  });
});

describe('correlated sensitivity', () => {
  it('correlated sensitivity loses twice epsilon where the correlation is zero', () => {
    const query: RecordQuery = { text: '[x=1]+y', answer: ([x, y]) => [(x === 1 ? 1 : 0) + y!] };
    const s = setting(
      [
        [0, 1, 2],
        [0, 1],
      ],
      ([x, y]) => ((x === 1) === (y === 1) ? 1 : 0),
      query,
      1,
    );
    expect(pearson(s.joint, 0, 1)).toBeCloseTo(0, 12);
    expect(lossOf(s, zhu(s), 'uninformed')).toBeCloseTo(2, 9);
  });

  it('correlated sensitivity loses 1.81 epsilon for a rare secret that shows', () => {
    const s = setting(bits(2), ([x, y]) => (x ? 1e-4 * (y ? 1 : 0) : (1 - 1e-4) * (y ? 0.01 : 0.99)), 'sum', 1);
    expect(pearson(s.joint, 0, 1)).toBeCloseTo(0.099, 3);
    expect(lossOf(s, zhu(s), 'uninformed')).toBeCloseTo(1.81, 2);
  });
});

describe('composition', () => {
  const shared = (m: number): MechanismInput =>
    setting(
      Array.from({ length: m }, () => [0, 1, 2, 3]),
      (at) => (at.every((v) => v >> 1 === at[0]! >> 1) ? 1 : 0),
      'sum',
      1,
    );
  const own: RecordQuery = { text: 'own', answer: (x) => [x.reduce((s, v) => s + (v % 2), 0)] };
  const mixed: RecordQuery = { text: 'mixed', answer: (x) => [x.reduce((s, v) => s + ((v % 2) ^ (v >> 1)), 0)] };
  const both = (s: MechanismInput, calibrate: (s: MechanismInput) => Calibration) => {
    const parts = [own, mixed].map((workload) => ({
      workload,
      scale: calibrate({ ...s, answers: stateAnswers(s.joint, workload) }).scale,
    }));
    return (adversary: Adversary) => loss({ ...s, answers: stateAnswers(s.joint, joinQueries(parts)) }, 1, adversary);
  };

  it('the composition of two W-infinity releases loses 2.7 epsilon among five who share a trait', () => {
    expect(both(shared(4), (s) => wasserstein(s, 'informed'))('uninformed')).toBeCloseTo(2.3013, 4);
    expect(both(shared(5), (s) => wasserstein(s, 'uninformed'))('uninformed')).toBeCloseTo(2.7351, 4);
  });

  it('the composition of two group or two kappa releases loses at most two epsilon', () => {
    for (const m of [3, 4]) {
      for (const adversary of ['uninformed', 'informed'] as const)
        expect(both(shared(m), componentGroup)(adversary)).toBeLessThanOrEqual(2);
      expect(both(shared(m), kappa)('uninformed')).toBeLessThanOrEqual(2);
    }
  });
});

describe('Example 1 of Liu et al. 2016', () => {
  it('plain noise loses 1.5 epsilon about the cause and twice epsilon about the effect', () => {
    const s = setting(
      [
        [0, 0.5, 1],
        [0, 0.25, 0.5, 0.75, 1],
      ],
      ([i, j]) => (j! >= i! && j! <= i! + 2 ? 1 : 0),
      'sum',
      1,
    );
    expect(loss(s, 1, 'uninformed')).toBeCloseTo(2, 12);
    expect(lossAbout(s, 0)).toBeCloseTo(1.5, 12);
    expect(lossAbout(s, 1)).toBeCloseTo(2, 12);
    expect(fixedPoint(s, equation14, 'all')).toBeCloseTo(2, 9);
  });
});

/** The loss about one record, from the definition: mixtures of unit Laplace densities at the atoms. */
function lossAbout({ joint, answers }: MechanismInput, record: number): number {
  const atoms = [...new Set(answers.points)];
  const distributions = joint.values[record]!.map((_, a) => {
    const states = [...joint.probabilities.keys()].filter(
      (s) => Math.floor(s / joint.strides[record]!) % joint.sizes[record]! === a,
    );
    const total = states.reduce((t, s) => t + joint.probabilities[s]!, 0);
    return (o: number) =>
      states.reduce((t, s) => t + (joint.probabilities[s]! / total) * Math.exp(-Math.abs(o - answers.points[s]!)), 0);
  });
  return Math.max(...atoms.flatMap((o) => distributions.flatMap((p) => distributions.map((q) => Math.log(p(o) / q(o))))));
}
