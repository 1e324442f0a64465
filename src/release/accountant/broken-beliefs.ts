import { compare, fromNumber, isZero, multiply, type Rational, rational, toNumber } from '../../base/exact/rational.js';
import { epsilonFromOdds, oddsFactor, posteriorAtLeast, posteriorAtMost } from '../../policy/belief.js';
import type { BeliefStatement, Policy } from '../../policy/policy.js';
import type { SpentCosts } from '../../privacy/mechanism/privacy-cost.js';
import type { Account } from './account.js';
import { admits } from './admits.js';
import { probabilityText } from './belief-words.js';
import { privacyLossBound } from './budget-state.js';
import { openAccount } from './open-account.js';

/** One limit of a belief budget: up from the prior to a posterior, or down to a floor. */
interface BeliefLimit {
  readonly prior: Rational;
  readonly bound: Rational;
  readonly isUpward: boolean;
  readonly epsilon: Rational;
}
const epsilonOf = ({ prior, bound, isUpward }: Omit<BeliefLimit, 'epsilon'>): Rational =>
  epsilonFromOdds(isUpward ? oddsFactor(prior, bound) : oddsFactor(bound, prior));
const limitsOf = ({ prior, posterior, floor }: BeliefStatement): readonly BeliefLimit[] =>
  [
    ...(posterior ? [{ prior, bound: posterior, isUpward: true }] : []),
    ...(floor ? [{ prior, bound: floor, isUpward: false }] : []),
  ].map((limit) => ({ ...limit, epsilon: epsilonOf(limit) }));

/** Promise of a belief budget, the part of it that was lost, and the budget that would hold it. */
export interface BrokenBelief {
  readonly message: string;
  readonly hint: string;
}

/** Belief limits that a loss of `lost` exceeds, in the budget's own terms; the strictest is described. */
export function brokenBeliefs({ beliefs = [], delta }: Policy['budget'], lost: Rational): BrokenBelief {
  const limits = beliefs.flatMap(limitsOf).sort((a, b) => compare(a.epsilon, b.epsilon));
  const exceeded = limits
    .filter(({ epsilon }) => compare(epsilon, lost) < 0)
    .map((limit) => ({ ...limit, holds: nearestBound(limit, lost) }));
  const { prior, bound, isUpward, holds } = exceeded[0] ?? { ...limits[0]!, holds: undefined };
  const moved = holds === undefined ? 'become certain' : `${isUpward ? 'risen' : 'fallen'} to ${shown(holds)}`;
  const except = isZero(delta) ? '' : `, except with probability ${probabilityText(toNumber(delta))}`;
  return {
    message: `These terms are broken already: under them a belief of ${shown(prior)} may have ${moved} so far, and they promise at ${isUpward ? 'most' : 'least'} ${shown(bound)}${except}.`,
    hint: exceeded.every((limit) => limit.holds !== undefined)
      ? `Allow ${exceeded.map(wider).join(' and ')} in these terms, or keep the terms as they were.`
      : 'Keep the terms as they were: no belief below certainty covers what was spent.',
  };
}
const shown = (p: Rational): string => `${Number((100 * toNumber(p)).toPrecision(6))} %`;
const wider = ({ prior, holds, isUpward }: BeliefLimit & { readonly holds: Rational | undefined }): string =>
  `a ${isUpward ? 'posterior' : 'floor'} of ${toNumber(holds!)} or ${isUpward ? 'more' : 'less'} for prior ${toNumber(prior)}`;

/** The nearest posterior or floor, in whole digits of a percentage, whose budget is at least `lost`; undefined at certainty. */
function nearestBound(limit: BeliefLimit, lost: Rational): Rational | undefined {
  const { prior, isUpward } = limit;
  const edge = isUpward ? posteriorAtMost(prior, lost) : posteriorAtLeast(prior, lost);
  const fromCertainty = Math.min(edge, 1 - edge);
  const scale = [100, 1000].find((parts) => fromCertainty >= 10 / parts) ?? 10_000;
  const step = isUpward ? 1 : -1;
  for (let n = isUpward ? Math.ceil(edge * scale) : Math.floor(edge * scale); n > 0 && n < scale; n += step) {
    const bound = rational(n, scale);
    if (compare(epsilonOf({ prior, bound, isUpward }), lost) >= 0) return bound;
  }
  return undefined;
}

/**
 * An epsilon near the least whose belief budget admits the costs; undefined where none does.
 * With a delta a belief needs more than (epsilon, delta), so it is searched with the test that admits releases.
 */
export function leastAdmittingEpsilon(policy: Policy, account: Account, spent: SpentCosts): Rational | undefined {
  const loss = privacyLossBound(account, spent);
  if (isZero(account.delta) && loss > toNumber(account.epsilon)) return Number.isFinite(loss) ? fromNumber(loss) : undefined;
  const holds = keptAt(policy, account, spent);
  let low = account.epsilon;
  let high = multiply(low, rational(2));
  while (!holds(high)) {
    if (compare(high, mostEpsilon) > 0) return undefined;
    [low, high] = [high, multiply(high, rational(2))];
  }
  for (let k = 0; k < 8; k++) {
    const middle = rational(low.num * high.den + high.num * low.den, 2n * low.den * high.den);
    if (holds(middle)) high = middle;
    else low = middle;
  }
  return high;
}
/** Tests whether an account with another epsilon would admit all that was spent, by the test that admits releases. */
export function keptAt(policy: Policy, account: Account, spent: SpentCosts): (epsilon: Rational) => boolean {
  const amplifiers = [...new Set(account.routes.map(({ amplifier }) => amplifier))];
  return (epsilon) => admits(openAccount({ ...policy, budget: { ...policy.budget, epsilon } }, amplifiers), spent);
}
/** Largest epsilon considered: beyond it a belief of one in a million may become certain. */
const mostEpsilon = rational(30);
