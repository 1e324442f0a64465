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
import { type AdditiveMechanism, additiveMechanism } from '../../privacy/mechanism/additive.js';
import type { BudgetShare } from '../../privacy/mechanism/budget-share.js';
import { varianceOf } from '../../privacy/mechanism/distribution.js';
import { type ExponentialMechanism, exponentialMechanism } from '../../privacy/mechanism/exponential-mechanism.js';
import { type Mechanism, totalCostOf } from '../../privacy/mechanism/mechanism.js';
import { meanNumbers } from '../../privacy/mechanism/ordered/forest.js';
import { prefixEstimator } from '../../privacy/mechanism/ordered/prefix-estimator.js';
import {
  costBySlice,
  hasCostAlongPairs,
  nothingSpent,
  type PrivacyCost,
  type SpentCosts,
  spend,
} from '../../privacy/mechanism/privacy-cost.js';
import {
  boxIn,
  columnsIn,
  everyRecord,
  isDataPart,
  isSlice,
  pairsClass,
  type Slicing,
} from '../../privacy/mechanism/record-class.js';
import { type ClassScope, largestSensitivity } from '../../privacy/mechanism/sensitivity.js';
import { coversAllValues, largestOn } from '../../privacy/mechanism/slices.js';
import type { Measure, MechanismOf } from '../../query/count/measure.js';
import {
  type Account,
  countsPureInZcdp,
  coversClasses,
  decidingNoise,
  isGaussian,
  type LeakageRoute,
  routeAdmits,
  spentUnder,
  usedShare,
} from './account.js';
import { affectedAccounts, amountWithin } from './affected-accounts.js';
import { allocate, combinationCount } from './allocate.js';
import { hasPairSensitivity, isMovedAlong, remainingAlongTies, remainingByPairs, shareAlong } from './by-pairs.js';
import { remainingBySlice, type SliceSelection, selectedValues, sliceSelectionOf } from './by-slice.js';
import {
  changesQuotas,
  mostSpendable,
  type RemainingBudget,
  remainingBudgets,
  routeSwitchRefusal,
  type ShareTarget,
  spendable,
} from './remaining-budget.js';
import { meets } from './request-reading.js';
import { nothingLeft } from './share.js';
import { coversSources } from './sources.js';

/** One way to answer a batch within its share of the account. */
export interface NoisePlan {
  readonly route: LeakageRoute;
  readonly kind: 'laplace' | 'gaussian';
  /** One per measure. */
  readonly mechanisms: readonly MechanismOf[];
  readonly cost: PrivacyCost;
  /** Public column by whose values the budget was divided and found. */
  readonly slicing?: Slicing;
  /** Sum over cells of the noise variance in units of the sensitivity: comparable between measures. */
  readonly error: number;
  /** True if the account still admits it. */
  readonly fits: boolean;
  /** Later questions could use Gaussian noise only by paying more for what was released before. */
  readonly closes?: true;
}

/** A plan before it is judged, and a function that makes it with another budget. */
interface Candidate extends Omit<NoisePlan, 'fits' | 'closes'> {
  readonly budget: Rational;
  readonly withBudget: (budget: Rational) => Candidate;
}

/** All candidates, best first; the caller takes the first (which fits if any does). Each uses exactly the share. */
export function chooseNoise(
  measures: readonly Measure[],
  account: Account,
  share: Rational,
  spent: SpentCosts,
): readonly NoisePlan[] {
  const plans: Candidate[] = [];
  const requestedSlices = sliceSelectionOf(measures);
  const before = coversSources(account.source, spent) ? spent : nothingSpent;
  const target = add(usedShare(account, before, requestedSlices), share);
  const decides = decidingNoise(account, before, requestedSlices);
  const affected = affectedAccounts(account, before, requestedSlices);
  for (const route of account.routes) {
    const { factoredOnly } = route.amplifier;
    const meetsConditions = (noise: PrivacyCost['noise']) => route.conditions.every((c) => meets(c, noise, { measures }));
    if (!coversMeasures(route, measures, spent)) continue;
    const add = (remainders: readonly RemainingBudget[], slicing?: Slicing) => {
      const { pure, rho } = mostSpendable(
        remainders.map((remaining) => spendable(account, route, remaining, { share, target, spent: before, decides })),
      );
      if (pure && meetsConditions('pure')) plans.push(planWith(laplace, measures, route, pure, slicing));
      if (rho && !factoredOnly && meetsConditions('zcdp')) plans.push(planWith(gaussian, measures, route, rho, slicing));
    };
    add(remainingBudgets(route, before, target));
    for (const slicing of route.slicings.filter((s) => isWorthSlicing(s, measures, requestedSlices)))
      add([remainingBySlice(route, before, { slicing, values: selectedValues(requestedSlices, slicing)!, target })], slicing);
    const pairPlans = plansAlongPairs(route, measures, { account, share, target, spent: before, decides, meetsConditions });
    // Noise for replacing by any record costs a pair less than the share. It is a fallback where the share remains and
    // only rounding or another ratio of own to full cost is in the way; never where the request exceeds the remaining budget.
    if (pairPlans.length > 0 && (route.amplifier.strangers || exceedsRemaining(account, share, spent, requestedSlices)))
      plans.splice(0, plans.length, ...plans.filter((p) => p.route !== route || p.slicing !== undefined));
    plans.push(...pairPlans);
  }
  const shareTaken = ({ cost }: Candidate) => affected.largestShare(account.reservedCost(cost, { measures }));
  // A request above the remaining budget is planned in full, and refused.
  const offered =
    compare(target, one) > 0
      ? plans.filter((plan) => !exceedsRemaining(account, share, spent, requestedSlices) || !isSmallerThanSliced(plan, plans))
      : plans.flatMap((plan) => (affected.isSingle ? plan : (withinShare(plan, share, shareTaken) ?? [])));
  const isNotDominated = (plan: Candidate) =>
    plan.slicing === undefined ||
    // A sliced plan is dropped where an unsliced one is as accurate, or where another column's values would pay for it.
    // Combinations pay for nothing that their columns do not pay for.
    (!offered.some((p) => p.slicing === undefined && p.route === plan.route && p.kind === plan.kind && p.error <= plan.error) &&
      (columnsIn(plan.slicing).length > 1 ||
        [...requestedSlices]
          .filter(([, values]) => !coversAllValues(values))
          .every(
            ([other]) =>
              compare(largestSliceCost(plan.cost, other), largestSliceCost(plan.cost, plan.slicing!)) <= 0 ||
              !offered.some((p) => p.slicing === other && p.route === plan.route && p.kind === plan.kind),
          )));
  const after = ({ cost }: Candidate): SpentCosts => spend(spent, account.reservedCost(cost, { measures }));
  const judged = (plan: Candidate): NoisePlan & Candidate => {
    const closes = plan.kind === 'laplace' && affected.isClosed(after(plan));
    // Judged by its own route, because its printed promise is that route's.
    return { ...plan, fits: routeAdmits(plan.route, after(plan)), ...(closes && { closes }) };
  };
  const weighed = (plan: NoisePlan) => (plan.closes ? closingPenalty : 1) * plan.error;
  const several = measures.length > 1 && account.routes.some(isGaussian);
  // A quota may admit another noise than the best one.
  const isTaken = (place: number) => place === 0 || account.quotas === true;
  return offered
    .filter(isNotDominated)
    .map(judged)
    .sort((a, b) => Number(b.fits) - Number(a.fits) || weighed(a) - weighed(b))
    .map((plan, place) =>
      several && plan.kind === 'laplace' && plan.fits && isTaken(place)
        ? judged(enlarged(plan, shareTaken, toNumber(share)))
        : plan,
    );
}

/** A route that does not cover earlier costs cannot promise anything about later ones. */
const coversMeasures = (route: LeakageRoute, measures: readonly Measure[], spent: SpentCosts): boolean =>
  measures.every((m) => coversClasses(route.amplifier.scope, m.sensitivity.keys())) &&
  (!route.amplifier.factoredOnly || measures.every(isFactored)) &&
  spentUnder(route, spent) !== undefined;

/** Reason why no noise can be offered; undefined where no route covers these measures. */
export function noNoiseRefusal(measures: readonly Measure[], account: Account, spent: SpentCosts): Fault | undefined {
  const met = (r: LeakageRoute) =>
    (['pure', 'zcdp'] as const).some((noise) => r.conditions.every((c) => meets(c, noise, { measures })));
  const routes = account.routes.filter((r) => coversMeasures(r, measures, spent) && met(r));
  if (routes.length === 0) return undefined;
  const requestedSlices = sliceSelectionOf(measures);
  const beside =
    routeSwitchRefusal(account, spent, { routes, about: requestedSlices }) ??
    affectedAccounts(account, spent, requestedSlices).refusal();
  return beside ?? changesQuotas(account, spent, requestedSlices) ?? nothingLeft();
}

/**
 * True for a plan for everybody where a plan for the requested values may spend more: too large a request is refused,
 * not answered with more noise.
 */
const isSmallerThanSliced = ({ slicing, route, kind, budget }: Candidate, plans: readonly Candidate[]): boolean =>
  slicing === undefined &&
  plans.some((p) => p.slicing !== undefined && p.route === route && p.kind === kind && compare(p.budget, budget) > 0);

/** The plan with the largest budget that raises the used share of no account by more than `share`. */
function withinShare(plan: Candidate, share: Rational, shareTaken: (plan: Candidate) => number): Candidate | undefined {
  if (plan.cost.perRecord.size === 0) return plan;
  const budget = amountWithin(plan.budget, share, (amount) =>
    shareTaken(amount === plan.budget ? plan : plan.withBudget(amount)),
  );
  return budget === plan.budget ? plan : budget && plan.withBudget(budget);
}

/** Several pure draws cost less in zCDP than one of their total: the draws are enlarged to use the rest of the share. */
function enlarged(plan: Candidate, shareTaken: (plan: Candidate) => number, share: number): Candidate {
  const enough = share - 1e-8;
  if (shareTaken(plan) >= enough) return plan;
  const times = (factor: number) => plan.withBudget(multiply(plan.budget, fromNumber(factor)));
  let [low, high] = [1, 2];
  while (high < 2 ** 20 && shareTaken(times(high)) < share) [low, high] = [high, 2 * high];
  let best = low === 1 ? plan : times(low);
  for (let k = 0; k < 40 && shareTaken(best) < enough; k++) {
    const middle = (low + high) / 2;
    const next = times(middle);
    if (shareTaken(next) <= share) [low, best] = [middle, next];
    else high = middle;
  }
  return best;
}

/** Pure noise that closes Gaussian noise to later questions is preferred only if its variance is this many times smaller. */
export const closingPenalty = 2;

/** Tolerance for rounding. */
const shareTolerance = rational(1, 1000);
const exceedsRemaining = (account: Account, share: Rational, spent: SpentCosts, requestedSlices: SliceSelection): boolean =>
  compare(share, add(subtract(one, usedShare(account, spent, requestedSlices)), shareTolerance)) > 0;

interface PairPlanning extends ShareTarget {
  readonly account: Account;
  readonly meetsConditions: (noise: PrivacyCost['noise']) => boolean;
}
interface FittedScopes {
  readonly shared: ClassScope;
  readonly each: (m: Measure) => ClassScope;
}

/**
 * Plans with noise for the sensitivity along declared pairs: all of it where nobody is tied,
 * otherwise together with what ties carry from other records (by-pairs.ts).
 */
function plansAlongPairs(
  route: LeakageRoute,
  measures: readonly Measure[],
  { account, share, target, spent, decides, meetsConditions }: PairPlanning,
): readonly Candidate[] {
  const { pairs, amplifier } = route;
  if (pairs === undefined || !measures.some(({ sensitivity }) => sensitivity.has(everyRecord))) return [];
  if (!measures.every(({ sensitivity }) => hasPairSensitivity(sensitivity, pairs))) return [];
  if (!amplifier.strangers) {
    const part = minimum(one, shareAlong(measures, pairs));
    const onlyPure = spent.zcdp.perRecord.size === 0;
    if (!onlyPure || !countsPureInZcdp(route) || !meetsConditions('pure')) return [];
    // Not needed if the whole sensitivity is along pairs and no cost was recorded along them:
    // costs for everybody give the same result.
    if (compare(part, one) === 0 && !hasCostAlongPairs(spent.pure, pairs)) return [];
    const remaining = remainingAlongTies(route, spent, part, target);
    return isPositive(remaining) ? [planWith(laplace, measures, route, remaining)] : [];
  }
  const own: ClassScope = (record) => record === pairsClass(pairs);
  const fitted: FittedScopes = {
    shared: own,
    // A measure with zero sensitivity along pairs costs nothing along them, whatever its noise.
    each: (m: Measure) => (isMovedAlong(m.sensitivity, pairs) ? own : amplifier.scope),
  };
  const { pure, rho } = spendable(account, route, remainingByPairs(route, spent, target), { share, target, spent, decides });
  return [
    ...(pure && meetsConditions('pure') ? [planWith(laplace, measures, route, pure, undefined, fitted)] : []),
    ...(rho && meetsConditions('zcdp') ? [planWith(gaussian, measures, route, rho, undefined, fitted)] : []),
  ];
}

const largestSliceCost = (cost: PrivacyCost, slicing: Slicing): Rational => largestOn(costBySlice(cost, slicing));

/** Combinations of columns are considered where a request restricts two of them and there are not too many. */
const mostCombinations = 10_000;
const isWorthSlicing = (slicing: Slicing, measures: readonly Measure[], requestedSlices: SliceSelection): boolean => {
  const requested = columnsIn(slicing).filter((column) => requestedSlices.has(column)).length;
  return columnsIn(slicing).length === 1
    ? requested === 1
    : requested > 1 && combinationCount(measures, slicing) <= mostCombinations;
};

/**
 * The two kinds of noise, with the shares that minimise the total squared error in units of each measure's own
 * sensitivity.
 */
interface NoiseKind {
  readonly name: 'laplace' | 'gaussian';
  readonly noise: BudgetShare['noise'];
  readonly weight: (cells: number) => number;
}
const laplace: NoiseKind = { name: 'laplace', noise: 'pure', weight: Math.cbrt };
const gaussian: NoiseKind = { name: 'gaussian', noise: 'zcdp', weight: Math.sqrt };

function planWith(
  kind: NoiseKind,
  measures: readonly Measure[],
  route: LeakageRoute,
  budget: Rational,
  slicing?: Slicing,
  fitted?: FittedScopes,
): Candidate {
  const { name, noise, weight } = kind;
  const { scope } = route.amplifier;
  const mechanisms = allocate(measures, fitted?.shared ?? scope, (m) => weight(noisyCellCount(m)), slicing).map((share, k) =>
    noised(
      measures[k]!,
      { noise, amount: multiply(budget, share) },
      fitted?.each(measures[k]!) ?? chargedScope(measures[k]!, scope, slicing),
    ),
  );
  const error = expectedError(measures, mechanisms, scope);
  const withBudget = (other: Rational) => planWith(kind, measures, route, other, slicing, fitted);
  const cost = totalCostOf(mechanisms);
  return { route, kind: name, mechanisms, cost, error, budget, withBudget, ...(slicing && { slicing }) };
}

/**
 * Noise is scaled to the sensitivity within a value of a public column if the budget was found by those values:
 * for a table by that column it is below the sensitivity to a change of the value.
 */
function chargedScope({ sensitivity }: Measure, scope: ClassScope, slicing: Slicing | undefined): ClassScope {
  if (slicing === undefined) return scope;
  const own: ClassScope = (record) => isSlice(record) && boxIn(record).of === slicing;
  return [...sensitivity.keys()].some(own) ? own : scope;
}

/** A measure is its own factor if it depends on one column's answers only. */
const isFactored = (m: Measure): boolean => [...m.sensitivity.keys()].filter(isDataPart).length <= 1;

const mechanisms: {
  [K in Measure['mechanism']]: (
    m: Extract<Measure, { mechanism: K }>,
    budgetShare: BudgetShare,
    scope: ClassScope,
  ) => AdditiveMechanism | ExponentialMechanism;
} = {
  additive: (m, budgetShare, scope) =>
    additiveMechanism(
      {
        name: m.name,
        cells: m.cells.length,
        sensitivity: m.sensitivity,
        unit: toNumber(m.grid),
        factored: isFactored(m),
        ...(m.tables !== undefined && { tables: m.tables }),
      },
      budgetShare,
      scope,
    ),
  ordered: (m, budgetShare, scope) =>
    additiveMechanism(
      {
        name: m.name,
        cells: m.cells.length,
        sensitivity: m.sensitivity,
        // Of a range of positions, over all of them; of a cell.
        unit: Math.sqrt('parent' in m.strategy ? meanNumbers(m.strategy) : prefixEstimator(m.strategy).meanVariance()),
        factored: isFactored(m),
      },
      budgetShare,
      scope,
    ),
  exponential: (m, budgetShare, scope) =>
    exponentialMechanism(
      { name: m.name, cells: m.cells.length, sensitivity: m.sensitivity, factored: isFactored(m) },
      budgetShare,
      scope,
    ),
};

export const noised = <M extends Measure>(m: M, budgetShare: BudgetShare, scope: ClassScope): MechanismOf<M> =>
  (
    mechanisms[m.mechanism] as (
      m: Measure,
      budgetShare: BudgetShare,
      scope: ClassScope,
    ) => AdditiveMechanism | ExponentialMechanism
  )(m, budgetShare, scope) as MechanismOf<M>;

/** Noisy cells over all the tables that are computed from a measure. */
const noisyCellCount = (m: Measure): number =>
  m.mechanism === 'additive' ? (m.worth ?? m.cells.length * (m.tables ?? 1)) : m.cells.length;

function expectedError(measures: readonly Measure[], mechanisms: readonly Mechanism[], scope: ClassScope): number {
  return measures.reduce((total, m, k) => {
    const { distribution } = mechanisms[k]!;
    const sensitivity = Number(largestSensitivity(m.sensitivity, 'l1', scope));
    if (distribution.kind === 'none') return total;
    if (distribution.kind === 'selection') return total + m.cells.length / (sensitivity * toNumber(distribution.sharpness)) ** 2;
    return total + (noisyCellCount(m) * varianceOf(distribution)) / sensitivity ** 2;
  }, 0);
}
