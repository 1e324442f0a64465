import {
  add,
  compare,
  divide,
  isPositive,
  maximum,
  one,
  type Rational,
  rational,
  subtract,
  zero,
} from '../../base/exact/rational.js';
import { nothingSpent, type PrivacyCost, type SpentCosts, spend } from '../../privacy/mechanism/privacy-cost.js';
import { type Account, isGaussian, isPure, type LeakageRoute } from './account.js';
import { spentUnder } from './admits.js';
import { pairUsages } from './by-pairs.js';
import { everySlice, type SliceSelection, sliceUsages } from './by-slice.js';
import { coversSources } from './sources.js';

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

/** Used share of a part of the costs, by the reading that decides for the whole, so that parts add up. */
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
    const pure = isPure(spent) && isPositive(route.pureCapacity);
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

/** Tolerance for rounding. */
const roundingTolerance = rational(1, 1_000_000);

/** True if earlier pure costs leave less budget to Gaussian noise than to pure noise; false if nothing remains. */
export function isClosedToGaussian(account: Account, spent: SpentCosts, selection: SliceSelection = everySlice): boolean {
  if (!account.routes.some(isGaussian)) return false;
  const readings = accountUsages(account, spent, selection);
  const most = add(leastUsage(readings)?.share ?? one, roundingTolerance);
  return compare(most, one) < 0 && !readings.some((r) => r.noise === 'zcdp' && compare(r.share, most) <= 0);
}

/** Share that a request adds to the used share. Never negative: the best route may be another one afterwards. */
export const addedShare = (
  account: Account,
  after: SpentCosts,
  before: SpentCosts,
  selection: SliceSelection = everySlice,
): Rational => maximum(zero, subtract(usedShare(account, after, selection), usedShare(account, before, selection)));

/** Share of a fresh account that a cost takes. Readings by slice end at 1: larger costs are read without slices. */
export function shareOfFresh(account: Account, cost: PrivacyCost, selection: SliceSelection): Rational {
  const readings = accountUsages(account, spend(nothingSpent, cost), selection);
  const least = leastUsage(readings)?.share ?? zero;
  if (compare(least, one) < 0) return least;
  return leastUsage(readings.filter(({ by }) => by === undefined))?.share ?? least;
}
