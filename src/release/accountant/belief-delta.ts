import { addUp, divDown, divUp, expm1Up, expUp, mulDown, mulUp } from '../../base/exact/outward.js';
import {
  compare,
  fromNumber,
  isZero,
  multiply,
  type Rational,
  rational,
  subtract,
  toNumberDown,
  toNumberUp,
  zero,
} from '../../base/exact/rational.js';
import type { GaussianBound } from '../../privacy/dependence/amplifier.js';

/**
 * (epsilon, delta) does not bound odds by e^epsilon except with probability delta: one Gaussian release exceeds that 2 to 8 times as often.
 * Used instead (belief.proof.md), with g = epsilon - epsilon' > 0: P(odds move more) <= (1 + e^-epsilon) delta' / (1 - e^-g).
 */
const slacks: readonly Rational[] = [1, 2, 3, 4, 5, 6, 8, 10, 13, 17, 22].map((percent) => rational(percent, 100));

/** 1 - e^-g, rounded down. */
const oneMinusExp = (g: number): number => -expm1Up(-g);
/** Bound for both directions, towards the truth and (rarer by e^-epsilon) away from it; rounded up. */
const bothWays = (epsilon: Rational): number => addUp(1, expUp(-toNumberDown(epsilon)));

/** Largest common rho, rounded down, under which odds move by at most e^epsilon except with probability delta. */
export function largestRhoForOdds(
  bound: Pick<GaussianBound, 'largestRho'>,
  epsilon: Rational,
  delta: Rational,
): { readonly rho: Rational; readonly epsilon: Rational } {
  let best = { rho: zero, epsilon };
  for (const share of slacks) {
    const g = multiply(epsilon, share);
    const part = divDown(mulDown(toNumberDown(delta), oneMinusExp(toNumberDown(g))), bothWays(epsilon));
    if (!(part > 0)) continue;
    const less = subtract(epsilon, g);
    const rho = bound.largestRho(less, fromNumber(part));
    if (compare(rho, best.rho) > 0) best = { rho, epsilon: less };
  }
  return best;
}

/** Probability that the odds move by more than e^epsilon when every record spends rho; rounded up. */
export function failureProbability(bound: Pick<GaussianBound, 'delta' | 'deltaBelow'>, rho: Rational, epsilon: Rational): number {
  if (isZero(rho)) return 0;
  const [spent, kept] = [toNumberUp(rho), toNumberDown(epsilon)];
  let least = 1;
  for (const share of slacks) {
    const g = multiply(epsilon, share);
    const less = toNumberDown(subtract(epsilon, g));
    const delta = bound.deltaBelow?.(spent, kept, less) ?? bound.delta(spent, less);
    least = Math.min(least, divUp(mulUp(delta, bothWays(epsilon)), oneMinusExp(toNumberDown(g))));
  }
  return least;
}
