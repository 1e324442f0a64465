import { addUp, divUp, logDown, logUp, mulUp, subDown, subUp } from '../exact/outward.js';

/** A bound on the Renyi divergence of every order alpha > 1, rounded up. */
export type RenyiCurve = (alpha: number) => number;

/**
 * epsilon at delta from a Renyi curve: for any alpha > 1, epsilon = R(alpha) + log((alpha-1)/alpha) + (log(1/delta) - log alpha)/(alpha-1)
 * suffices (Canonne, Kamath and Steinke 2020). Every alpha is valid, so alpha is searched in plain doubles and only the value is rounded up.
 */
export function approximateEpsilon(curve: RenyiCurve, delta: number): number {
  let low = Math.log(1e-6);
  let high = Math.log(1e8);
  const at = (t: number) => epsilonAt(curve, 1 + Math.exp(t), delta);
  const golden = (Math.sqrt(5) - 1) / 2;
  let best = Number.POSITIVE_INFINITY;
  let a = high - golden * (high - low);
  let b = low + golden * (high - low);
  let fa = at(a);
  let fb = at(b);
  for (let k = 0; k < 90; k++) {
    best = Math.min(best, fa, fb);
    if (fa <= fb) {
      high = b;
      b = a;
      fb = fa;
      a = high - golden * (high - low);
      fa = at(a);
    } else {
      low = a;
      a = b;
      fa = fb;
      b = low + golden * (high - low);
      fb = at(b);
    }
  }
  return Math.max(0, best);
}

export function epsilonAt(curve: RenyiCurve, alpha: number, delta: number): number {
  const less = subUp(alpha, 1);
  const tail = subUp(-logDown(delta), logDown(alpha));
  const ratio = logUp(divUp(less, alpha));
  return addUp(addUp(curve(alpha), ratio), tail >= 0 ? divUp(tail, subDown(alpha, 1)) : -mulUp(-tail, 1) / less);
}

/** rho-zCDP: R(alpha) = rho alpha. */
export const zcdpCurve =
  (rho: number): RenyiCurve =>
  (alpha) =>
    mulUp(rho, alpha);
