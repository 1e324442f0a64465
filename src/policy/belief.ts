import { logDown } from '../base/exact/outward.js';
import {
  divide,
  floor,
  fromNumber,
  multiply,
  one,
  type Rational,
  rational,
  subtract,
  toNumberDown,
} from '../base/exact/rational.js';

/** prior/(1-prior) against posterior/(1-posterior): how far the odds may move. Above one when the posterior is above the prior. */
export const oddsFactor = (prior: Rational, posterior: Rational): Rational =>
  divide(multiply(posterior, subtract(one, prior)), multiply(prior, subtract(one, posterior)));

const grid = rational(10n ** 15n);

/**
 * The largest epsilon under which no attacker moves from `prior` past `posterior`, rounded down. A release whose likelihood ratio between any two
 * secrets is at most e^epsilon moves the odds of any statement about the secret by at most e^epsilon, so e^epsilon <= the odds factor suffices.
 * Zero when the two beliefs are too close for a budget to exist between them.
 */
export function epsilonFromOdds(factor: Rational): Rational {
  const low = logDown(toNumberDown(factor));
  if (!(low > 0)) return rational(0);
  const exact = fromNumber(Number.isFinite(low) ? low : Number.MAX_VALUE);
  return divide(rational(floor(multiply(exact, grid))), grid);
}

/** Where `prior` can be after releases worth `epsilon`: [lowest, highest] posterior, for reports. */
export function posteriorRange(prior: number, epsilon: number): readonly [number, number] {
  const odds = prior / (1 - prior);
  const at = (o: number) => (o === Number.POSITIVE_INFINITY ? 1 : o / (1 + o));
  return [at(odds * Math.exp(-epsilon)), at(odds * Math.exp(epsilon))];
}

/** Beyond this an odds factor is a number that nobody can read, and says that anything may become certain. */
const mostTold = Math.log(1e9);

/** e to the power of epsilon, readable however large. */
export const oddsFactorText = (epsilon: number, figure: (x: number) => string, exponent = figure): string =>
  epsilon <= mostTold ? figure(Math.exp(epsilon)) : `e^${exponent(epsilon)}`;

/** How far odds can move under releases worth `epsilon`, after "odds" or "the odds of …". */
export const oddsMove = (epsilon: number, figure: (x: number) => string): string =>
  epsilon <= mostTold
    ? `change at most ${oddsFactorText(epsilon, figure)} times`
    : `may change so far that anything is certain (${oddsFactorText(epsilon, figure)} times)`;
