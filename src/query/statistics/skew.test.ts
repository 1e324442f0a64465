import { describe, expect, it } from 'vitest';
import { policy, population } from '../../../experiments/coverage/people.js';
import { boundWithNoise, counted, truthOf } from '../../../experiments/coverage/world.js';
import { number, samplePolicy } from '../../../test/sample-policy.js';
import { bindBatch } from '../bind.js';
import { parseBatch } from '../parse.js';
import { extraDeviations, skewOf, skewShifts, unseenVariation, varianceEstimate } from './skew.js';

const people = population(300);
const quiet = { noise: 'gaussian', amount: 1e9 } as const;

describe('a variance estimated from noisy sums', () => {
  it('the variance is the plain one without noise, and never below the mean of its positive part', () => {
    expect(varianceEstimate(4, [0, 0])).toEqual({ variance: 4, short: 0 });
    expect(varianceEstimate(-1, [])).toEqual({ variance: 0, short: 0 });
    expect(varianceEstimate(0, [3, 4]).variance).toBeCloseTo(5 / Math.sqrt(2 * Math.PI), 9);
    expect(varianceEstimate(50, [3, 4]).variance).toBeCloseTo(50, 6);
    expect(varianceEstimate(-5, [5]).variance).toBeCloseTo(5 * 0.0833155, 4);
  });

  it('the shortfall of a variance never exceeds the variance, and lengthens the interval accordingly', () => {
    for (const estimate of [-20, -3, 0, 1, 4, 30]) {
      const { variance, short } = varianceEstimate(estimate, [5]);
      expect(short).toBe(Math.min(5, variance));
    }
    // Student's quantile with 50 degrees of freedom is 2.0086.
    expect(1.959964 + extraDeviations(Math.sqrt(2 / 50), 1)).toBeCloseTo(2.0086, 2);
    expect(extraDeviations(0, 1)).toBe(0);
    expect(extraDeviations(9, 1)).toBe(1);
  });
});

describe('a variance that few people determine', () => {
  const skew = { third: 3, deviation: 0 };
  it('the variance goes along with a single mean, and varies separately where skewness cancels', () => {
    expect(unseenVariation([{ by: 2, variance: 5, skew }])).toBeCloseTo(0, 12);
    const side = { variance: 5, skew };
    expect(unseenVariation([{ by: 1, ...side }, { by: -1, ...side }])).toBeCloseTo(Math.sqrt((2 * 9) / 5), 12); // biome-ignore format: one line
    expect(unseenVariation([{ by: 1, ...side }, { by: 1, ...side }])).toBeCloseTo(0, 12); // biome-ignore format: one line
    // Skewness that is mostly noise adds less, and numbers that do not vary add nothing.
    expect(unseenVariation([{ by: 1, variance: 5, skew: { third: 3, deviation: 300 } }, { by: -1, ...side }])).toBeLessThan(unseenVariation([{ by: 1, ...side }, { by: -1, ...side }])); // biome-ignore format: one line
    expect(unseenVariation([{ by: 1, variance: 0, skew }])).toBe(0);
  });

  it('the variance has the sampling deviation of a population in which few people hold everything', () => {
    // Two values attain Pearson's bound: the estimate of the variance p (1 - p) / n varies by its third moment alone.
    const [p, n] = [0.04, 150];
    const [variance, third] = [(p * (1 - p)) / n, (p * (1 - p) * (1 - 2 * p)) / n ** 2];
    const own = { variance, skew: { third, deviation: 0 } };
    const deviation = ((1 - 2 * p) * Math.sqrt((p * (1 - p)) / n)) / n;
    expect(unseenVariation([{ by: 1, ...own }, { by: -1, ...own }])).toBeCloseTo(Math.SQRT2 * deviation, 9); // biome-ignore format: one line
  });
});

describe('a difference of two means', () => {
  it('the interval of a difference has a larger critical value where both groups are equally skew', () => {
    const ask = boundWithNoise(policy, { kind: 'compare', column: 'fines', between: 'sex' }, quiet);
    const difference = truthOf(ask, counted(policy, ask, people))[0]!.rows[2]!;
    const { low, high, standardError } = difference.withSampling!;
    expect((high! - low!) / 2 / standardError).toBeGreaterThan(2);
  });
});

describe('the skewness of a mean', () => {
  it('the skewness is that of the numbers about their mean, within what the bounds allow', () => {
    const list = [0, 0, 0, 1, 5];
    const of = (power: number, about = 0) => list.reduce((sum, x) => sum + (x - about) ** power, 0) / list.length;
    const mean = of(1);
    const sums = [
      { cube: of(3), deviation: 0 },
      { mean, deviation: 0 },
      { variance: of(2, mean), deviation: 0 },
    ] as const;
    expect(skewOf(...sums, [-99, 99]).third).toBeCloseTo(of(3, mean), 9);
    expect(skewOf(...sums, [-99, 3])).toEqual({ third: 3, deviation: 0 });
    const deviation = skewOf({ cube: 0, deviation: 1 }, { mean: 2, deviation: 3 }, { variance: 1, deviation: 4 }, [0, 0]);
    expect(deviation.deviation).toBeCloseTo(Math.hypot(1, 24, 27), 9);
  });

  it('the skewness shifts both ends towards the long tail, and no end inwards for what may be noise', () => {
    const sure = skewShifts({ third: 0.2, deviation: 0 }, 1);
    expect(sure.high).toBeCloseTo((0.2 * (2 * 1.959964 ** 2 + 1)) / 6, 9);
    expect(sure.low).toBeCloseTo(sure.high, 9);
    const unsure = skewShifts({ third: 0.2, deviation: 0.3 }, 1);
    expect(unsure.low).toBe(0);
    expect(unsure.high).toBeGreaterThan(0);
    expect(unsure.high).toBeLessThan(sure.high / 2);
    expect(skewShifts({ third: -0.2, deviation: 0 }, 1)).toEqual({ low: -sure.high, high: -sure.high });
    expect(skewShifts({ third: 0, deviation: 1 }, 1)).toEqual({ low: 0, high: 0 });
  });

  it.each([
    ['in whole numbers', 'fines', number('fines', '0', '100')],
    ['in classes of fine ones', 'wage', number('wage', '0', '200', '0.1')],
    ['with bounds about nothing', 'age', number('age', '-7', '90')],
  ])('cubes are measured and paid for where a design is declared: %s', (_, column, declared) => {
    const own = { ...samplePolicy([declared]), design: { effect: 1 } };
    const ask = boundWithNoise(own, { kind: 'estimate', column }, quiet);
    expect(ask.bound.measures.map((measure) => ('worth' in measure ? measure.worth : 1))).toEqual([1, 1, 1, 1 / 64]);
    const { withSampling, value } = truthOf(ask, counted(own, ask, people))[0]!.rows[0]!;
    const list = people[column]!.map(Number);
    const mean = list.reduce((sum, x) => sum + x, 0) / list.length;
    const moment = (power: number) => list.reduce((sum, x) => sum + (x - mean) ** power, 0) / list.length;
    expect(value).toBeCloseTo(mean, 6);
    const sampled = Math.sqrt(moment(2) / list.length);
    const shift = (moment(3) * (2 * 1.959964 ** 2 + 1)) / (6 * moment(2) * list.length);
    expect((withSampling!.high! - mean) / (1.959964 * sampled + shift)).toBeCloseTo(1, 1);
    expect((mean - withSampling!.low!) / (1.959964 * sampled - shift)).toBeCloseTo(1, 1);
  });

  it('the skewness is not measured without a design, nor where the steps of a number are irregular', () => {
    const count = (own: typeof policy, column: string) =>
      bindBatch(parseBatch({ kind: 'estimate', column }), own).measures.length;
    expect(count({ ...policy, design: undefined } as unknown as typeof policy, 'income')).toBe(3);
    const odd = { ...samplePolicy([number('x', '1/3', '10000', '1/7')]), design: { effect: 1 } } as typeof policy;
    expect(count(odd, 'x')).toBe(3);
  });
});
