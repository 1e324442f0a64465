import { isZero, type Rational, toNumber } from '../../base/exact/rational.js';
import { isAddRemove } from '../../policy/neighbours.js';
import { type Mechanism, totalCostOf } from '../../privacy/mechanism/mechanism.js';
import { type SpentCosts, spend } from '../../privacy/mechanism/privacy-cost.js';
import type { Account, LeakageRoute } from '../accountant/account.js';
import { admits, isCountedInFull } from '../accountant/admits.js';
import { affectedAccounts } from '../accountant/affected-accounts.js';
import { budgetState, privacyLossBound } from '../accountant/budget-state.js';
import { sliceSelectionOf } from '../accountant/by-slice.js';
import type { Guarantee } from '../accountant/guarantee.js';
import type { RequestReading } from '../accountant/request-reading.js';
import { type AccountBalance, refusalOf, remainingShare } from '../accountant/share.js';
import { inFull } from '../accountant/sources.js';
import { requestedParts, stepBudgetSummary } from './parts.js';
import { closesGaussianText, exhaustionWarning, type Plan, plannedMeasure } from './plan.js';
import { quotaFor, quotaUse } from './quota.js';
import type { ReleaseContext } from './release-context.js';

/** Plan fields that the maker of a request supplies; all others follow from them. */
export type PlanInput = Omit<
  Plan,
  | 'measures'
  | 'epsilon'
  | 'budget'
  | 'parts'
  | 'steady'
  | 'quota'
  | 'fits'
  | 'refusal'
  | 'waysOut'
  | 'route'
  | 'whatIf'
  | 'records'
  | 'guarantee'
> & {
  readonly share: Rational;
  readonly spent: AccountBalance;
  readonly route: LeakageRoute;
  /** Mechanisms that would be drawn: they determine the cost, whether it fits, and the summary. */
  readonly mechanisms: readonly Mechanism[];
  readonly reading: RequestReading;
};

/** The plan of anything that is paid for: its own figures, plus budget, what-if table and promise. */
export function completePlan(context: ReleaseContext, promise: (route: LeakageRoute) => Guarantee, own: PlanInput): Plan {
  const { account, policy } = context;
  const { share, spent, route, mechanisms, reading, ...rest } = own;
  const total = toNumber(account.epsilon);
  // Contribution bounds apply to every release that reads rows, whichever route proves it.
  const leftOut = reading.allRows ? undefined : account.routes.map((r) => r.amplifier.leftOut).find((l) => l !== undefined);
  // A cost that was reserved already needs no further budget.
  const quota = quotaFor(context);
  const cost = totalCostOf(mechanisms);
  const whatIf = isZero(route.pureCapacity) || isAddRemove(policy) ? [] : route.amplifier.whatIf(route.pureCapacity);
  const free = mechanisms.length > 0 && cost.perRecord.size === 0;
  const refusal = own.completes === undefined ? refusalOf({ account, quota, balance: spent, cost, reading }) : undefined;
  const selection = sliceSelectionOf(reading.measures ?? []);
  const parts = requestedParts(policy, account, spent, selection);
  const last =
    own.completes === undefined && !refusal && !free
      ? exhaustionWarning(share, remainingShare(account, spent, selection), account.epsilon, parts)
      : undefined;
  const { isClosed } = affectedAccounts(account, spent, selection);
  const closes =
    cost.noise === 'pure' && !free && !isClosed(spent) && isClosed(spend(spent, account.reservedCost(cost, reading)));
  const warnings = [...(own.warnings ?? []), ...(last === undefined ? [] : [last])];
  return {
    ...rest,
    ...(closes && !refusal && { why: `${rest.why} ${closesGaussianText}` }),
    measures: mechanisms.map((mechanism, k) => plannedMeasure(mechanism, reading.measures?.[k])),
    fits: refusal === undefined,
    ...(refusal && { refusal: refusal.message }),
    ...(warnings.length > 0 && { warnings }),
    ...(spent.own && { quota: quotaUse(account, quota!, spent.own.spent, spent) }),
    epsilon: free ? 0 : toNumber(share) * total,
    budget: budgetState(account, spent),
    ...(parts.length > 0 && { parts }),
    ...(account.stepBudget && { steady: stepBudgetSummary(policy, account.stepBudget) }),
    route: route.how,
    whatIf,
    ...(leftOut && { records: { used: leftOut.used, leftOut: leftOut.unused } }),
    guarantee: admits(account, spent) ? promise(route) : brokenGuarantee(promise(route), account, spent),
  };
}

/** A promise that is already broken, for example by costs of other publishers, is not certified. */
function brokenGuarantee(promised: Guarantee, account: Account, spent: SpentCosts): Guarantee {
  const loss = privacyLossBound(account, spent);
  const lost = Number.isFinite(loss) ? `epsilon ${Number(loss.toPrecision(4))}` : 'more than anybody can bound';
  const words = isCountedInFull(account, spent)
    ? `This promise cannot be shown here: ${inFull}, ${lost} in all.`
    : `This promise is not kept: one record may have lost ${lost} already, more than the budget.`;
  return { ...promised, certified: false, sentences: [words, ...promised.sentences] };
}
