import { sqrtDown } from '../../base/exact/outward.js';
import { fromNumber, multiply, type Rational, toNumberDown } from '../../base/exact/rational.js';

/** Budget per record for one purpose: pure epsilon, or rho of zCDP. */
export interface BudgetShare {
  readonly noise: 'pure' | 'zcdp';
  readonly amount: Rational;
}
export const pure = (epsilon: Rational): BudgetShare => ({ noise: 'pure', amount: epsilon });
export const zcdp = (rho: Rational): BudgetShare => ({ noise: 'zcdp', amount: rho });
export const splitShare = ({ noise, amount }: BudgetShare, share: Rational): BudgetShare => ({
  noise,
  amount: multiply(amount, share),
});

export const rootDown = (x: Rational): Rational => fromNumber(sqrtDown(toNumberDown(x)));
