import type { Rational } from '../exact/rational.js';
import type { RecordClass } from './profile.js';

/**
 * What declared ties do to a budget, reduced to what calibration needs. `scope` says which record classes it speaks about: all of them are tied to
 * each other only inside this amplifier, and every bound assumes that no record of the scope spends more than the common base.
 */
export interface Amplifier {
  readonly name: string;
  readonly scope: (record: RecordClass) => boolean;
  /** What an attacker gains about the worst record when every record spends `base`; rounded up. */
  leakage(base: Rational): number;
  /** The largest common base whose leakage stays within epsilon; rounded down. */
  largestBase(epsilon: Rational): Rational;
  /** epsilon at delta when every record spends rho of zCDP; rounded up. */
  approximate(rho: Rational, delta: Rational): number;
  /** The largest common rho that keeps (epsilon, delta); rounded down. */
  largestRho(epsilon: Rational, delta: Rational): Rational;
  /** Leakage at the base if the declaration were too weak; rounded up. Empty when nothing is declared. */
  whatIf(base: Rational): readonly WhatIf[];
  /** True when it only holds for releases that noise every record class on its own. */
  readonly factoredOnly: boolean;
  /** Set when some records are left out of every release: the bound holds as long as everything was spent that way. */
  readonly leftOut?: LeftOut;
  /** What must be true for the bound to hold, in plain words, and the theorem used. */
  readonly assumptions: readonly string[];
  readonly how: string;
}

export interface LeftOut {
  /** The class under which costs paid by the used records alone are booked, beside `*`. */
  readonly mark: RecordClass;
  readonly used: number;
  readonly unused: number;
}

export interface WhatIf {
  readonly change: string;
  readonly leakage: number;
}
