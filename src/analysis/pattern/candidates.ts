import { Fault } from '../../base/errors.js';
import type { Rational } from '../../base/exact/rational.js';
import { pure } from '../../privacy/mechanism/budget-share.js';
import type { PatternAnalysis } from './query/analyse.js';
import { domainSize } from './query/lambda.js';
import { tupleSecret } from './secret.js';
import { offersFor, type PatternMechanism } from './strategies/strategies.js';
import type { PatternCandidate, PatternTask } from './strategies/strategy.js';

export type { PatternMechanism };

export type PatternTerms = Omit<PatternTask, 'analysis' | 'hidden' | 'budgetShare' | 'degree'> & {
  /** Privacy cost allowed for one tuple, before ties. */
  readonly epsilon: Rational;
  readonly degree?: number;
};

/** Strategies for a pattern whose tuples are the secret, with their expected errors: needs neither policy nor data. */
export function patternCandidates(
  a: PatternAnalysis,
  { epsilon, degree, ...more }: PatternTerms,
): readonly PatternCandidate<PatternMechanism>[] {
  const task = { ...more, analysis: a, hidden: tupleSecret(a), budgetShare: pure(epsilon), degree: publicDegree(a, degree) };
  return offersFor(task).map(({ candidate }) => candidate);
}

export function publicDegree(a: PatternAnalysis, given?: number): number {
  if (given === undefined) return Math.max(8, Math.ceil(Math.sqrt(domainSize(a.pattern))));
  if (Number.isSafeInteger(given) && given >= 1) return given;
  throw new Fault('USAGE', 'The degree must be a whole number of at least 1.', 'Write for example --degree 100.');
}

/** The least expected error among those that meet the guarantee; the first in the list wins a tie. */
export const chooseCandidate = <Name extends string>(candidates: readonly PatternCandidate<Name>[]): PatternCandidate<Name> =>
  candidates.filter((c) => c.meets).reduce((best, c) => (c.expectedError < best.expectedError ? c : best));
