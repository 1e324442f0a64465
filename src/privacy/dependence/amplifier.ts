import type { Rational } from '../../base/exact/rational.js';
import type { Scope } from '../mechanism/effect.js';
import type { Slicing } from '../mechanism/record-class.js';
import type { Base, Bases } from './base.js';
import type { Condition } from './condition.js';

/**
 * Function from costs to leakage under declared ties, as calibration needs it. Classes of `scope` are tied only inside this
 * amplifier; bounds assume that none of their records spends more than the base.
 */
export interface Amplifier {
  readonly name: string;
  readonly scope: Scope;
  /**
   * Upper bound on the leakage of the worst record if every record spends `base`; rounded up, monotone in every record's cost.
   */
  leakage(base: Base): number;
  /** The largest common base whose leakage stays within epsilon; with `parts`, the largest multiple of them. Rounded down. */
  largestBase(epsilon: Rational, parts?: Bases): Rational;
  /**
   * Upper bound on the leakage of the worst record between two values of a declared pair (pairs.proof.md): any replacement costs
   * `full`, one along a pair `own`. Absent if nothing below leakage(full) is proven.
   */
  along?(full: Rational, own: Rational): number;
  /** No record is tied to another: what its own change costs is all, whatever the noise. */
  readonly strangers?: true;
  /** The public columns of which it knows every record's value, so that what records of other values spend counts for as much as ties carry over; others by the largest cost. */
  readonly slicings?: ReadonlySet<Slicing>;
  /** Cost that every value of the ordering public column may spend, for any number of values. */
  readonly steady?: Steady;
  /** The proven bounds for Gaussian noise: the first holds for every zCDP release, the others for what their conditions say. */
  readonly gaussian: readonly GaussianBound[];
  /** Leakage at the base if the declaration were too weak; rounded up. Empty when nothing is declared. */
  whatIf(base: Rational): readonly WhatIf[];
  /** True when it only holds for releases that noise every record class on its own. */
  readonly factoredOnly: boolean;
  /** Conditions on all releases so far under which this amplifier is valid. */
  readonly conditions: readonly Condition[];
  /** Set when some records are left out of every release. */
  readonly leftOut?: LeftOut;
  /** Assumptions of the bound in plain words, and the theorem it uses. */
  readonly assumptions: readonly string[];
  readonly how: string;
}

export interface Steady {
  readonly slicing: Slicing;
  /** Rounded down; zero where nothing lasts for ever. */
  base(epsilon: Rational): Rational;
}

/** Cost of every record: rho of zCDP, and pure epsilon in addition. */
export interface Mixed {
  readonly rho: Rational;
  readonly pure: Rational;
  /** rho of everything, each pure draw at its own zCDP cost; when absent the pure epsilon counts as one draw. */
  readonly total?: Rational;
}

export interface GaussianBound {
  readonly conditions: readonly Condition[];
  /** delta at epsilon if every record spends rho and nothing else; rounded up. */
  delta(rho: number, epsilon: number): number;
  /**
   * delta at a smaller epsilon of whatever counts for at most rho where rho keeps `kept`, also where it is a mixture; `delta` when absent, as pure noise is then weighed alike at every
   * order. Rounded up.
   */
  deltaBelow?(rho: number, kept: number, epsilon: number): number;
  /** epsilon at delta when every record spends this; rounded up. */
  epsilon(spent: Mixed, delta: Rational): number;
  /** Largest common rho within (epsilon, delta) if nothing else is spent; rounded down. */
  largestRho(epsilon: Rational, delta: Rational): Rational;
  /**
   * One rho that stands for what was spent: where it is at most `capacity`, and capacity is at most largestRho(epsilon, delta), the whole keeps
   * (epsilon, delta). Rounded up.
   */
  counted(spent: Mixed, capacity: Rational, epsilon: Rational): Rational;
  /** Largest epsilon of one more pure draw that counts for at most rho, whatever else was spent. Rounded down. */
  pureWithin(rho: Rational, capacity: Rational, epsilon: Rational): Rational;
  readonly how: string;
}

export interface LeftOut {
  readonly used: number;
  readonly unused: number;
}

export interface WhatIf {
  readonly change: string;
  readonly leakage: number;
}
