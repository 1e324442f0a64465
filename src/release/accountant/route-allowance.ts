import { Fault } from '../../base/errors.js';
import { compare, type Rational } from '../../base/exact/rational.js';
import { type BudgetShare, pure as pureOf, zcdp } from '../../privacy/mechanism/budget-share.js';
import { type PrivacyCost, spend } from '../../privacy/mechanism/privacy-cost.js';
import { columnsIn, type RecordClass, type Slicing } from '../../privacy/mechanism/record-class.js';
import type { ValueSet } from '../../privacy/mechanism/slices.js';
import { type Account, costOfShare, type LeakageRoute } from './account.js';
import type { Quota } from './admission.js';
import { spentUnder } from './admits.js';
import { affectedAccounts, amountWithin, besideRefusal } from './affected-accounts.js';
import { everySlice, remainingBySlice, type SliceSelection } from './by-slice.js';
import { isAboveBudget, remainingBudgets, shareTarget, spendable } from './remaining-budget.js';
import { meetsAll, type RequestReading } from './request-reading.js';
import { type AccountBalance, refusalOf } from './share.js';

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
  readonly part?: TouchedPart | undefined;
}

export interface TouchedPart {
  readonly slicing: Slicing;
  /** One entry for each of its columns. */
  readonly values: readonly ValueSet[];
  /** Cost recorded when records of these values spend all of a budget share; other records may pay more. */
  readonly cost: (budgetShare: BudgetShare) => PrivacyCost;
}

export const selectionOfPart = (part: TouchedPart | undefined): SliceSelection =>
  part ? new Map(columnsIn(part.slicing).map((column, k) => [column, part.values[k]!])) : everySlice;

interface Offer {
  readonly route: LeakageRoute;
  readonly budgetShare: BudgetShare;
}

export function routeAllowance(account: Account, request: SpendRequest): RouteAllowance {
  const { spent, share, record, reading, quota, part } = request;
  const selection = selectionOfPart(part);
  const goal = shareTarget(account, share, spent, selection);
  const affected = affectedAccounts(account, goal.spent, selection);
  const costOf = (budgetShare: BudgetShare) => part?.cost(budgetShare) ?? costOfShare(budgetShare, [record]);
  const reserved = (budgetShare: BudgetShare) => account.reservedCost(costOf(budgetShare), reading);
  const covering = account.routes.filter(
    (r) => r.amplifier.scope(record) && !r.amplifier.factoredOnly && spentUnder(r, spent) !== undefined,
  );
  const within = (route: LeakageRoute, budgetShare: BudgetShare): readonly Offer[] => {
    if (affected.isSingle || isAboveBudget(goal)) return [{ route, budgetShare }];
    const taken = (amount: Rational) => affected.largestShare(reserved({ ...budgetShare, amount }));
    const amount = amountWithin(budgetShare.amount, share, taken);
    return amount ? [{ route, budgetShare: { ...budgetShare, amount } }] : [];
  };
  const offers = covering.flatMap((route) => {
    const { spent: before, target } = goal;
    const remaining = part ? [remainingBySlice(route, before, { ...part, target })] : remainingBudgets(route, before, target);
    const { pure, rho } = spendable(route, remaining, goal);
    return [
      ...(pure && meetsAll(route, 'pure', reading) ? within(route, pureOf(pure)) : []),
      ...(rho && meetsAll(route, 'zcdp', reading) ? within(route, zcdp(rho)) : []),
    ];
  });
  const routes = covering.filter((r) => meetsAll(r, 'pure', reading));
  const refused = () => besideRefusal(account, { spent, before: goal.spent, routes, selection });
  const refusal = offers.length === 0 && refused();
  if (refusal) throw refusal;
  // If neither kind of noise fits, both are planned and refused with a reason; if one fits, the other is not offered.
  const possible = [largestOf(offers, 'pure'), largestOf(offers, 'zcdp')].filter((r) => r !== undefined);
  const fitting = possible.filter(
    ({ budgetShare }) => !refusalOf({ account, quota, balance: spent, cost: costOf(budgetShare), reading }),
  );
  const given = fitting.length > 0 ? fitting : possible;
  const [pure, rho] = (['pure', 'zcdp'] as const).map((noise) => given.find(({ budgetShare }) => budgetShare.noise === noise));
  const route = (rho ?? pure)?.route ?? covering[0];
  if (!route)
    throw new Fault(
      'QUERY_UNSUPPORTED',
      'No proven route covers this kind of release under this policy.',
      'Check protect: and dependence: in the policy.',
    );
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

/** The first of the largest offers with one kind of noise. */
const largestOf = (offers: readonly Offer[], noise: PrivacyCost['noise']): Offer | undefined =>
  offers
    .filter(({ budgetShare }) => budgetShare.noise === noise)
    .reduce<Offer | undefined>(
      (best, r) => (best && compare(best.budgetShare.amount, r.budgetShare.amount) >= 0 ? best : r),
      undefined,
    );
