import { divide, isPositive, multiply, type Rational, rational, subtract } from '../../base/exact/rational.js';
import { laplaceSampler } from '../noise/discrete-laplace.js';
import type { BudgetShare } from './budget-share.js';
import { roundUp, type TiltDistribution } from './distribution.js';
import type { Mechanism } from './mechanism.js';
import { chargedCost } from './mechanism-cost.js';
import type { Payment } from './payment.js';
import { largestSensitivity, type RecordSensitivity } from './sensitivity.js';

/**
 * Query for objective perturbation: the minimiser of a convex objective with a random linear term, published with a little noise
 * of its own (objective-perturbation.proof.md).
 */
export interface ObjectiveQuery {
  readonly name: string;
  /** Length of the weights. */
  readonly cells: number;
  /** Sensitivity of the gradient at any weights, in units of the linear term, rounding included: L1 only. */
  readonly sensitivity: RecordSensitivity;
  /** Sensitivity of the log-determinant of the second derivative. */
  readonly bend: Rational;
  /**
   * L1 bound, in units of the published weights, on the difference of two data sets' results for the same exact minimiser: solver
   * and roundings.
   */
  readonly slack: bigint;
}

/** The data's side of it. */
export interface ObjectiveData {
  /** Whole-number weights before noise, for a whole-number linear term. */
  readonly minimise: (linear: readonly bigint[]) => readonly bigint[];
  /** Gradient at published weights in units of the linear term, for audits. */
  readonly gradient: (weights: readonly bigint[]) => readonly bigint[];
}

export interface ObjectivePerturbation extends Mechanism {
  readonly distribution: TiltDistribution;
  /** Draws the linear term and the noise of the weights now. */
  prepare(payment: Payment): (data: ObjectiveData) => bigint[];
}

/** Share of the budget for the noise on the published weights, whose slack is tiny. */
const slackShare = rational(1, 50);

export function objectivePerturbation(
  { name, cells, sensitivity, bend, slack }: ObjectiveQuery,
  share: BudgetShare,
): ObjectivePerturbation {
  const forSlack = multiply(share.amount, slackShare);
  const forTilt = subtract(subtract(share.amount, forSlack), bend);
  if (share.noise !== 'pure' || !isPositive(forTilt)) throw new RangeError('nothing is left for the linear term');
  const distribution: TiltDistribution = {
    kind: 'tilt',
    scale: roundUp(divide(rational(largestSensitivity(sensitivity, 'l1')), forTilt)),
    bend,
    fuzz: roundUp(divide(rational(slack), forSlack)),
    slack: rational(slack),
  };
  const mechanism: ObjectivePerturbation = {
    distribution,
    cost: chargedCost(distribution, sensitivity, share),
    draws: 1,
    summary: { name, cells },
    prepare: (payment) => {
      payment.take(mechanism, 1);
      const [tilt, fuzz] = [distribution.scale, distribution.fuzz].map((scale) =>
        Array.from({ length: cells }, laplaceSampler(scale)),
      );
      return (data) => payment.release(mechanism, data, ({ minimise }) => minimise(tilt!).map((w, j) => w + fuzz![j]!));
    },
  };
  return mechanism;
}
