import { isPositive, isZero, toNumber } from '../../base/exact/rational.js';
import type { SpentCosts } from '../../privacy/mechanism/privacy-cost.js';
import { type Account, isPure, type LeakageRoute } from './account.js';
import { admits, costsByClass, mixedUnder, spentUnder } from './admits.js';
import { lossByPairs } from './by-pairs.js';
import { lossBySlice } from './by-slice.js';
import { coversSources } from './sources.js';
import { usedShare } from './used-share.js';

/** Budget of an account after all costs, in epsilon, ties included. Plans, ledgers and amendments all use it. */
export interface BudgetState {
  readonly total: number;
  /** More than the total only where it is exceeded. */
  readonly spent: number;
  readonly remaining: number;
  readonly delta: number;
}

export function budgetState(account: Account, spent: SpentCosts): BudgetState {
  const total = toNumber(account.epsilon);
  const used = toNumber(usedShare(account, spent)) * total;
  const delta = toNumber(account.delta);
  if (!admits(account, spent)) return { total, spent: Math.max(total, used), remaining: 0, delta };
  // Costs that differ by class may be admitted beyond the share of the costliest class.
  return { total, spent: Math.min(total, used), remaining: Math.max(0, total - used), delta };
}

/** Upper bound on the privacy loss of one record so far, ties included (epsilon at the account's delta); rounded up. */
export function privacyLossBound(account: Account, spent: SpentCosts): number {
  if (!coversSources(account.source, spent)) return Number.POSITIVE_INFINITY;
  return Math.min(...account.routes.flatMap((route) => lossesUnder(route, spent)));
}

/** Bounds on the privacy loss by each reading of the costs under a route. */
function lossesUnder(route: LeakageRoute, spent: SpentCosts): readonly number[] {
  const total = spentUnder(route, spent);
  if (!total) return [];
  const { amplifier, gaussian } = route;
  const pure = () => (isZero(total.pure) ? 0 : amplifier.leakage(costsByClass(route, spent) ?? total.pure));
  return [
    ...(isPure(spent) ? [pure()] : []),
    ...(gaussian && isPositive(total.rho) ? [gaussian.bound.epsilon(mixedUnder(route, spent), gaussian.delta)] : []),
    lossBySlice(route, spent) ?? Number.POSITIVE_INFINITY,
    lossByPairs(route, spent) ?? Number.POSITIVE_INFINITY,
  ];
}
