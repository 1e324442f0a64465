import { describe, expect, it } from 'vitest';
import { policy, population } from '../../../experiments/coverage/people.js';
import { boundWithNoise, counted, type Data, released, seeded, truthOf } from '../../../experiments/coverage/world.js';
import { category, number, samplePolicy } from '../../../test/sample-policy.js';
import { bindBatch } from '../bind.js';
import type { AnswerTable } from '../bound.js';
import { parseBatch } from '../parse.js';

const people = population(2000);
const without = { ...policy, design: undefined } as unknown as typeof policy;
const quiet = { noise: 'gaussian', amount: 1e9 } as const;
const exact = (query: object, data: Data = people): AnswerTable => {
  const ask = boundWithNoise(policy, query, quiet);
  return truthOf(ask, counted(policy, ask, data))[0]!;
};
const namesOf = (query: object, own: typeof policy) => bindBatch(parseBatch(query), own).measures.map(({ name }) => name);

/** Sampling variance of a slope by White's formula, and with equal variance of the outcome. */
function slopeVariances(x: readonly number[], y: readonly number[]) {
  const n = x.length;
  const mean = (list: readonly number[]) => list.reduce((sum, v) => sum + v, 0) / n;
  const [mx, my] = [mean(x), mean(y)];
  const squares = x.reduce((sum, v) => sum + (v - mx) ** 2, 0);
  const slope = x.reduce((sum, v, i) => sum + (v - mx) * (y[i]! - my), 0) / squares;
  const squaredResiduals = x.map((v, i) => (y[i]! - my - slope * (v - mx)) ** 2);
  return {
    white: squaredResiduals.reduce((sum, e, i) => sum + e * (x[i]! - mx) ** 2, 0) / squares ** 2,
    plain: (mean(squaredResiduals) * n) / (n - 2) / squares,
  };
}

describe('a regression with a declared design', () => {
  it.each(['rent', 'savings', 'income'])('the sampling error is that of an outcome with unequal variance: %s', (outcome) => {
    const table = exact({ kind: 'regression', outcome, on: ['age'] });
    const variance = table.rows.find(({ keys }) => keys.includes('age'))!.withSampling!.standardError ** 2;
    const { white, plain } = slopeVariances(people.age!.map(Number), people[outcome]!.map(Number));
    expect(variance / white).toBeGreaterThan(0.975);
    expect(variance / white).toBeLessThan(1.1);
    if (outcome === 'savings') expect(white / plain).toBeGreaterThan(1.8);
  });

  it('the larger sampling error is used, with a note, where noise hides the unequal variance', () => {
    const query = { kind: 'regression', outcome: 'income', on: ['age'] };
    const ask = boundWithNoise(policy, query, { noise: 'laplace', amount: 1 });
    const counts = counted(policy, ask, people);
    // Only the count of classes is noisy here; the other measures are exact.
    const distributions = ask.laws.map((distribution, k) =>
      'worth' in ask.bound.measures[k]! ? distribution : ({ kind: 'none' } as const),
    );
    const plain = Math.sqrt(slopeVariances(people.age!.map(Number), people.income!.map(Number)).plain);
    const random = seeded(3);
    for (let k = 0; k < 40; k++) {
      const [table] = released({ ...ask, laws: distributions }, counts, random);
      const { standardError } = table!.rows.find(({ keys }) => keys.includes('age'))!.withSampling!;
      expect(standardError).toBeGreaterThan(0.99 * plain);
      expect(standardError).toBeLessThan(2.1 * plain);
      expect(table!.note).toContain('lost in the noise');
    }
  });

  it('intervals are longer where few people determine the unequal variance, and unchanged otherwise', () => {
    const lengths = (outcome: string) => {
      const { withSampling } = exact({ kind: 'regression', outcome, on: ['age'] }).rows.find(({ keys }) => keys.includes('age'))!;
      return (withSampling!.high! - withSampling!.low!) / 2 / withSampling!.standardError;
    };
    expect(lengths('savings')).toBeGreaterThan(1.962);
    expect(lengths('income')).toBeLessThan(1.961);
  });

  it('a regression with a design pays for one more count, with a small part of the budget', () => {
    const query = { kind: 'regression', outcome: 'income', on: ['age', 'education'] };
    const [plain, more] = [namesOf(query, without), namesOf(query, policy)];
    expect(more.slice(0, plain.length)).toEqual(plain);
    expect(more.slice(plain.length)).toEqual(['people, for the error of sampling']);
    const { measures } = bindBatch(parseBatch(query), policy);
    expect(measures.map((measure) => ('worth' in measure ? measure.worth : 1))).toEqual([...plain.map(() => 1), 1 / 8]);
    // Without sampling errors in the answer there is no additional measure.
    expect(namesOf({ ...query, weight: 'w' }, policy)).toEqual(namesOf({ ...query, weight: 'w' }, without));
  });

  it('a regression with too many classes does not measure unequal variance, and says so', () => {
    const codes = Array.from({ length: 21 }, (_, k) => `c${k}`);
    const own = { ...samplePolicy([number('y', '0', '9'), category('a', codes), category('b', codes)]), design: { effect: 1 } };
    const ask = boundWithNoise(own, { kind: 'regression', outcome: 'y', on: ['a', 'b'] }, quiet);
    expect(ask.bound.measures.some((measure) => 'worth' in measure)).toBe(false);
    const some = (by: number) => Array.from({ length: 60 }, (_, i) => codes[(by * i) % 21]!);
    const data = { y: Array.from({ length: 60 }, (_, i) => i % 10), a: some(1), b: some(5) };
    expect(truthOf(ask, counted(own, ask, data))[0]!.note).toContain('not looked at');
  });
});
