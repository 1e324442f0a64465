import { expUp } from '../../../base/exact/outward.js';

/** A convex loss of the margin z = y w.x whose slope stays within [-steepest, 0] and changes by at most `curvature` per unit of margin. */
export interface Loss {
  readonly name: 'logistic' | 'svm';
  readonly curvature: number;
  /** At most one. */
  readonly steepest: number;
  readonly value: (z: number) => number;
  readonly slope: (z: number) => number;
  /** Second derivative where there is one (the solver only). */
  readonly secondDerivative: (z: number) => number;
}

export const logistic: Loss = {
  name: 'logistic',
  curvature: 1 / 4,
  steepest: 1,
  value: (z) => (z > 0 ? Math.log1p(Math.exp(-z)) : Math.log1p(Math.exp(z)) - z),
  // expUp is right to a few units in the last place on every machine, which Math.exp need not be.
  slope: (z) => -1 / (1 + expUp(z)),
  secondDerivative: (z) => {
    const p = 1 / (1 + Math.exp(-Math.abs(z)));
    return p * (1 - p);
  },
};

/** Logistic loss continued linearly where it would be steeper: misclassified rows pull less, and one record moves less. */
export const linearisedLogistic = (steepest: number): Loss => {
  const from = Math.log(1 / steepest - 1);
  return {
    ...logistic,
    steepest,
    value: (z) => (z < from ? logistic.value(from) + steepest * (from - z) : logistic.value(z)),
    slope: (z) => Math.max(-steepest, logistic.slope(z)),
    secondDerivative: (z) => (z < from ? 0 : logistic.secondDerivative(z)),
  };
};

/** Hinge loss with its corner rounded over 1 - h .. 1 + h. */
export const huberHinge = (h: number): Loss => ({
  name: 'svm',
  curvature: 1 / (2 * h),
  steepest: 1,
  value: (z) => (z < 1 - h ? 1 - z : Math.max(0, 1 + h - z) ** 2 / (4 * h)),
  slope: (z) => (z < 1 - h ? -1 : -Math.max(0, 1 + h - z) / (2 * h)),
  secondDerivative: (z) => (Math.abs(1 - z) <= h ? 1 / (2 * h) : 0),
});
