import { sqrtDown } from '../../base/exact/outward.js';
import { fromNumber, multiply, type Rational, toNumberDown } from '../../base/exact/rational.js';

/** Budget per record for one purpose: pure epsilon, or rho of zCDP. */
export interface Allotment {
  readonly noise: 'pure' | 'zcdp';
  readonly amount: Rational;
}
export const pure = (epsilon: Rational): Allotment => ({ noise: 'pure', amount: epsilon });
export const zcdp = (rho: Rational): Allotment => ({ noise: 'zcdp', amount: rho });
export const partOf = ({ noise, amount }: Allotment, share: Rational): Allotment => ({ noise, amount: multiply(amount, share) });

export const rootDown = (x: Rational): Rational => fromNumber(sqrtDown(toNumberDown(x)));
