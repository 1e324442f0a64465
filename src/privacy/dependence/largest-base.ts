import { type Rational, toNumberDown } from '../../base/exact/rational.js';
import type { Adversary } from '../../policy/policy.js';
import { isLarge } from './graph/factor-graph.js';
import { largestBelow, largestNear } from './largest-below.js';
import { type CalculatorOptions, type LeakageCalculator, leakageCalculator } from './leakage.js';
import type { GraphOrModel } from './model/model-graph.js';

/** The largest common base whose worst leakage stays within epsilon; rounded down and checked. */
export const largestBase = (
  subject: GraphOrModel,
  epsilon: Rational,
  adversary: Adversary,
  options: CalculatorOptions = {},
): Rational => largestBaseOn(leakageCalculator(subject, adversary, options), epsilon);

/** For large graphs to three digits, less than any noise can show. */
export function largestBaseOn(calculator: LeakageCalculator, epsilon: Rational): Rational {
  const limit = toNumberDown(epsilon);
  if (!isLarge(calculator.graph)) return largestBelow((base) => calculator.worst(base), limit, limit);
  return largestNear((base) => calculator.worst(base, limit), limit, {
    top: limit,
    // Group privacy.
    sure: (limit / Math.max(1, calculator.group)) * (1 - 1e-9),
    guess: limit / calculator.amplification(),
  });
}
