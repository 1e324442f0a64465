import { Fault } from '../../base/errors.js';
import { add, compare, one, type Rational } from '../../base/exact/rational.js';
import { type BudgetShare, pure as pureOf, zcdp } from '../../privacy/mechanism/budget-share.js';
import { nothingSpent, type PrivacyCost, spend } from '../../privacy/mechanism/privacy-cost.js';
import { columnsIn, type RecordClass, type Slicing } from '../../privacy/mechanism/record-class.js';
import type { ValueSet } from '../../privacy/mechanism/slices.js';
import { type Account, costOfShare, decidingNoise, type LeakageRoute, type Quota, spentUnder, usedShare } from './account.js';
import { affectedAccounts, amountWithin } from './affected-accounts.js';
import { everySlice, remainingBySlice, type SliceSelection } from './by-slice.js';
import { changesQuotas, mostSpendable, remainingBudgets, routeSwitchRefusal, spendable } from './remaining-budget.js';
import { meets, type RequestReading } from './request-reading.js';
import { type AccountBalance, refusalOf } from './share.js';
import { coversSources } from './sources.js';

/** Budget that a share allows one record, by the route that proves it. */
export interface RouteAllowance {
  readonly route: LeakageRoute;
  /** Base epsilon one record may spend on pure noise. */
  readonly pure?: BudgetShare;
  /** rho one record may spend on Gaussian noise. */
  readonly rho?: BudgetShare;
  /** After pure noise later questions could use Gaussian noise only by paying more for what was released before. */
  readonly closes?: true;
  /** Reason why pure noise is not offered although something remains. */
  readonly whyNoPure?: Fault;
  /** True if the ledger would admit either. */
  readonly admitted: boolean;
}

export interface SpendRequest {
  readonly spent: AccountBalance;
  readonly share: Rational;
  /** Record class that the request depends on. */
  readonly record: RecordClass;
  /** Decides which routes cover it. */
  readonly reading: RequestReading;
  /** Quota of the payer. */
  readonly quota: Quota | undefined;
  /** Values of public columns that it depends on, where its cost is recorded by them. */
  readonly part?: TouchedPart;
}

export interface TouchedPart {
  readonly slicing: Slicing;
  /** One entry for each of its columns. */
  readonly values: readonly ValueSet[];
  /** Cost recorded when records of these values spend all of a budget share; other records may pay more. */
  readonly cost: (budgetShare: BudgetShare) => PrivacyCost;
}

export function routeAllowance(account: Account, request: SpendRequest): RouteAllowance {
  const { spent, share, record, reading, quota, part } = request;
  const selection = part && selectionOfPart(part);
  // Costs spent on other data are refused with a reason of their own.
  const before = coversSources(account.source, spent) ? spent : nothingSpent;
  const target = add(usedShare(account, before, selection), share);
  const decides = decidingNoise(account, before, selection);
  const covering = account.routes.filter(
    (r) => r.amplifier.scope(record) && !r.amplifier.factoredOnly && spentUnder(r, spent) !== undefined,
  );
  const met = (r: LeakageRoute, noise: PrivacyCost['noise']) => r.conditions.every((c) => meets(c, noise, reading));
  const affected = affectedAccounts(account, before, selection ?? everySlice);
  const costs = (budgetShare: BudgetShare) => part?.cost(budgetShare) ?? costOfShare(budgetShare, [record]);
  const reserved = (budgetShare: BudgetShare) => account.reservedCost(costs(budgetShare), reading);
  // A request above the remaining budget is planned in full, and refused.
  const within = (route: LeakageRoute, budgetShare: BudgetShare) => {
    const most = (amount: Rational) => affected.largestShare(reserved({ ...budgetShare, amount }));
    const amount =
      affected.isSingle || compare(target, one) > 0 ? budgetShare.amount : amountWithin(budgetShare.amount, share, most);
    return amount ? [{ route, budgetShare: { ...budgetShare, amount } }] : [];
  };
  const offers = covering.flatMap((route) => {
    const remaining = part ? [remainingBySlice(route, before, { ...part, target })] : remainingBudgets(route, before, target);
    const { pure, rho } = mostSpendable(
      remaining.map((r) => spendable(account, route, r, { share, target, spent: before, decides })),
    );
    return [
      ...(pure && met(route, 'pure') ? within(route, pureOf(pure)) : []),
      ...(rho && met(route, 'zcdp') ? within(route, zcdp(rho)) : []),
    ];
  });
  const routes = covering.filter((r) => met(r, 'pure'));
  const refused = () =>
    routeSwitchRefusal(account, spent, { routes, ...(selection && { about: selection }) }) ??
    affected.refusal() ??
    changesQuotas(account, spent, selection);
  const refusal = offers.length === 0 && refused();
  if (refusal) throw refusal;
  // If neither kind of noise fits, both are planned and refused with a reason; if one fits, the other is not offered.
  const most = (noise: PrivacyCost['noise']) =>
    offers
      .filter(({ budgetShare }) => budgetShare.noise === noise)
      .reduce<(typeof offers)[number] | undefined>(
        (best, r) => (best && compare(best.budgetShare.amount, r.budgetShare.amount) >= 0 ? best : r),
        undefined,
      );
  const possible = [most('pure'), most('zcdp')].filter((r) => r !== undefined);
  const fitting = possible.filter(({ budgetShare }) => !refusalOf(account, quota, spent, costs(budgetShare), reading));
  const given = fitting.length > 0 ? fitting : possible;
  const route = (given.find(({ budgetShare }) => budgetShare.noise === 'zcdp') ?? given[0])?.route ?? covering[0];
  if (!route)
    throw new Fault(
      'QUERY_UNSUPPORTED',
      'No proven route covers this kind of release under this policy.',
      'Check protect: and dependence: in the policy.',
    );
  const of = (noise: PrivacyCost['noise']) => given.find(({ budgetShare }) => budgetShare.noise === noise);
  const [pure, rho] = [of('pure'), of('zcdp')];
  const whyNoPure = pure ? undefined : refused();
  const closes = pure && affected.isClosed(spend(spent, reserved(pure.budgetShare)));
  return {
    route,
    ...(pure && { pure: pure.budgetShare }),
    ...(rho && { rho: rho.budgetShare }),
    ...(closes && { closes }),
    ...(whyNoPure && { whyNoPure }),
    admitted: fitting.length > 0,
  };
}

const selectionOfPart = ({ slicing, values }: TouchedPart): SliceSelection =>
  new Map(columnsIn(slicing).map((column, k) => [column, values[k]!]));
