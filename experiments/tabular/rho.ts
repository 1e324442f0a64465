import { zcdpDelta } from '../../src/privacy/dependence/gaussian/zcdp-delta.js';

/** Largest rho whose zCDP guarantee implies (epsilon, delta), by the product's own conversion. */
export function largestRho(epsilon: number, delta: number): number {
  let low = 0;
  let high = epsilon * 10;
  for (let step = 0; step < 60; step++) {
    const middle = (low + high) / 2;
    if (zcdpDelta(middle, epsilon) <= delta) low = middle;
    else high = middle;
  }
  return low;
}
