import { Fault } from '../../base/errors.js';
import { compare, isPositive, one, parseRational, type Rational, rational, toNumber, zero } from '../../base/exact/rational.js';
import { epsilonFromOdds, oddsFactor, posteriorAtLeast, posteriorAtMost } from '../../policy/belief.js';

/** Bound on beliefs: the odds of any statement about one secret move by at most `oddsFactor`, up or down. */
export interface BeliefBudget {
  readonly prior: Rational;
  readonly posterior: Rational;
  /** Rounded down. */
  readonly epsilon: Rational;
  readonly oddsFactor: Rational;
  /** The same bound in the other direction: a belief of at least `from` stays at least `to`. */
  readonly downward: { readonly from: Rational; readonly to: Rational };
}

const refuse = (message: string, hint: string) => new Fault('BUDGET_INVALID', message, hint);

export function readProbability(text: string, what: string): Rational {
  const p = parseRational(text, what);
  if (compare(p, zero) <= 0 || compare(p, one) >= 0)
    throw refuse(
      `The ${what} must lie strictly between 0 and 1.`,
      'Nobody can be moved from, or kept away from, complete certainty: write for example 0.01 or 0.99.',
    );
  return p;
}

export function readEpsilon(text: string): Rational {
  const epsilon = parseRational(text, 'epsilon');
  if (!isPositive(epsilon))
    throw refuse('Epsilon must be above 0.', 'Usual choices lie between 0.1 and 10; or give --prior and --posterior instead.');
  return epsilon;
}

/** From "at most `prior` before" and "at most `posterior` after" to the total budget of the ledger. */
export function beliefBudget(prior: Rational, posterior: Rational): BeliefBudget {
  if (compare(prior, posterior) >= 0)
    throw refuse(
      'The posterior is not above the prior: a release can only be useful if beliefs may move.',
      `Give a posterior above ${toNumber(prior)}; for the way down swap the two (the bound is the same, read downward).`,
    );
  const factor = oddsFactor(prior, posterior);
  const epsilon = epsilonFromOdds(factor);
  if (!isPositive(epsilon))
    throw refuse('Prior and posterior are too close: no budget lies between them.', 'Move them further apart.');
  return { prior, posterior, epsilon, oddsFactor: factor, downward: { from: posterior, to: prior } };
}

/** Differential identifiability: one of `among` equally likely people must not be pointed at with more than `posterior`. */
export function identifiability(among: number, posterior: Rational): BeliefBudget {
  if (!Number.isSafeInteger(among) || among < 2)
    throw refuse(
      'Identification needs at least two candidates.',
      'Give the number of equally likely people, for example --among 50.',
    );
  return beliefBudget(rational(1, among), posterior);
}

/** Priors shown in every table and report. */
const usualPriors: readonly Rational[] = ['0.001', '0.01', '0.05', '0.1', '0.2', '0.5', '0.9'].map((p) => parseRational(p));

export interface BeliefRow {
  readonly prior: number;
  /** Rounded outward: the truth lies between. */
  readonly atLeast: number;
  readonly atMost: number;
}
export const beliefRows = (epsilon: Rational, priors: readonly Rational[] = usualPriors): readonly BeliefRow[] =>
  priors.map((prior) => ({
    prior: toNumber(prior),
    atLeast: posteriorAtLeast(prior, epsilon),
    atMost: posteriorAtMost(prior, epsilon),
  }));
