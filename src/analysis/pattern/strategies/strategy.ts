import type { Rational } from '../../../base/exact/rational.js';
import type { Snapshot } from '../../../data/engine/engine.js';
import type { BudgetShare } from '../../../privacy/mechanism/budget-share.js';
import type { Mechanism } from '../../../privacy/mechanism/mechanism.js';
import type { Payment } from '../../../privacy/mechanism/payment.js';
import type { PatternAnalysis } from '../query/analyse.js';
import type { PatternSecret } from '../secret.js';

/**
 * A strategy makes its own mechanisms and answers with nothing else, all from public declarations: data-dependent noise is judged on
 * an assumed graph of this `degree`, never on the data, because such a choice would leak.
 */
export type PatternStrategy<Name extends string> = (task: PatternTask) => readonly PatternOffer<Name>[];

export interface PatternTask {
  readonly analysis: PatternAnalysis;
  readonly hidden: PatternSecret;
  /** Privacy cost allowed for one record, before ties. */
  readonly budgetShare: BudgetShare;
  /** Public guess of the most ties anybody has; a wrong one costs accuracy, not privacy. */
  readonly degree: number;
  /** Present when (epsilon, gamma)-adversarial privacy is enough. */
  readonly gamma?: Rational;
  /** Present for (epsilon, delta) requests; such mechanisms have no privacy cost here and are listed for comparison only. */
  readonly delta?: Rational;
  /** Adversarial privacy for absent tuples, too. */
  readonly absence?: boolean;
  /** Adversarial privacy when a tuple may be positively correlated with this many minus one others. */
  readonly together?: number;
}

export interface PatternOffer<Name extends string = string> {
  readonly candidate: PatternCandidate<Name>;
  /** Absent for candidates shown for comparison only. */
  readonly drawn?: DrawnMechanisms;
}
export interface DrawnMechanisms {
  readonly mechanisms: readonly Mechanism[];
  /** Reads the data and returns the answer with the noise of these mechanisms. */
  readonly answer: (payment: Payment, engine: Snapshot) => Promise<bigint>;
}

/** Public summary of an offer: plain data. */
export interface PatternCandidate<Name extends string = string> {
  readonly mechanism: Name;
  /** Width of the noise: Laplace scale, or its equivalent at the assumed degree. */
  readonly scale: number;
  /** Mean absolute error. */
  readonly expectedError: number;
  readonly guarantee: string;
  /** True if it meets the requested guarantee; only then may it be chosen. */
  readonly meets: boolean;
  readonly note?: string;
  /** Usefulness as defined by Rastogi et al. 2009: the error reaches `sigma` with probability at most `gamma` / domain. */
  readonly usefulness?: { readonly sigma: number; readonly gamma: number };
}

export const pureGuarantee = 'epsilon-indistinguishable (pure)';
export const adversarialGuarantee = 'adversarial privacy (epsilon, gamma)';
export const approximateGuarantee = '(epsilon, delta), no profile';

type CandidateFigures<Name extends string> = Omit<PatternCandidate<Name>, 'guarantee' | 'meets'>;

/** Offer whose guarantee follows from the mechanisms it would draw from. */
export const offer = <Name extends string>(figures: CandidateFigures<Name>, drawn: DrawnMechanisms): PatternOffer<Name> => ({
  candidate: candidateOf(figures, isAdversarial(drawn) ? adversarialGuarantee : pureGuarantee, true),
  drawn,
});
export const comparisonOffer = <Name extends string>(figures: CandidateFigures<Name>, guarantee: string): PatternOffer<Name> => ({
  candidate: candidateOf(figures, guarantee, false),
});
const candidateOf = <Name extends string>(
  figures: CandidateFigures<Name>,
  guarantee: string,
  meets: boolean,
): PatternCandidate<Name> => {
  const { mechanism, scale, expectedError, ...more } = figures;
  return { mechanism, scale, expectedError, guarantee, meets, ...more };
};

/** A paper's noise that costs no epsilon, but may be used once. */
export const isAdversarial = ({ mechanisms }: DrawnMechanisms): boolean =>
  mechanisms.some(({ distribution }) => distribution.kind === 'published');
