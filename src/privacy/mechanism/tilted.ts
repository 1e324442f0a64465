import { divide, isPositive, multiply, type Rational, rational, subtract } from '../../base/exact/rational.js';
import { laplaceSampler } from '../noise/discrete-laplace.js';
import type { Allotment } from './allotment.js';
import { booked } from './cost.js';
import { type Effects, largest } from './effect.js';
import { roundUp, type TiltLaw } from './law.js';
import type { Mechanism } from './mechanism.js';
import type { Paid } from './paid.js';

/** The minimiser of a convex objective that a random linear term tilts, told with a little noise of its own (tilted.proof.md). */
export interface Tiltable {
  readonly name: string;
  /** Length of the weights. */
  readonly cells: number;
  /** How far replacing one record moves the gradient at any weights, in units of the linear term, rounding included: l1 only. */
  readonly effects: Effects;
  /** How far it moves the logarithm of the determinant of the second derivative. */
  readonly bend: Rational;
  /** How far apart, in L1 and in units of the told weights, two worlds can tell the same minimiser: solver, rounding of the linear term, rounding of the weights. */
  readonly slack: bigint;
}

/** The data's side of it. */
export interface Tilting {
  /** The whole-number weights that are told, before noise, for a whole-number linear term. */
  readonly minimise: (linear: readonly bigint[]) => readonly bigint[];
  /** The gradient at told weights in units of the linear term, for audits. */
  readonly pull: (weights: readonly bigint[]) => readonly bigint[];
}

export interface Tilted extends Mechanism {
  readonly law: TiltLaw;
  /** Draws the linear term and the noise of the weights now. */
  ready(paid: Paid): (data: Tilting) => bigint[];
}

/** Share of the budget for the noise of the told weights, whose slack is tiny. */
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
