import { compare, maximum, type Rational, toNumberDown, zero } from '../../base/exact/rational.js';
import type { MixedCost } from '../../privacy/dependence/amplifier.js';
import type { BaseCosts } from '../../privacy/dependence/base-cost.js';
import type { ReleaseCondition } from '../../privacy/dependence/condition.js';
import { type PureCost, type SpentCosts, type ZcdpCost, zcdpOfAll } from '../../privacy/mechanism/privacy-cost.js';
import { everyRecord, isOfRecords, type RecordClass } from '../../privacy/mechanism/record-class.js';
import type { ClassScope } from '../../privacy/mechanism/sensitivity.js';
import { type Account, isPure, type LeakageRoute } from './account.js';
import { admitsByPairs } from './by-pairs.js';
import { admitsBySlice } from './by-slice.js';
import { binds } from './request-reading.js';
import { coversSources, spentOnOthers } from './sources.js';

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
  if (factoredOnly && !(spent.pure.factored && isPure(spent))) return undefined;
  const mixed = mixedUnder(route, spent);
  return {
    pure: mixed.pure,
    rho: gaussian ? gaussian.bound.counted(mixed, gaussian.capacity, gaussian.epsilon) : mixed.rho,
  };
}

export const mixedUnder = ({ amplifier: { scope }, gaussian }: LeakageRoute, spent: SpentCosts): MixedCost => ({
  rho: largestCost(spent.zcdp, scope),
  pure: largestCost(spent.pure, scope),
  ...(gaussian && { total: largestCost(zcdpOfAll(spent), scope) }),
});

/** Costs of classes where they differ: lower costs leak less about the others (informed.proof.md, "Costs of one's own"). */
export function costsByClass({ amplifier: { scope } }: LeakageRoute, { pure }: SpentCosts): BaseCosts | undefined {
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
  if (isPure(spent) && (compare(total.pure, route.pureCapacity) <= 0 || admitsByClass(route, spent))) return true;
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
