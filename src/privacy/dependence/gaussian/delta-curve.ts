import { type Rational, toNumberDown, toNumberUp } from '../../../base/exact/rational.js';
import { largestBelow } from '../largest-below.js';

/** delta at epsilon when every record spends rho; rounded up, growing with rho and falling with epsilon. */
export type DeltaCurve = (rho: number, epsilon: number) => number;

/** The least epsilon (to nine digits, rounded up) that keeps delta. */
export function epsilonOn(curve: DeltaCurve, rho: Rational, delta: Rational): number {
  const r = toNumberUp(rho);
  const d = toNumberDown(delta);
  if (r === 0) return 0;
  let high = 1;
  while (curve(r, high) > d) {
    high *= 2;
    if (high > 1e9) return Number.POSITIVE_INFINITY;
  }
  let low = high / 2 <= 0.5 ? 0 : high / 2;
  while (high - low > 1e-9 * high) {
    const middle = (low + high) / 2;
    if (curve(r, middle) <= d) high = middle;
    else low = middle;
  }
  return high;
}

/** The largest common rho that keeps (epsilon, delta); rounded down. */
export function largestRhoOn(curve: DeltaCurve, epsilon: Rational, delta: Rational): Rational {
  const e = toNumberDown(epsilon);
  return largestBelow((rho) => curve(rho, e), toNumberDown(delta), e + 1, 1e-9);
}

/** Minimiser of a unimodal function between two points, by golden section. */
export function lowest(f: (t: number) => number, from: number, to: number): number {
  const golden = 0.6180339887498949;
  let [low, high] = [from, to];
  let a = high - golden * (high - low);
  let b = low + golden * (high - low);
  let [fa, fb] = [f(a), f(b)];
  for (let k = 0; k < 40; k++)
    if (fa <= fb) {
      [high, b, fb] = [b, a, fa];
      a = high - golden * (high - low);
      fa = f(a);
    } else {
      [low, a, fa] = [a, b, fb];
      b = low + golden * (high - low);
      fb = f(b);
    }
  return (low + high) / 2;
}
