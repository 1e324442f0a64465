import { addUp, divDown, expUp, log1pUp, logDown, mulUp, subUp } from '../../../base/exact/outward.js';
import { lowest } from './delta-curve.js';

/**
 * delta at epsilon of rho-zCDP: least over alpha of exp((alpha-1)(alpha rho - epsilon)) / (alpha-1) (1 - 1/alpha)^alpha, at most
 * 1. Every alpha > 1 is valid (Canonne et al. 2020); only the value at the best one is rounded up.
 */
export function zcdpDelta(rho: number, epsilon: number): number {
  if (rho === 0) return 0;
  if (!(rho < 1e6)) return 1;
  const alpha = 1 + Math.exp(bestOrder(rho, epsilon));
  return Math.min(1, expUp(logDelta(rho, epsilon, alpha)));
}

function logDelta(rho: number, epsilon: number, alpha: number): number {
  const less = alpha - 1;
  if (!(less > 0)) return 0;
  const exponent = subUp(mulUp(alpha, rho), epsilon);
  const growth = exponent >= 0 ? mulUp(subUp(alpha, 1), exponent) : mulUp(less * (1 - 2 ** -52), exponent);
  const share = mulUp(alpha, log1pUp(-divDown(1, alpha)));
  return addUp(addUp(growth, share), -logDown(less * (1 - 2 ** -52)));
}

/** log(alpha - 1) near the optimum: Newton's place for large epsilon/rho, polished by golden section. */
function bestOrder(rho: number, epsilon: number): number {
  const plain = (t: number) => {
    const less = Math.exp(t);
    return less * ((1 + less) * rho - epsilon) + (1 + less) * Math.log1p(-1 / (1 + less)) - t;
  };
  const guess = Math.log(Math.max(1e-4, (epsilon - rho) / (2 * rho)));
  return lowest(plain, guess - 3, guess + 3);
}
