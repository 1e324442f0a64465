import { describe, expect, it } from 'vitest';
import { objectiveTerms, outputRate } from './budget.js';

describe('the published formulas', () => {
  it.each([
    [1000, 0.01, 1, 0.5, 0.30938, 0, 2.5],
    [1000, 0.001, 1, 0.5, 0.25, 0.006510414, 0.25],
    [30269, 0.001, 1, 0.9, 0.834994, 0, 13.62105],
    [1000, 0.01, 0.25, 0.1, 0.050615, 0, 0.5],
  ])(
    'the formulas reproduce the paper for n %d, penalty %d, curvature %d, epsilon %d',
    (rows, regularisation, curvature, epsilon, left, penalty, rate) => {
      const terms = objectiveTerms({ rows, regularisation, curvature, epsilon });
      expect(terms.epsilon).toBeCloseTo(left, 6);
      expect(terms.penalty).toBeCloseTo(penalty, 9);
      expect(outputRate({ rows, regularisation, epsilon })).toBeCloseTo(rate, 5);
    },
  );
});
