import { describe, expect, it } from 'vitest';
import { readVectors } from '../../../../test/vectors.js';
import { conditionalDistribution, enumerate, type JointDistribution } from '../../../privacy/dependence/model/joint.js';
import type { Model } from '../../../privacy/dependence/model/model.js';
import { readRecordQuery, stateAnswers } from '../../audit/record-query.js';
import { correlatedSensitivity } from '../correlated-sensitivity/pearson.js';
import { type Coefficient, equation14, equation18, equation18Fixed, fixedPoint } from '../dependent-tuples/dpm.js';
import { farFromAnyPoint } from '../dependent-tuples/kappa.js';
import { pairwiseDependent } from '../group-dp/group.js';
import { answerDistance } from '../pufferfish/wasserstein.js';
import type { MechanismInput } from './mechanism.js';

const flat = (nested: unknown): number[] => (Array.isArray(nested) ? nested.flatMap(flat) : [nested as number]);
const near = (got: readonly (readonly number[])[], want: readonly (readonly number[])[]) =>
  got.forEach((row, i) => {
    row.forEach((x, j) => {
      expect(x).toBeCloseTo(want[i]![j]!, 8);
    });
  });

/** One number for each ordered pair of records; one for a record with itself. */
const pairwise = (joint: JointDistribution, of: (rows: readonly Float64Array[], j: number) => number) =>
  joint.sizes.map((_, i) => joint.sizes.map((_, j) => (i === j ? 1 : of(conditionalDistribution(joint, i, j), j))));
const coefficients = (joint: JointDistribution, equation: Coefficient, scale: number) =>
  pairwise(joint, (rows, j) => equation(rows, joint.values[j]!, scale));
/** The largest of E[distance(D_j, d) | D_i = b] over b and d, in units of the diameter. */
const kappas = (joint: JointDistribution, distance: (u: number, v: number) => number) =>
  pairwise(joint, (rows, j) => {
    const metric = joint.values[j]!.map((u) => joint.values[j]!.map((v) => distance(u, v)));
    const diameter = Math.max(...metric.flat());
    return diameter === 0 ? 0 : farFromAnyPoint(rows, metric) / diameter;
  });

// biome-ignore lint/suspicious/noExplicitAny: the file is data
function settingOf(v: any): MechanismInput {
  const ids = v.domains.map((_: unknown, j: number) => `r${j}`);
  const model: Model = {
    ids,
    values: v.domains,
    factors: [{ records: [...ids.keys()], table: Float64Array.from(flat(v.joint_weights)) }],
  };
  const joint = enumerate(model);
  const q = v.query;
  const text =
    { sum: q.weights ? `sum:${q.weights}` : 'sum', count_ge: `atLeast:${q.threshold}`, table: 'table:t' }[q.kind as string] ??
    q.kind;
  return {
    model,
    joint,
    answers: stateAnswers(
      joint,
      readRecordQuery(text, joint, () => q.values),
    ),
    epsilon: v.eps,
  };
}

describe('the published mechanisms on the vectors', () => {
  for (const v of readVectors('exact-loss').vectors)
    it(`give the numbers of vector ${v.id} (${v.name}, ${v.query.kind})`, () => {
      const setting = settingOf(v);
      const { joint, answers } = setting;
      const scale = v.mechanism.scale;
      near(coefficients(joint, equation14, scale), v.rho14_at_scale);
      near(coefficients(joint, equation18, scale), v.rho18_each_at_scale);
      near(coefficients(joint, equation18Fixed, scale), v.rho18_fixed_at_scale);
      near(
        kappas(joint, (u, v) => Math.abs(u - v)),
        v.kappa_abs,
      );
      near(
        kappas(joint, (u, v) => (u === v ? 0 : 1)),
        v.kappa_01,
      );
      expect(pairwiseDependent(joint)).toEqual(v.pairwise_dependent);
      expect(fixedPoint(setting, equation14, 'pairwise')).toBeCloseTo(v.dpm14_scale_pairwise, 8);
      expect(fixedPoint(setting, equation14, 'all')).toBeCloseTo(v.dpm14_scale_all, 8);
      expect(fixedPoint(setting, equation18, 'all')).toBeCloseTo(v.dpm18_scale_all, 8);
      // Null where a record is constant: correlation undefined there, 0 here.
      if (v.zhu_sensitivity !== null)
        expect(correlatedSensitivity(joint, setting.answers.sensitivities)).toBeCloseTo(v.zhu_sensitivity, 8);
      expect(answerDistance(joint, answers, 'uninformed')).toBeCloseTo(v.winf_i, 12);
      expect(answerDistance(joint, answers, 'informed')).toBeCloseTo(v.winf_ii, 12);
    });
});
