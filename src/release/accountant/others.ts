import { multiply, type Rational, rational } from '../../base/exact/rational.js';
import type { Policy } from '../../policy/policy.js';
import { pure, zcdp } from '../../privacy/mechanism/allotment.js';
import { type Profile, type Spent, spend } from '../../privacy/mechanism/profile.js';
import { everyRecord } from '../../privacy/mechanism/record-class.js';
import { type Account, costOf } from './account.js';

/** What somebody else has told about these people, as a cost per record that is replaced: an epsilon or a rho of zCDP (others.proof.md). */
export interface Foreign {
  readonly epsilon?: Rational;
  readonly rho?: Rational;
}

/** As it counts for this policy: for every record, and beside known totals for all records that change at once. */
export function foreignCosts({ epsilon, rho }: Foreign, { known }: Pick<Policy, 'known'>): readonly Profile[] {
  const together = rational(BigInt(known?.together ?? 1));
  return [
    ...(epsilon ? [costOf(pure(multiply(epsilon, together)), [everyRecord])] : []),
    ...(rho ? [costOf(zcdp(multiply(rho, multiply(together, together))), [everyRecord])] : []),
  ];
}

/** What others may have spent meets no condition of ours. */
export const readByOthers = { beyond: true } as const;

/** What was spent, with what is set aside for others who do not say what they spend. */
export const withOthers = <S extends Spent>({ others = [] }: Account, spent: S): S => ({
  ...spent,
  ...others.reduce(spend, spent as Spent),
});
