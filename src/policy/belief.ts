import { addDown, addUp, divDown, divUp, expDown, expUp, logDown, mulDown, mulUp } from '../base/exact/outward.js';
import {
  divide,
  floor,
  fromNumber,
  multiply,
  negate,
  one,
  type Rational,
  rational,
  subtract,
  toNumberDown,
  toNumberUp,
} from '../base/exact/rational.js';

/** Ratio of posterior odds to prior odds: the factor by which odds may change. Above one if the posterior is above the prior. */
export const oddsFactor = (prior: Rational, posterior: Rational): Rational =>
  divide(multiply(posterior, subtract(one, prior)), multiply(prior, subtract(one, posterior)));

const grid = rational(10n ** 15n);

/**
 * Largest epsilon for which no attacker moves from `prior` beyond `posterior`, rounded down: posterior odds are at most e^epsilon
 * times prior odds. Zero if the two are too close.
 */
export function epsilonFromOdds(factor: Rational): Rational {
  const low = logDown(toNumberDown(factor));
  if (!(low > 0)) return rational(0);
  const exact = fromNumber(Number.isFinite(low) ? low : Number.MAX_VALUE);
  return divide(rational(floor(multiply(exact, grid))), grid);
}

/** Largest posterior after releases worth epsilon; rounded up. */
export function posteriorAtMost(prior: Rational, epsilon: Rational): number {
  const against = mulDown(toNumberDown(divide(subtract(one, prior), prior)), expDown(toNumberDown(negate(epsilon))));
  return Math.min(1, divUp(1, addDown(1, against)));
}

/** Smallest posterior; rounded down. */
export function posteriorAtLeast(prior: Rational, epsilon: Rational): number {
  const against = mulUp(toNumberUp(divide(subtract(one, prior), prior)), expUp(toNumberUp(epsilon)));
  return Math.max(0, divDown(1, addUp(1, against)));
}

/** Largest logarithm of an odds factor that is shown as a number; a larger factor means that anything may become certain. */
const largestShown = Math.log(1e9);

/** e to the power of epsilon, readable however large. */
export const oddsFactorText = (epsilon: number, figure: (x: number) => string, exponent = figure): string =>
  epsilon <= largestShown ? figure(Math.exp(epsilon)) : `e^${exponent(epsilon)}`;

/** Text for the largest change of odds under privacy loss `epsilon`, to follow "odds" or "the odds of …". */
export const oddsMove = (epsilon: number, figure: (x: number) => string): string =>
  epsilon <= largestShown
    ? `change at most ${oddsFactorText(epsilon, figure)} times`
    : `may change so far that anything is certain (${oddsFactorText(epsilon, figure)} times)`;
