import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { add, compare, multiply, one, rational, toNumber } from '../../../base/exact/rational.js';
import { countWeight, gaussianSplit, iterationsFor, leastIterationBudget, lloydSplit } from './split.js';

describe('the split of the budget over Lloyd iterations', () => {
  it.each([
    [8, 12, 6969, 3.539151, 2, 0.050374, 0.037469],
    [3, 2, 10_000, 0.052694, 7, 0.038577, 0.05214],
    [5, 10, 100_000, 0.094525, 7, 0.016044, 0.012681],
  ])(
    'the split reproduces the published values for k %d, d %d, n %d',
    (clusters, dimensions, rows, least, rounds, count, dimension) => {
      expect(leastIterationBudget(clusters, dimensions, rows)).toBeCloseTo(least, 6);
      expect(iterationsFor(clusters, dimensions, rows, 1)).toBe(rounds);
      const split = lloydSplit(dimensions, rounds);
      expect(toNumber(split.count)).toBeCloseTo(count, 6);
      expect(toNumber(split.dimension)).toBeCloseTo(dimension, 6);
    },
  );

  const spent = (count: ReturnType<typeof rational>, dimension: typeof count, dimensions: number, rounds: number) =>
    multiply(rational(rounds), add(count, multiply(rational(dimensions), dimension)));

  it('the parts of the split add up to exactly the budget', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(lloydSplit, gaussianSplit),
        fc.integer({ min: 1, max: 100 }),
        fc.integer({ min: 1, max: 50 }),
        (split, dimensions, rounds) => {
          const { count, dimension } = split(dimensions, rounds);
          expect(compare(count, rational(0))).toBe(1);
          expect(spent(count, dimension, dimensions, rounds)).toEqual(one);
        },
      ),
    );
  });

  it.each([
    [10, 1.211834],
    [12, 1.283912],
    [50, 2.1],
  ])('the swapped order of a popular library fails the check: %d dimensions cost %d times the budget', (dimensions, times) => {
    const { count, dimension } = lloydSplit(dimensions, 7);
    const total = spent(dimension, count, dimensions, 7);
    expect(compare(total, one)).toBe(1);
    expect(toNumber(total)).toBeCloseTo(times, dimensions === 50 ? 1 : 5);
    const c = countWeight(dimensions);
    expect(toNumber(total)).toBeCloseTo((1 + dimensions * c) / (dimensions + c), 5);
  });
});
