import { add, compare, divide, multiply, type Rational, rational } from '../../base/exact/rational.js';
import type { BudgetShare } from './budget-share.js';
import type { NoiseDistribution } from './distribution.js';
import { type PrivacyCost, pureCost, withZcdp, zcdpCost } from './privacy-cost.js';
import { type ClassScope, largestSensitivity, type RecordSensitivity, type Sensitivity } from './sensitivity.js';

const two = rational(2);
/** 2.2796 > 3^(3/4): how fast the log density of quartic noise moves. */
export const quarticSlide: Rational = rational(22796, 10000);

/** Norm of the sensitivity that determines the cost, for each kind of accounting. */
export const sensitivityNorm = { pure: 'l1', zcdp: 'l2squared' } as const satisfies Record<
  BudgetShare['noise'],
  keyof Sensitivity
>;

/**
 * Privacy cost of one draw for a record of this sensitivity: the only place that converts a distribution to a cost
 * (mechanism.proof.md). Undefined if the distribution has no cost of this kind.
 */
export function drawCost(
  distribution: NoiseDistribution,
  noise: BudgetShare['noise'],
  { l1, l2squared }: Sensitivity,
): Rational | undefined {
  if (distribution.kind === 'none') return l1 === 0n ? rational(0) : undefined;
  if (noise === 'zcdp') {
    if (distribution.kind === 'gaussian') return divide(rational(l2squared), multiply(two, distribution.variance));
    if (distribution.kind === 'selection')
      return divide(multiply(multiply(distribution.sharpness, distribution.sharpness), rational(l2squared)), two);
    return undefined;
  }
  if (distribution.kind === 'laplace') return divide(rational(l1), distribution.scale);
  if (distribution.kind === 'selection') return multiply(multiply(two, distribution.sharpness), rational(l1));
  // The sensitivity of these two is measured in rungs of the data's own ladder; one record stands for one rung.
  if (distribution.kind === 'ladder') return multiply(multiply(two, distribution.decay), rational(l1));
  if (distribution.kind === 'smooth')
    return multiply(add3(divide(quarticSlide, distribution.scale), distribution.beta), rational(l1));
  if (distribution.kind === 'tilt')
    return add(add(divide(rational(l1), distribution.scale), distribution.bend), divide(distribution.slack, distribution.fuzz));
  return undefined;
}
const add3 = (slide: Rational, beta: Rational): Rational => ({
  num: slide.num * beta.den + 3n * beta.num * slide.den,
  den: slide.den * beta.den,
});

/**
 * Cost of `times` draws: the budget share, for every class in proportion to its sensitivity, outside the scope too. The code
 * verifies for every class that the actual cost is no larger.
 */
export function chargedCost(
  distribution: NoiseDistribution,
  sensitivities: RecordSensitivity,
  { noise, amount }: BudgetShare,
  {
    times = 1,
    scope,
    factored = false,
  }: { readonly times?: number; readonly scope?: ClassScope; readonly factored?: boolean } = {},
): PrivacyCost {
  const size = sensitivityNorm[noise];
  const most = largestSensitivity(sensitivities, size, scope);
  const entries = [...sensitivities].map(([name, sensitivity]) => {
    const cost = most === 0n ? rational(0) : multiply(amount, rational(sensitivity[size], most));
    const real = drawCost(distribution, noise, sensitivity);
    if (real === undefined || compare(multiply(real, rational(times)), cost) > 0)
      throw new RangeError('a noise would cost more than is booked for it');
    return [name, cost] as const;
  });
  return noise === 'pure' ? withZcdp(pureCost(entries, factored), times) : zcdpCost(entries);
}
