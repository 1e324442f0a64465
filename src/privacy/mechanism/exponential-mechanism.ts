import { divide, multiply, type Rational, rational } from '../../base/exact/rational.js';
import { chooseExponential } from '../noise/exponential.js';
import { type BudgetShare, rootDown } from './budget-share.js';
import type { SelectionDistribution } from './distribution.js';
import type { Mechanism } from './mechanism.js';
import { chargedCost, sensitivityNorm } from './mechanism-cost.js';
import type { Payment } from './payment.js';
import { type ClassScope, largestSensitivity, type RecordSensitivity } from './sensitivity.js';

/**
 * Query for a selection among public candidates, made `cells` times. With d_g the most by which one record changes a penalty of
 * choice g, `sensitivity` bounds the sums of d_g (l1) and of d_g^2 (l2squared).
 */
export interface SelectionQuery {
  readonly name: string;
  readonly cells: number;
  readonly sensitivity: RecordSensitivity;
  readonly factored?: boolean;
}

export interface ExponentialMechanism extends Mechanism {
  readonly distribution: SelectionDistribution | { readonly kind: 'none' };
  /** The position of the candidate chosen; 0 is the best penalty. */
  choose(payment: Payment, penalties: readonly bigint[]): number;
  /** The same against one payment, which each choice draws on. */
  prepare(payment: Payment): (penalties: readonly bigint[]) => number;
}

const two = rational(2);

/** Exponential mechanism, as sharp as the budget share pays for. */
export function exponentialMechanism(what: SelectionQuery, share: BudgetShare, scope?: ClassScope): ExponentialMechanism {
  const { name, cells, sensitivity, factored } = what;
  const most = largestSensitivity(sensitivity, sensitivityNorm[share.noise], scope);
  const distribution: ExponentialMechanism['distribution'] =
    most === 0n ? { kind: 'none' } : { kind: 'selection', sharpness: sharpnessFor(share, rational(most)) };
  const mechanism: ExponentialMechanism = {
    distribution,
    cost: chargedCost(distribution, sensitivity, share, { ...(scope && { scope }), ...(factored && { factored }) }),
    draws: cells,
    summary: { name, cells },
    choose: (payment, penalties) => {
      payment.take(mechanism, 1);
      return payment.release(mechanism, penalties, (list) => pick(distribution, list));
    },
    prepare: (payment) => (penalties) => mechanism.choose(payment, penalties),
  };
  return mechanism;
}

function sharpnessFor({ noise, amount }: BudgetShare, sensitivity: Rational): Rational {
  return noise === 'pure' ? divide(amount, multiply(two, sensitivity)) : rootDown(divide(multiply(two, amount), sensitivity));
}

function pick(distribution: ExponentialMechanism['distribution'], penalties: readonly bigint[]): number {
  if (distribution.kind === 'selection') return chooseExponential({ scores: penalties.map((p) => -p) }, distribution.sharpness);
  return penalties.reduce((best, p, k) => (p < penalties[best]! ? k : best), 0);
}
