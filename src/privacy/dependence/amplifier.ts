import type { Rational } from '../../base/exact/rational.js';
import type { Slicing } from '../mechanism/record-class.js';
import type { ClassScope } from '../mechanism/sensitivity.js';
import type { BaseCost, BaseCosts } from './base-cost.js';
import type { ReleaseCondition } from './condition.js';

/**
 * Function from costs to leakage under declared ties, as calibration needs it. Classes of `scope` are tied only inside this
 * amplifier; bounds assume that none of their records spends more than the base.
 */
export interface Amplifier {
  readonly name: string;
  readonly scope: ClassScope;
  /**
   * Upper bound on the leakage of the worst record if every record spends `base`; rounded up, monotone in every record's cost.
   */
  leakage(base: BaseCost): number;
  /** Largest common base whose leakage stays within epsilon; with `parts`, the largest multiple of them. Rounded down. */
  largestBase(epsilon: Rational, parts?: BaseCosts): Rational;
  /**
   * Upper bound on the leakage of the worst record between two values of a declared pair (pairs.proof.md): any replacement costs
   * `full`, one along a pair `own`. Absent if nothing below leakage(full) is proven.
   */
  along?(full: Rational, own: Rational): number;
  /** Set if no record is tied to another: leakage is then the record's own cost, for any noise. */
  readonly strangers?: true;
  /**
   * Public columns whose values are known for every record, so that the costs of other values count only as far as ties pass them
   * on; for other columns the largest cost counts.
   */
  readonly slicings?: ReadonlySet<Slicing>;
  /** Cost that every value of the ordering public column may spend, for any number of values. */
  readonly steady?: SteadyCost;
  /** Proven bounds for Gaussian noise: the first holds for every zCDP release, the others under their conditions. */
  readonly gaussian: readonly GaussianBound[];
  /** Leakage at the base if the declaration were too weak; rounded up. Empty if no ties are declared. */
  whatIf(base: Rational): readonly WhatIf[];
  /** True if the bound holds only for releases that noise every record class separately. */
  readonly factoredOnly: boolean;
  /** Conditions on all releases so far under which this amplifier is valid. */
  readonly conditions: readonly ReleaseCondition[];
  /** Set if some records are excluded from every release. */
  readonly leftOut?: RecordUse;
  /** Assumptions of the bound in plain words, and the theorem it uses. */
  readonly assumptions: readonly string[];
  readonly method: string;
}

export interface SteadyCost {
  readonly slicing: Slicing;
  /** Rounded down; zero where nothing lasts for ever. */
  base(epsilon: Rational): Rational;
}

/** Cost of every record: rho of zCDP, and pure epsilon in addition. */
export interface MixedCost {
  readonly rho: Rational;
  readonly pure: Rational;
  /** rho of all releases, each pure draw at its own zCDP cost; when absent the pure epsilon counts as one draw. */
  readonly total?: Rational;
}

export interface GaussianBound {
  readonly conditions: readonly ReleaseCondition[];
  /** delta at epsilon if every record spends rho and nothing else; rounded up. */
  delta(rho: number, epsilon: number): number;
  /**
   * delta at a smaller epsilon for costs that count for at most rho, mixtures included, if rho keeps `kept`; rounded up. `delta`
   * when absent, since pure noise then has the same weight at every order.
   */
  deltaBelow?(rho: number, kept: number, epsilon: number): number;
  /** epsilon at delta if every record spends this; rounded up. */
  epsilon(spent: MixedCost, delta: Rational): number;
  /** Largest common rho within (epsilon, delta) if nothing else is spent; rounded down. */
  largestRho(epsilon: Rational, delta: Rational): Rational;
  /**
   * Single rho for all costs so far: if it is at most `capacity`, and capacity at most largestRho(epsilon, delta), the whole
   * keeps (epsilon, delta). Rounded up.
   */
  counted(spent: MixedCost, capacity: Rational, epsilon: Rational): Rational;
  /** Largest epsilon of one more pure draw that counts for at most rho, whatever else was spent. Rounded down. */
  pureWithin(rho: Rational, capacity: Rational, epsilon: Rational): Rational;
  readonly method: string;
}

export interface RecordUse {
  readonly used: number;
  readonly unused: number;
}

export interface WhatIf {
  readonly change: string;
  readonly leakage: number;
}
