import { Fault } from '../../base/errors.js';
import {
  add,
  compare,
  divide,
  isPositive,
  isZero,
  maximum,
  multiply,
  one,
  type Rational,
  rational,
  subtract,
  toNumber,
  toNumberDown,
  zero,
} from '../../base/exact/rational.js';
import type { Policy } from '../../policy/policy.js';
import type { Amplifier, GaussianBound, MixedCost } from '../../privacy/dependence/amplifier.js';
import type { BaseCosts } from '../../privacy/dependence/base-cost.js';
import type { ReleaseCondition } from '../../privacy/dependence/condition.js';
import type { BudgetShare } from '../../privacy/mechanism/budget-share.js';
import {
  composeCosts,
  inZcdp,
  nothingSpent,
  type PrivacyCost,
  type PureCost,
  pureCost,
  type SpentCosts,
  spend,
  withoutZcdp,
  withZcdpCost,
  type ZcdpCost,
  zcdpCost,
  zcdpOfAll,
} from '../../privacy/mechanism/privacy-cost.js';
import {
  answersTo,
  everyRecord,
  isOfRecords,
  isOneTime,
  type RecordClass,
  type Slicing,
} from '../../privacy/mechanism/record-class.js';
import type { ClassScope } from '../../privacy/mechanism/sensitivity.js';
import { admitsByPairs, lossByPairs, pairUsages } from './by-pairs.js';
import {
  admitsBySlice,
  combinedParts,
  everySlice,
  lossBySlice,
  partLimit,
  type SliceSelection,
  sliceSelectionOf,
  sliceUsages,
} from './by-slice.js';
import { binds, meets, type RequestReading } from './request-reading.js';
import { type AccountSource, countedInFull, coversSources, otherSourceRefusal, spentOnOthers } from './sources.js';

/**
 * The accountant's book of one population: its budget in base costs. A route is one proven way from costs to leakage; the account holds while one route admits
 * all costs together. Epsilons are never added: base costs are, and each route converts once.
 */
export interface Account {
  /** Recorded in the ledger when the account opens. */
  readonly terms: { readonly digest: string; readonly summary: string };
  readonly epsilon: Rational;
  readonly delta: Rational;
  readonly routes: readonly LeakageRoute[];
  /**
   * Every single value of the public columns, if they are few:
   * a plan looks at the remaining budget of each (affected-accounts.ts).
   */
  readonly parts?: readonly SliceSelection[];
  /** Budget of every value of the ordering column, for an endless stream, under a budget per step. */
  readonly steady?: StepBudget;
  /** Cost set aside for other publishers whose releases about these people are not specified (others.ts). */
  readonly others?: readonly PrivacyCost[];
  /** Data whose ties its routes depend on (sources.ts). */
  readonly source: AccountSource;
  /** True if analysts have quotas: no release may change the counted cost of other analysts' earlier ones. */
  readonly quotas?: true;
  /** A cost in the form the ledger needs: with an entry for every class and every condition that a route covers. */
  readonly reservedCost: (privacyCost: PrivacyCost, reading: RequestReading) => PrivacyCost;
}

export interface StepBudget {
  readonly slicing: Slicing;
  /** Base epsilon. */
  readonly each: Rational;
}

/** One proven way from costs to leakage. */
export interface LeakageRoute {
  readonly amplifier: Amplifier;
  /** Conditions that every cost must have met. */
  readonly conditions: readonly ReleaseCondition[];
  /** Epsilon that pure noise must stay within: the account's. */
  readonly epsilon: Rational;
  /** Largest total base epsilon per record when only pure noise is used and every record spends the same. */
  readonly pureCapacity: Rational;
  /** Absent for a pure budget, and where nothing is proven about Gaussian noise. */
  readonly gaussian?: GaussianRoute;
  /** Public columns by whose values it may read the costs (by-slice.ts). */
  readonly slicings: readonly Slicing[];
  /** Digest of the pairs along which it may read the costs (by-pairs.ts). */
  readonly pairs?: string;
  readonly how: string;
}

/**
 * True if pure draws count at their own zCDP cost next to Gaussian noise;
 * a bound with conditions of its own prices them differently (Amplifier.gaussian).
 */
export const countsPureInZcdp = ({ gaussian }: LeakageRoute): boolean =>
  gaussian === undefined || gaussian.bound.conditions.length === 0;

export interface GaussianRoute {
  readonly bound: GaussianBound;
  /** Largest total rho per record. */
  readonly capacity: Rational;
  /**
   * Each route keeps its part of the account's delta: the choice of route may depend on earlier releases,
   * so failures add up. `epsilon`: bound that the capacity guarantees, below the account's under a belief budget.
   */
  readonly delta: Rational;
  readonly epsilon: Rational;
  /** Probability that the odds move by more than e^epsilon of the account when the whole capacity is spent. */
  readonly failure: number;
}

/**
 * With secret `answer` each column is a record class; a cost known per row is recorded for every column.
 * A cost that meets a condition is recorded once more under the condition's mark.
 */
export function reservedCostOf(policy: Policy, routes: readonly LeakageRoute[], source: AccountSource): Account['reservedCost'] {
  const columns =
    policy.protect.secret === 'answer' ? [...policy.columns.values()].filter((c) => !c.public).map((c) => answersTo(c.name)) : [];
  const conditions = [...new Map(routes.flatMap((r) => r.conditions).map((c) => [c.mark, c])).values()];
  const priced = routes.some(isGaussian);
  return (privacyCost, reading) => {
    const whole = privacyCost.perRecord.get(everyRecord);
    const more = whole === undefined || privacyCost.perRecord.size > 1 ? [] : columns;
    const met =
      whole === undefined
        ? []
        : [
            ...conditions.filter((c) => binds(c, privacyCost.noise) && meets(c, privacyCost.noise, reading)).map((c) => c.mark),
            ...(source.isMarked ? [source.mark] : []),
          ];
    const entries = [...more, ...met].map((name): [RecordClass, Rational] => [name, whole!]);
    if (privacyCost.noise === 'zcdp') return entries.length === 0 ? privacyCost : composeCosts(privacyCost, zcdpCost(entries));
    const bare = withoutZcdp(privacyCost) as PureCost;
    const reserved =
      entries.length === 0 ? bare : composeCosts(bare, pureCost(entries, privacyCost.factored && more.length === 0));
    if (!priced || privacyCost.perRecord.size === 0) return reserved;
    // The zCDP cost of the whole record is also the cost of each of its answers.
    const cost = inZcdp(privacyCost);
    const each = cost.perRecord.get(everyRecord);
    const ofAnswers = each === undefined ? [] : more.map((name): [RecordClass, Rational] => [name, each]);
    return withZcdpCost(reserved, composeCosts(cost, zcdpCost(ofAnswers)));
  };
}

/** Cost of a budget share when one record of each of these classes spends all of it. */
export function costOfShare({ noise, amount }: BudgetShare, classes: readonly RecordClass[]): PrivacyCost {
  const entries = classes.map((record) => [record, amount] as const);
  return noise === 'pure' ? pureCost(entries) : zcdpCost(entries);
}

const largestCost = (privacyCost: PureCost | ZcdpCost, scope: ClassScope): Rational => {
  let most = zero;
  for (const [name, cost] of privacyCost.perRecord) if (scope(name)) most = maximum(most, cost);
  return most;
};
/**
 * True if a route covers these classes. A route over whole records covers every cost, as each is also recorded under `*`.
 * A route over classes covers only totals within them: it may not ignore a cost on a class it does not know (a removed column).
 */
export function coversClasses(scope: ClassScope, classes: Iterable<RecordClass>): boolean {
  const records = [...classes].filter(isOfRecords);
  if (records.length === 0) return true;
  if (scope(everyRecord)) return records.includes(everyRecord);
  return records.some(scope) && records.every((name) => name === everyRecord || scope(name));
}

/** True if every cost of this kind of noise met the condition. */
const metBy = ({ noise, perRecord }: PureCost | ZcdpCost, condition: ReleaseCondition): boolean =>
  !binds(condition, noise) || compare(perRecord.get(condition.mark) ?? zero, perRecord.get(everyRecord) ?? zero) === 0;

/** Largest pure epsilon of one record under a route, and one rho for all costs where the route has a Gaussian bound. */
export function spentUnder(
  route: LeakageRoute,
  spent: SpentCosts,
): { readonly pure: Rational; readonly rho: Rational } | undefined {
  const { amplifier, conditions, gaussian } = route;
  const { scope, factoredOnly } = amplifier;
  if (!conditions.every((c) => metBy(spent.pure, c) && metBy(spent.zcdp, c))) return undefined;
  if (![spent.pure, spent.zcdp].every(({ perRecord }) => coversClasses(scope, perRecord.keys()))) return undefined;
  if (factoredOnly && !(spent.pure.factored && spent.zcdp.perRecord.size === 0)) return undefined;
  const mixed = mixedUnder(route, spent);
  return {
    pure: mixed.pure,
    rho: gaussian ? gaussian.bound.counted(mixed, gaussian.capacity, gaussian.epsilon) : mixed.rho,
  };
}

const mixedUnder = ({ amplifier: { scope }, gaussian }: LeakageRoute, spent: SpentCosts): MixedCost => ({
  rho: largestCost(spent.zcdp, scope),
  pure: largestCost(spent.pure, scope),
  ...(gaussian && { total: largestCost(zcdpOfAll(spent), scope) }),
});

/**
 * Costs of a route's classes where they differ: classes with lower costs leak less about the others (informed.proof.md,
 * "Costs of one's own").
 */
function costsByClass({ amplifier: { scope } }: LeakageRoute, { pure }: SpentCosts): BaseCosts | undefined {
  const costs = new Map([...pure.perRecord].filter(([record]) => scope(record)));
  return costs.size > 0 && !scope(everyRecord) ? costs : undefined;
}

function admitsByClass(route: LeakageRoute, spent: SpentCosts): boolean {
  const costs = costsByClass(route, spent);
  return costs !== undefined && route.amplifier.leakage(costs) <= toNumberDown(route.epsilon);
}

/** True if this route proves that the total stays within the budget. */
export function routeAdmits(route: LeakageRoute, spent: SpentCosts): boolean {
  const total = spentUnder(route, spent);
  if (!total) return false;
  if (spent.zcdp.perRecord.size === 0 && (compare(total.pure, route.pureCapacity) <= 0 || admitsByClass(route, spent)))
    return true;
  if (route.gaussian !== undefined && compare(total.rho, route.gaussian.capacity) <= 0) return true;
  return admitsBySlice(route, spent) || admitsByPairs(route, spent);
}

export const admits = (account: Account, spent: SpentCosts): boolean =>
  coversSources(account.source, spent) && account.routes.some((route) => routeAdmits(route, spent));

/**
 * Whether a total does not fit only, perhaps, because costs on another file are in no public value of this one and count for all of them
 * (sources.proof.md): it says nothing about what anybody has lost.
 */
export const isCountedInFull = (account: Account, spent: SpentCosts): boolean =>
  account.routes.some(({ slicings }) => slicings.length > 0) && spentOnOthers(account.source, spent) && !admits(account, spent);

const paidTwice = ({ pure }: SpentCosts): boolean =>
  [...pure.perRecord].some(([name, times]) => isOneTime(name) && compare(times, one) > 0);

/** One reading of the used share: a route, and costs in pure epsilon or in zCDP. */
export interface AccountUsage {
  readonly route: LeakageRoute;
  readonly noise: PrivacyCost['noise'];
  /** Public columns by whose values costs are read, or pairs along which they are; absent for everybody. */
  readonly by?: string;
  readonly share: Rational;
}

/**
 * Used share of the account by its best reading, for these values of public columns or for everybody: 0 fresh, 1 exhausted.
 * Shown in plans, receipts, quotas and ledgers. Taken from the costliest class, so that shares add up; may exceed 1 otherwise.
 */
export function usedShare(account: Account, spent: SpentCosts, selection: SliceSelection = everySlice): Rational {
  return leastUsage(accountUsages(account, spent, selection))?.share ?? rational(1);
}

/**
 * Used share of a part of the costs (one entry, one analyst), by the reading that decides for the whole,
 * so that parts add up.
 */
export function usedShareOfPart(
  account: Account,
  part: SpentCosts,
  whole: SpentCosts,
  selection: SliceSelection = everySlice,
): Rational {
  const decides = leastUsage(accountUsages(account, whole, selection));
  // Costs of a covered total are covered, even if the declaration that covers them is another entry.
  const own = routeUsages(account, part, selection).filter((r) => r.route === decides?.route && r.noise === decides.noise);
  const found = own.find((r) => r.by === decides?.by) ?? own.find((r) => r.by === undefined);
  return found?.share ?? usedShare(account, part, selection);
}

/** Kind of cost that decides the used share; undefined where nothing was spent. */
export function decidingNoise(
  account: Account,
  spent: SpentCosts,
  selection: SliceSelection = everySlice,
): PrivacyCost['noise'] | undefined {
  const least = leastUsage(accountUsages(account, spent, selection));
  return least && isPositive(least.share) ? least.noise : undefined;
}

const leastUsage = (readings: readonly AccountUsage[]): AccountUsage | undefined =>
  readings.reduce<AccountUsage | undefined>((least, r) => (least && compare(least.share, r.share) <= 0 ? least : r), undefined);

/** Used share by every reading that covers the costs. */
export const accountUsages = (
  account: Account,
  spent: SpentCosts,
  selection: SliceSelection = everySlice,
): readonly AccountUsage[] => (coversSources(account.source, spent) ? routeUsages(account, spent, selection) : []);

function routeUsages({ routes }: Account, spent: SpentCosts, selection: SliceSelection): readonly AccountUsage[] {
  return routes.flatMap((route): readonly AccountUsage[] => {
    const total = spentUnder(route, spent);
    if (!total) return [];
    const pure = spent.zcdp.perRecord.size === 0 && isPositive(route.pureCapacity);
    return [
      ...(pure ? [{ route, noise: 'pure' as const, share: divide(total.pure, route.pureCapacity) }] : []),
      ...(isGaussian(route) ? [{ route, noise: 'zcdp' as const, share: divide(total.rho, route.gaussian!.capacity) }] : []),
      ...route.slicings.flatMap((slicing) =>
        sliceUsages(route, spent, slicing, selection).map((used) => ({ route, by: slicing, ...used })),
      ),
      ...pairUsages(route, spent).map((used) => ({ route, by: route.pairs!, ...used })),
    ];
  });
}

export const isGaussian = ({ gaussian }: LeakageRoute): boolean => gaussian !== undefined && isPositive(gaussian.capacity);

/** Tolerance for rounding. */
const roundingTolerance = rational(1, 1_000_000);

/**
 * True if Gaussian noise would find less budget remaining than pure noise,
 * because earlier costs were pure and cost more in zCDP. False if nothing remains.
 */
export function isClosedToGaussian(account: Account, spent: SpentCosts, selection: SliceSelection = everySlice): boolean {
  if (!account.routes.some(isGaussian)) return false;
  const readings = accountUsages(account, spent, selection);
  const most = add(leastUsage(readings)?.share ?? one, roundingTolerance);
  return compare(most, one) < 0 && !readings.some((r) => r.noise === 'zcdp' && compare(r.share, most) <= 0);
}

/** Upper bound on the privacy loss of one record so far, ties included (epsilon at the account's delta); rounded up. */
export function privacyLossBound(account: Account, spent: SpentCosts): number {
  let least = Number.POSITIVE_INFINITY;
  if (!coversSources(account.source, spent)) return least;
  for (const route of account.routes) {
    const total = spentUnder(route, spent);
    if (!total) continue;
    if (spent.zcdp.perRecord.size === 0)
      least = Math.min(least, isZero(total.pure) ? 0 : route.amplifier.leakage(costsByClass(route, spent) ?? total.pure));
    if (route.gaussian && isPositive(total.rho)) {
      least = Math.min(least, route.gaussian.bound.epsilon(mixedUnder(route, spent), route.gaussian.delta));
    }
    least = Math.min(least, lossBySlice(route, spent) ?? least, lossByPairs(route, spent) ?? least);
  }
  return least;
}

/**
 * Limit of one analyst, in epsilon of the whole budget.
 * It divides the budget among people and promises nothing to those in the data.
 */
export interface Quota {
  readonly analyst: string;
  readonly epsilon: Rational;
}

/**
 * Admission test for Ledger.reserve: throws, with requested, spent and remaining,
 * when the total would exceed the budget or the analyst's own total the quota.
 */
export const admission =
  (account: Account, requested: PrivacyCost, quota?: Quota) =>
  (after: SpentCosts, before: SpentCosts, byAnalyst: SpentCosts): void => {
    const elsewhere = otherSourceRefusal(account.source, after);
    if (elsewhere) throw elsewhere;
    if (paidTwice(after))
      throw new Fault(
        'BUDGET_EXCEEDED',
        'This population has already been given what it may be given once.',
        'Its guarantee does not compose: only the very same request is answered again, from the record.',
      );
    if (combinedParts(after) > partLimit && combinedParts(after) > combinedParts(before))
      throw new Fault(
        'BUDGET_EXCEEDED',
        `What was spent would differ between more than ${partLimit} parts of the data, by combinations of public columns.`,
        'Ask about all values of one of the public columns, or about several at once: a table by them is one request.',
      );
    if (admits(account, after)) {
      if (quota) checkQuota(account, quota, after, before, byAnalyst);
      return;
    }
    throw budgetExceeded(account, requested, after, before);
  };

/** Refusal with the figures of the requested records, or with everybody's where those do not explain it. */
function budgetExceeded(account: Account, requested: PrivacyCost, after: SpentCosts, before: SpentCosts): Fault {
  const total = toNumber(account.epsilon);
  const admittedBefore = admits(account, before);
  const readings = [sliceSelectionOf([{ sensitivity: requested.perRecord }]), everySlice].map((selection) => {
    const spent = toNumber(usedShare(account, before, selection)) * total;
    const raised = addedShare(account, after, before, selection);
    const needed = toNumber(maximum(raised, shareOfFresh(account, requested, selection))) * total;
    return { needed, spent, remaining: admittedBefore ? Math.max(0, total - spent) : 0 };
  });
  if (isCountedInFull(account, before)) {
    const { spent, remaining } = readings[1]!;
    return countedInFull(remainingText(spent, total), { spent, remaining, total });
  }
  const explains = readings.find((each) => !admittedBefore || each.needed > each.remaining);
  const { needed, ...figures } = explains ?? readings[0]!;
  const why = explains
    ? spentText(needed, figures.spent, total)
    : `together with earlier costs it exceeds the budget, ${remainingText(figures.spent, total)}`;
  return new Fault(
    'BUDGET_EXCEEDED',
    `The budget does not allow this: ${admittedBefore ? '' : 'it was exceeded before, '}${why}.`,
    'Ask for less with --epsilon, or for fewer columns; "fugu ledger POLICY" lists what was spent.',
    { details: { ...(explains && { asked: needed }), ...figures, total } },
  );
}

/** Share that a request adds to the used share. Never negative: the best route may be another one afterwards. */
const addedShare = (account: Account, after: SpentCosts, before: SpentCosts, selection: SliceSelection = everySlice): Rational =>
  maximum(zero, subtract(usedShare(account, after, selection), usedShare(account, before, selection)));

/** Share of a fresh account that a cost takes. Readings by slice end at 1: larger costs are read without slices. */
function shareOfFresh(account: Account, cost: PrivacyCost, selection: SliceSelection): Rational {
  const readings = accountUsages(account, spend(nothingSpent, cost), selection);
  const least = leastUsage(readings)?.share ?? zero;
  if (compare(least, one) < 0) return least;
  return leastUsage(readings.filter(({ by }) => by === undefined))?.share ?? least;
}

const quotaTolerance = rational(1, 1_000_000_000);
function checkQuota(
  account: Account,
  { analyst, epsilon }: Quota,
  after: SpentCosts,
  before: SpentCosts,
  byAnalyst: SpentCosts,
): void {
  const own = multiply(usedShareOfPart(account, byAnalyst, after), account.epsilon);
  // A quota divides the budget and protects nobody: rounding errors beyond it are admitted.
  if (compare(own, add(epsilon, multiply(account.epsilon, quotaTolerance))) <= 0) return;
  const needed = toNumber(multiply(addedShare(account, after, before), account.epsilon));
  const quota = toNumber(epsilon);
  const spent = Math.max(0, toNumber(own) - needed);
  const remaining = Math.max(0, quota - spent);
  throw new Fault(
    'BUDGET_EXCEEDED',
    `The quota of ${analyst} does not allow this: ${spentText(needed, spent, quota)}.`,
    'Ask for less with --epsilon, or have the quota raised: budget.analysts in the policy.',
    { details: { asked: needed, spent, remaining, total: toNumber(account.epsilon), quota, analyst } },
  );
}
const spentText = (needed: number, spent: number, total: number): string =>
  `requested ${short(needed)}, ${remainingText(spent, total)}`;
/** The remainder is zero where spent and total agree in all digits that are shown. */
function remainingText(spent: number, total: number): string {
  const remaining = short(spent) === short(total) ? 0 : Math.max(0, total - spent);
  return `spent ${short(spent)} of ${short(total)}, remaining ${short(remaining)} (in epsilon, ties included)`;
}
const short = (x: number) => Number(x.toPrecision(4)).toString();
