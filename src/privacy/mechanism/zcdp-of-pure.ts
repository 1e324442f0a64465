import { mulUp, sqrtUp, tanhUp } from '../../base/exact/outward.js';
import {
  compare,
  fromNumber,
  isPositive,
  nextDown,
  type Rational,
  toNumberDown,
  toNumberUp,
  zero,
} from '../../base/exact/rational.js';

/** Privacy cost in zCDP of one epsilon-DP draw: epsilon tanh(epsilon/2), at most epsilon^2/2 (zcdp-of-pure.proof.md). Rounded up. */
export function zcdpOfPure(epsilon: Rational): Rational {
  if (!isPositive(epsilon)) return zero;
  return fromNumber(zcdpUp(toNumberUp(epsilon)));
}
const zcdpUp = (epsilon: number): number => mulUp(epsilon, tanhUp(epsilon / 2));

/** Largest epsilon of one pure draw whose zCDP cost is at most rho. Rounded down, and verified. */
export function pureOfZcdp(rho: Rational): Rational {
  const most = toNumberDown(rho);
  if (!(most > 0)) return zero;
  // epsilon tanh(epsilon/2) grows, is at most epsilon^2/2 and at least epsilon - 1.
  let [low, high] = [0, Math.min(2 * sqrtUp(2 * most) + most, most + 1)];
  for (let k = 0; k < 80 && nextDown(high) > low; k++) {
    const middle = low + (high - low) / 2;
    if (zcdpUp(middle) <= most) low = middle;
    else high = middle;
  }
  const found = fromNumber(low);
  return compare(zcdpOfPure(found), rho) <= 0 ? found : zero;
}
