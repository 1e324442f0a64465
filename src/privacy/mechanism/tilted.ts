import { divide, isPositive, multiply, type Rational, rational, subtract } from '../../base/exact/rational.js';
import { laplaceSampler } from '../noise/discrete-laplace.js';
import type { Allotment } from './allotment.js';
import { booked } from './cost.js';
import { type Effects, largest } from './effect.js';
import { roundUp, type TiltLaw } from './law.js';
import type { Mechanism } from './mechanism.js';
import type { Paid } from './paid.js';

/**
 * Query for objective perturbation: the minimiser of a convex objective with a random linear term, published with a little noise
 * of its own (objective-perturbation.proof.md).
 */
export interface Tiltable {
  readonly name: string;
  /** Length of the weights. */
  readonly cells: number;
  /** Sensitivity of the gradient at any weights, in units of the linear term, rounding included: L1 only. */
  readonly effects: Effects;
  /** Sensitivity of the log-determinant of the second derivative. */
  readonly bend: Rational;
  /**
   * L1 bound, in units of the published weights, on the difference of two data sets' results for the same exact minimiser: solver
   * and roundings.
   */
  readonly slack: bigint;
}

/** The data's side of it. */
export interface Tilting {
  /** Whole-number weights before noise, for a whole-number linear term. */
  readonly minimise: (linear: readonly bigint[]) => readonly bigint[];
  /** Gradient at published weights in units of the linear term, for audits. */
  readonly pull: (weights: readonly bigint[]) => readonly bigint[];
}

export interface Tilted extends Mechanism {
  readonly law: TiltLaw;
  /** Draws the linear term and the noise of the weights now. */
  ready(paid: Paid): (data: Tilting) => bigint[];
}

/** Share of the budget for the noise on the published weights, whose slack is tiny. */
const slackShare = rational(1, 50);

export function tilted({ name, cells, effects, bend, slack }: Tiltable, allotment: Allotment): Tilted {
  const forSlack = multiply(allotment.amount, slackShare);
  const forTilt = subtract(subtract(allotment.amount, forSlack), bend);
  if (allotment.noise !== 'pure' || !isPositive(forTilt)) throw new RangeError('nothing is left for the linear term');
  const law: TiltLaw = {
    kind: 'tilt',
    scale: roundUp(divide(rational(largest(effects, 'l1')), forTilt)),
    bend,
    fuzz: roundUp(divide(rational(slack), forSlack)),
    slack: rational(slack),
  };
  const mechanism: Tilted = {
    law,
    cost: booked(law, effects, allotment),
    draws: 1,
    told: { name, cells },
    ready: (paid) => {
      paid.take(mechanism, 1);
      const [tilt, fuzz] = [law.scale, law.fuzz].map((scale) => Array.from({ length: cells }, laplaceSampler(scale)));
      return (data) => paid.release(mechanism, data, ({ minimise }) => minimise(tilt!).map((w, j) => w + fuzz![j]!));
    },
  };
  return mechanism;
}
