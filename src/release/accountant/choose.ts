import type { Fault } from '../../base/errors.js';
import {
  add,
  compare,
  fromNumber,
  isPositive,
  minimum,
  multiply,
  one,
  type Rational,
  rational,
  subtract,
  toNumber,
} from '../../base/exact/rational.js';
import {
  costBySlice,
  hasCostAlongPairs,
  type PrivacyCost,
  type SpentCosts,
  spend,
} from '../../privacy/mechanism/privacy-cost.js';
import { columnsIn, everyRecord, pairsClass, type Slicing } from '../../privacy/mechanism/record-class.js';
import type { ClassScope } from '../../privacy/mechanism/sensitivity.js';
import { coversAllValues, largestOn } from '../../privacy/mechanism/slices.js';
import type { Measure } from '../../query/count/measure.js';
import { type Account, countsPureInZcdp, isGaussian, isPure, type LeakageRoute } from './account.js';
import { coversClasses, routeAdmits, spentUnder } from './admits.js';
import { type AffectedAccounts, affectedAccounts, amountWithin, besideRefusal } from './affected-accounts.js';
import { combinationCount } from './allocate.js';
import { hasPairSensitivity, isMovedAlong, remainingAlongTies, remainingByPairs, shareAlong } from './by-pairs.js';
import { remainingBySlice, type SliceSelection, selectedValues, sliceSelectionOf } from './by-slice.js';
import { type Candidate, type CandidateParts, candidateWith, isFactored } from './noise-candidate.js';
import {
  isAboveBudget,
  type RemainingBudget,
  remainingBudgets,
  type ShareTarget,
  type Spendable,
  shareTarget,
  spendable,
} from './remaining-budget.js';
import { meetsAll } from './request-reading.js';
import { nothingLeft } from './share.js';
import { usedShare } from './used-share.js';

/** One way to answer a batch within its share of the account. */
export interface NoisePlan extends Omit<Candidate, 'budget' | 'withBudget'> {
  /** True if the account still admits it. */
  readonly fits: boolean;
  /** Later questions could use Gaussian noise only by paying more for what was released before. */
  readonly closes?: true;
}

/** What is asked for, and the accounts that it affects. */
interface NoiseRequest extends ShareTarget {
  readonly measures: readonly Measure[];
  readonly selection: SliceSelection;
  readonly affected: AffectedAccounts;
  /** All costs, also those on other data. */
  readonly allSpent: SpentCosts;
}

/** All candidates, best first; the caller takes the first (which fits if any does). Each uses exactly the share. */
export function chooseNoise(
  measures: readonly Measure[],
  account: Account,
  share: Rational,
  spent: SpentCosts,
): readonly NoisePlan[] {
  const selection = sliceSelectionOf(measures);
  const goal = shareTarget(account, share, spent, selection);
  const affected = affectedAccounts(account, goal.spent, selection);
  const request: NoiseRequest = { ...goal, measures, selection, affected, allSpent: spent };
  const candidates = account.routes
    .filter((route) => coversMeasures(route, measures, spent))
    .flatMap((route) => candidatesOf(request, route));
  const offered = withinShare(request, candidates);
  return offered
    .filter((plan) => !isDominatedByUnslicedPlan(plan, offered))
    .filter((plan) => !isPaidByAnotherColumn(plan, offered, selection))
    .map((plan) => judged(request, plan))
    .sort((a, b) => Number(b.fits) - Number(a.fits) || weighed(a) - weighed(b))
    .map((plan, place) => (isWorthEnlarging(request, plan, place) ? judged(request, enlarged(request, plan)) : plan));
}

/** A route that does not cover earlier costs cannot promise anything about later ones. */
const coversMeasures = (route: LeakageRoute, measures: readonly Measure[], spent: SpentCosts): boolean =>
  measures.every((m) => coversClasses(route.amplifier.scope, m.sensitivity.keys())) &&
  (!route.amplifier.factoredOnly || measures.every(isFactored)) &&
  spentUnder(route, spent) !== undefined;

/** Reason why no noise can be offered; undefined where no route covers these measures. */
export function noNoiseRefusal(measures: readonly Measure[], account: Account, spent: SpentCosts): Fault | undefined {
  const routes = account.routes.filter(
    (route) =>
      coversMeasures(route, measures, spent) && (meetsAll(route, 'pure', { measures }) || meetsAll(route, 'zcdp', { measures })),
  );
  if (routes.length === 0) return undefined;
  return besideRefusal(account, { spent, routes, selection: sliceSelectionOf(measures) }) ?? nothingLeft();
}

/** Plans under one route: for everybody, by the values of public columns, along pairs. */
function candidatesOf(request: NoiseRequest, route: LeakageRoute): readonly Candidate[] {
  const { measures, spent, target, selection } = request;
  const plansWith = (remainders: readonly RemainingBudget[], slicing?: Slicing) =>
    plansOf(request, { measures, route, slicing }, spendable(route, remainders, request));
  const forEverybody = plansWith(remainingBudgets(route, spent, target));
  const bySlices = route.slicings
    .filter((slicing) => isWorthSlicing(slicing, measures, selection))
    .flatMap((slicing) => {
      const values = selectedValues(selection, slicing)!;
      return plansWith([remainingBySlice(route, spent, { slicing, values, target })], slicing);
    });
  const alongPairs = plansAlongPairs(request, route);
  // Noise for replacing by any record costs a pair less than the share. It is a fallback where the share remains and
  // only rounding or another ratio of own to full cost is in the way; never where the request exceeds the remaining budget.
  const isFallback = alongPairs.length === 0 || !(route.amplifier.strangers || exceedsRemaining(request));
  return [...(isFallback ? forEverybody : []), ...bySlices, ...alongPairs];
}

/** Plans with each kind of noise for which the route has a budget and the request meets its conditions. */
function plansOf({ measures }: NoiseRequest, parts: CandidateParts, { pure, rho }: Spendable): readonly Candidate[] {
  const { route } = parts;
  return [
    ...(pure && meetsAll(route, 'pure', { measures }) ? [candidateWith('laplace', pure, parts)] : []),
    ...(rho && !route.amplifier.factoredOnly && meetsAll(route, 'zcdp', { measures })
      ? [candidateWith('gaussian', rho, parts)]
      : []),
  ];
}

/**
 * Plans with noise for the sensitivity along declared pairs: all of it where nobody is tied,
 * otherwise together with what ties carry from other records (by-pairs.ts).
 */
function plansAlongPairs(request: NoiseRequest, route: LeakageRoute): readonly Candidate[] {
  const { measures, spent, target } = request;
  const { pairs, amplifier } = route;
  if (pairs === undefined || !measures.some(({ sensitivity }) => sensitivity.has(everyRecord))) return [];
  if (!measures.every(({ sensitivity }) => hasPairSensitivity(sensitivity, pairs))) return [];
  if (!amplifier.strangers) {
    const part = minimum(one, shareAlong(measures, pairs));
    if (!isPure(spent) || !countsPureInZcdp(route)) return [];
    // Not needed if the whole sensitivity is along pairs and no cost was recorded along them:
    // costs for everybody give the same result.
    if (compare(part, one) === 0 && !hasCostAlongPairs(spent.pure, pairs)) return [];
    const pure = remainingAlongTies(route, spent, part, target);
    return plansOf(request, { measures, route }, isPositive(pure) ? { pure } : {});
  }
  const own: ClassScope = (record) => record === pairsClass(pairs);
  // A measure with zero sensitivity along pairs costs nothing along them, whatever its noise.
  const each = (m: Measure) => (isMovedAlong(m.sensitivity, pairs) ? own : amplifier.scope);
  const remaining = remainingByPairs(route, spent, target);
  return plansOf(request, { measures, route, fitted: { shared: own, each } }, spendable(route, [remaining], request));
}

/** Combinations of columns are considered where a request restricts two of them and there are not too many. */
const mostCombinations = 10_000;
function isWorthSlicing(slicing: Slicing, measures: readonly Measure[], selection: SliceSelection): boolean {
  const columns = columnsIn(slicing);
  const requested = columns.filter((column) => selection.has(column)).length;
  if (columns.length === 1) return requested === 1;
  return requested > 1 && combinationCount(measures, slicing) <= mostCombinations;
}

/** Tolerance for rounding. */
const shareTolerance = rational(1, 1000);
const exceedsRemaining = ({ account, share, allSpent, selection }: NoiseRequest): boolean =>
  compare(share, add(subtract(one, usedShare(account, allSpent, selection)), shareTolerance)) > 0;

/** The plans that raise the used share of no account by more than the share; all where it is not there, to be refused. */
function withinShare(request: NoiseRequest, plans: readonly Candidate[]): readonly Candidate[] {
  if (isAboveBudget(request)) return plans.filter((plan) => !exceedsRemaining(request) || !isSmallerThanSliced(plan, plans));
  if (request.affected.isSingle) return plans;
  return plans.flatMap((plan) => cutToShare(request, plan) ?? []);
}

/** A plan for the requested values may spend more: too large a request is refused, not answered with more noise. */
const isSmallerThanSliced = ({ slicing, route, kind, budget }: Candidate, plans: readonly Candidate[]): boolean =>
  slicing === undefined &&
  plans.some((p) => p.slicing !== undefined && p.route === route && p.kind === kind && compare(p.budget, budget) > 0);

const shareTaken = ({ account, affected, measures }: NoiseRequest, { cost }: Candidate): number =>
  affected.largestShare(account.reservedCost(cost, { measures }));

/** The plan with the largest budget that raises the used share of no account by more than the share. */
function cutToShare(request: NoiseRequest, plan: Candidate): Candidate | undefined {
  if (plan.cost.perRecord.size === 0) return plan;
  const taken = (amount: Rational) => shareTaken(request, amount === plan.budget ? plan : plan.withBudget(amount));
  const budget = amountWithin(plan.budget, request.share, taken);
  return budget === plan.budget ? plan : budget && plan.withBudget(budget);
}

const isSameWay = (a: Candidate, b: Candidate): boolean => a.route === b.route && a.kind === b.kind;

/** A sliced plan is dropped where an unsliced one is as accurate. */
const isDominatedByUnslicedPlan = (plan: Candidate, offered: readonly Candidate[]): boolean =>
  plan.slicing !== undefined &&
  offered.some((other) => other.slicing === undefined && isSameWay(other, plan) && other.error <= plan.error);

/** A sliced plan is dropped where the values of another column would pay for it; combinations pay for nothing more. */
function isPaidByAnotherColumn(plan: Candidate, offered: readonly Candidate[], selection: SliceSelection): boolean {
  const { slicing, cost } = plan;
  if (slicing === undefined || columnsIn(slicing).length > 1) return false;
  return [...selection].some(
    ([other, values]) =>
      !coversAllValues(values) &&
      compare(largestSliceCost(cost, other), largestSliceCost(cost, slicing)) > 0 &&
      offered.some((p) => p.slicing === other && isSameWay(p, plan)),
  );
}

const largestSliceCost = (cost: PrivacyCost, slicing: Slicing): Rational => largestOn(costBySlice(cost, slicing));

/** Judged by its own route, because its printed promise is that route's. */
function judged({ account, measures, allSpent, affected }: NoiseRequest, plan: Candidate): NoisePlan & Candidate {
  const after = spend(allSpent, account.reservedCost(plan.cost, { measures }));
  const closes = plan.kind === 'laplace' && affected.isClosed(after);
  return { ...plan, fits: routeAdmits(plan.route, after), ...(closes && { closes }) };
}

/** Pure noise that closes Gaussian noise to later questions is preferred only if its variance is this many times smaller. */
export const closingPenalty = 2;
const weighed = ({ closes, error }: NoisePlan): number => (closes ? closingPenalty : 1) * error;

/** Several pure draws cost less in zCDP than one of their total. A quota may admit another noise than the best one. */
const isWorthEnlarging = ({ measures, account }: NoiseRequest, { kind, fits }: NoisePlan, place: number): boolean =>
  measures.length > 1 &&
  account.routes.some(isGaussian) &&
  kind === 'laplace' &&
  fits &&
  (place === 0 || account.quotas === true);

/** The draws of a plan, enlarged to use the rest of the share. */
function enlarged(request: NoiseRequest, plan: Candidate): Candidate {
  const share = toNumber(request.share);
  const taken = (candidate: Candidate) => shareTaken(request, candidate);
  const enough = share - 1e-8;
  if (taken(plan) >= enough) return plan;
  const times = (factor: number) => plan.withBudget(multiply(plan.budget, fromNumber(factor)));
  let [low, high] = [1, 2];
  while (high < 2 ** 20 && taken(times(high)) < share) [low, high] = [high, 2 * high];
  let best = low === 1 ? plan : times(low);
  for (let k = 0; k < 40 && taken(best) < enough; k++) {
    const middle = (low + high) / 2;
    const next = times(middle);
    if (taken(next) <= share) [low, best] = [middle, next];
    else high = middle;
  }
  return best;
}
