import { multiply, type Rational, rational } from '../../base/exact/rational.js';
import type { Policy } from '../../policy/policy.js';
import { pure, zcdp } from '../../privacy/mechanism/budget-share.js';
import { type PrivacyCost, type SpentCosts, spend } from '../../privacy/mechanism/privacy-cost.js';
import { everyRecord } from '../../privacy/mechanism/record-class.js';
import { type Account, costOfShare } from './account.js';

/** Cost of another publisher's release, per replaced record: an epsilon or a rho of zCDP (others.proof.md). */
export interface ForeignCost {
  readonly epsilon?: Rational;
  readonly rho?: Rational;
}

/** Cost under this policy: for every record, or with known totals for all records that change at once. */
export function foreignCosts({ epsilon, rho }: ForeignCost, { known }: Pick<Policy, 'known'>): readonly PrivacyCost[] {
  const together = rational(BigInt(known?.together ?? 1));
  return [
    ...(epsilon ? [costOfShare(pure(multiply(epsilon, together)), [everyRecord])] : []),
    ...(rho ? [costOfShare(zcdp(multiply(rho, multiply(together, together))), [everyRecord])] : []),
  ];
}

/** Costs of other publishers meet no condition of a route. */
export const foreignReading = { allRows: true } as const;

/** Spent costs, together with those set aside for other publishers. */
export const withOthers = <S extends SpentCosts>({ others = [] }: Account, spent: S): S => ({
  ...spent,
  ...others.reduce(spend, spent as SpentCosts),
});
