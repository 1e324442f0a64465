import type { JointDistribution } from '../../../privacy/dependence/model/joint.js';
import type { Model } from '../../../privacy/dependence/model/model.js';
import type { Adversary } from '../../audit/exact-loss.js';
import type { StateAnswers } from '../../audit/record-query.js';

/** One release to be noised: a distribution, a query on it and the promised epsilon. */
export interface MechanismInput {
  readonly model: Model;
  readonly joint: JointDistribution;
  readonly answers: StateAnswers;
  readonly epsilon: number;
}

/** Laplace noise of a mechanism, and the promise it gives. */
export interface Calibration {
  readonly name: string;
  /** Infinity if the mechanism needs infinite noise, 0 if it adds none. */
  readonly scale: number;
  /** Proven here (with a proof note in the same folder), or only a paper's claim. */
  readonly certified: boolean;
  /** The strongest adversary the proof covers; null for a claim without one. */
  readonly against: Adversary | null;
  /** True if the epsilons of two such releases add up. */
  readonly composes: boolean;
  /** The assumption under which the promise holds, in one sentence. */
  readonly assumption: string;
  /** Loss, if the release is not the answer with Laplace noise of this scale. */
  readonly loss?: (adversary: Adversary) => number;
}

/** A paper's claim and nothing more. */
export const asPublished = { certified: false, against: null, composes: false } as const;
/** Proven here, against this adversary. */
export const provenAgainst = (against: Adversary) => ({ certified: true, against, composes: true }) as const;

export const maximumOf = (numbers: Iterable<number>): number => {
  let most = 0;
  for (const x of numbers) if (x > most) most = x;
  return most;
};
/** The largest over all pairs of a list; 0 if it has none. */
export const maximumOverPairs = <T>(list: readonly T[], of: (a: T, b: T) => number): number =>
  maximumOf(list.flatMap((a, k) => list.slice(0, k).map((b) => of(a, b))));
export const total = (numbers: Iterable<number>): number => {
  let sum = 0;
  for (const x of numbers) sum += x;
  return sum;
};
