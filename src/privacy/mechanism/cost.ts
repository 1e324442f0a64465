import { add, compare, divide, multiply, type Rational, rational } from '../../base/exact/rational.js';
import type { Allotment } from './allotment.js';
import { type Effect, type Effects, largest, type Scope } from './effect.js';
import type { Law } from './law.js';
import { type Profile, pureProfile, withZcdp, zcdpProfile } from './profile.js';

const two = rational(2);
/** 2.2796 > 3^(3/4): how fast the log density of quartic noise moves. */
export const quarticSlide: Rational = rational(22796, 10000);

/** Norm of the sensitivity that determines the cost, for each kind of accounting. */
export const sizeIn = { pure: 'l1', zcdp: 'l2squared' } as const satisfies Record<Allotment['noise'], keyof Effect>;

/**
 * Privacy cost of one draw for a record of this sensitivity: the only place that converts a distribution to a cost
 * (mechanism.proof.md). Undefined if the distribution has no cost of this kind.
 */
export function costOf(law: Law, noise: Allotment['noise'], { l1, l2squared }: Effect): Rational | undefined {
  if (law.kind === 'none') return l1 === 0n ? rational(0) : undefined;
  if (noise === 'zcdp') {
    if (law.kind === 'gaussian') return divide(rational(l2squared), multiply(two, law.variance));
    if (law.kind === 'selection') return divide(multiply(multiply(law.sharpness, law.sharpness), rational(l2squared)), two);
    return undefined;
  }
  if (law.kind === 'laplace') return divide(rational(l1), law.scale);
  if (law.kind === 'selection') return multiply(multiply(two, law.sharpness), rational(l1));
  // The sensitivity of these two is measured in rungs of the data's own ladder; one record stands for one rung.
  if (law.kind === 'ladder') return multiply(multiply(two, law.decay), rational(l1));
  if (law.kind === 'smooth') return multiply(add3(divide(quarticSlide, law.scale), law.beta), rational(l1));
  if (law.kind === 'tilt') return add(add(divide(rational(l1), law.scale), law.bend), divide(law.slack, law.fuzz));
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
export function booked(
  law: Law,
  effects: Effects,
  { noise, amount }: Allotment,
  { times = 1, scope, factored = false }: { readonly times?: number; readonly scope?: Scope; readonly factored?: boolean } = {},
): Profile {
  const size = sizeIn[noise];
  const most = largest(effects, size, scope);
  const entries = [...effects].map(([name, effect]) => {
    const cost = most === 0n ? rational(0) : multiply(amount, rational(effect[size], most));
    const real = costOf(law, noise, effect);
    if (real === undefined || compare(multiply(real, rational(times)), cost) > 0)
      throw new RangeError('a noise would cost more than is booked for it');
    return [name, cost] as const;
  });
  return noise === 'pure' ? withZcdp(pureProfile(entries, factored), times) : zcdpProfile(entries);
}
