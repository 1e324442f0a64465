import { Fault } from '../../base/errors.js';
import {
  compare,
  fromNumber,
  isPositive,
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
import { hasCostAlongPairs, hasCostBySlice, type PrivacyCost, type SpentCosts } from '../../privacy/mechanism/privacy-cost.js';
import {
  type Account,
  accountUsages,
  countsPureInZcdp,
  isGaussian,
  type LeakageRoute,
  spentUnder,
  usedShare,
} from './account.js';
import { remainingAlongTies, remainingByPairs } from './by-pairs.js';
import { everyValueOf, remainingBySlice, type SliceSelection } from './by-slice.js';

/**
 * Remaining budget of one record until a reading of the account has used a given share;
 * not positive where that share is used already.
 */
export interface RemainingBudget {
  readonly pure: Rational;
  readonly rho?: Rational;
  /** Capacity of the fresh account by the same reading. */
  readonly whole: { readonly pure: Rational; readonly rho?: Rational };
}

/**
 * Remaining budget for costs of every record, by each reading of the costs: for everybody,
 * by the values of public columns, along pairs.
 */
export function remainingBudgets(route: LeakageRoute, spent: SpentCosts, target: Rational): readonly RemainingBudget[] {
  const bySlices = route.slicings
    .filter((slicing) => hasCostBySlice(spent.pure, slicing) || hasCostBySlice(spent.zcdp, slicing))
    .map((slicing) => remainingBySlice(route, spent, { slicing, values: everyValueOf(slicing), target }));
  return [remainingInFull(route, spent, target), ...bySlices, ...remainingAlongPairs(route, spent, target)];
}

/** Costs of every record count in full along pairs. */
function remainingAlongPairs(route: LeakageRoute, spent: SpentCosts, target: Rational): readonly RemainingBudget[] {
  const { pairs, amplifier, pureCapacity } = route;
  if (pairs === undefined || !(hasCostAlongPairs(spent.pure, pairs) || hasCostAlongPairs(spent.zcdp, pairs))) return [];
  if (amplifier.strangers) return [remainingByPairs(route, spent, target)];
  if (spent.zcdp.perRecord.size > 0) return [];
  return [{ pure: remainingAlongTies(route, spent, one, target), whole: { pure: pureCapacity } }];
}

function remainingInFull(route: LeakageRoute, spent: SpentCosts, target: Rational): RemainingBudget {
  const { gaussian, pureCapacity } = route;
  const total = spentUnder(route, spent)!;
  const onlyPure = spent.zcdp.perRecord.size === 0;
  return {
    pure: onlyPure ? subtract(multiply(pureCapacity, target), total.pure) : zero,
    ...(gaussian && { rho: subtract(multiply(gaussian.capacity, target), total.rho) }),
    whole: { pure: pureCapacity, ...(gaussian && { rho: gaussian.capacity }) },
  };
}

/** A share of the budget, the used share that it leads to, and the costs spent before it. */
export interface ShareTarget {
  readonly share: Rational;
  readonly target: Rational;
  readonly spent: SpentCosts;
  /** Kind of cost that decides the used share; undefined where nothing was spent. */
  readonly decides: PrivacyCost['noise'] | undefined;
}

/** Pure epsilon and rho that may be drawn. */
export interface Spendable {
  readonly pure?: Rational;
  readonly rho?: Rational;
}

/** The largest amount of each kind over several readings. */
export function mostSpendable(spendables: readonly Spendable[]): Spendable {
  const most = (amounts: readonly (Rational | undefined)[]) => amounts.reduce<Rational>((m, x) => (x ? maximum(m, x) : m), zero);
  const [pure, rho] = [most(spendables.map((r) => r.pure)), most(spendables.map((r) => r.rho))];
  return { ...(isPositive(pure) && { pure }), ...(isPositive(rho) && { rho }) };
}

/**
 * Largest draws of each kind after which the account has used exactly the target (docs/explanation/decisions/0092):
 * pure noise is paid in epsilon or at its zCDP cost, whichever allows more.
 */
export function spendable(
  account: Account,
  route: LeakageRoute,
  { pure, rho, whole }: RemainingBudget,
  { share, target, spent, decides }: ShareTarget,
): Spendable {
  // A request above the remaining budget is planned in full, and refused.
  // Under quotas, no question may change the reading that other analysts' costs are counted by.
  const offered = (noise: PrivacyCost['noise'], amount: Rational, capacity: Rational): Rational => {
    const full = multiply(capacity, share);
    if (compare(target, one) > 0) return maximum(amount, full);
    const switchesNoise = account.quotas === true && decides !== undefined && decides !== noise;
    if (!isPositive(amount) || (switchesNoise && compare(amount, multiply(full, nearlyAll)) < 0)) return zero;
    return shortened(amount);
  };
  const inRho = rho && isGaussian(route) ? offered('zcdp', rho, whole.rho!) : zero;
  const onlyPure = spent.zcdp.perRecord.size === 0;
  const plain = countsPureInZcdp(route);
  const inEpsilon = onlyPure && plain ? offered('pure', pure, whole.pure) : zero;
  const { bound, capacity, epsilon } = route.gaussian ?? {};
  const pricedIn = (amount: Rational): Rational =>
    isPositive(amount) && (plain || !onlyPure) ? bound!.pureWithin(amount, capacity!, epsilon!) : zero;
  const most = maximum(inEpsilon, pricedIn(inRho));
  // Below the limit of another reading: that reading would decide afterwards, at less than the share.
  const allowed = () =>
    decides === 'pure' ? (rho && isGaussian(route) ? pricedIn(rho) : zero) : onlyPure && plain ? pure : zero;
  const keepsReading =
    !account.quotas || !decides || compare(target, one) > 0 || compare(multiply(allowed(), nearlyAll), most) <= 0;
  return { ...(isPositive(most) && keepsReading && { pure: most }), ...(isPositive(inRho) && { rho: inRho }) };
}
const nearlyAll = rational(999_999_999, 1_000_000_000);

/** Amounts that are no simple part of a capacity get a short denominator, because the ledger stores them. */
const finest = 1n << 192n;
const shortened = (x: Rational): Rational => (x.den <= finest ? x : fromNumber(toNumberDown(x)));

/** Refusal of a request covered only by other routes, under which earlier releases cost more than the used share shows. */
export function routeSwitchRefusal(
  account: Account,
  spent: SpentCosts,
  { routes, about: selection }: { readonly routes: readonly LeakageRoute[]; readonly about?: SliceSelection },
): Fault | undefined {
  const used = usedShare(account, spent, selection);
  const [least] = accountUsages(account, spent, selection)
    .filter(({ route }) => routes.includes(route))
    .map(({ share }) => share)
    .sort(compare);
  if (!least || compare(least, used) <= 0) return undefined;
  return recountRefusal(account, subtract(least, used));
}

/** Refusal under quotas where the amount would make another reading of the account the smallest. */
export function changesQuotas(account: Account, spent: SpentCosts, selection?: SliceSelection): Fault | undefined {
  if (!account.quotas || compare(usedShare(account, spent, selection), one) >= 0) return undefined;
  return new Fault(
    'BUDGET_EXCEEDED',
    'Beside this question earlier answers would count for other amounts of the quotas they were paid from.',
    'Ask with a smaller --epsilon; larger ones need a budget without quotas (budget.analysts in the policy).',
  );
}

/** Refusal where another reading of earlier releases alone takes this share. */
export function recountRefusal(account: Account, share: Rational): Fault {
  const more = Number(toNumber(multiply(share, account.epsilon)).toPrecision(4));
  return new Fault(
    'BUDGET_EXCEEDED',
    `Earlier releases count for more beside this question: that alone takes epsilon ${more} of the budget.`,
    `Ask for it with an --epsilon above ${more}, or ask for something of the kind that was released before.`,
  );
}
