import { describe, expect, it } from 'vitest';
import { objectiveTerms } from './objective.js';

describe('the published formulas', () => {
  it.each([
    [1000, 0.01, 1, 0.5, 0.30938, 0],
    [1000, 0.001, 1, 0.5, 0.25, 0.006510414],
    [30269, 0.001, 1, 0.9, 0.834994, 0],
    [1000, 0.01, 0.25, 0.1, 0.050615, 0],
  ])(
    'the formulas reproduce the paper for n %d, penalty %d, curvature %d, epsilon %d',
    (records, regularisation, curvature, epsilon, left, penalty) => {
      const terms = objectiveTerms({ records, regularisation, curvature }, epsilon);
      expect(terms.epsilon).toBeCloseTo(left, 6);
      expect(terms.penalty).toBeCloseTo(penalty, 9);
    },
  );
});
