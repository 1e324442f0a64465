import { isZero, type Rational, toNumber } from '../../base/exact/rational.js';
import { addsRemoves } from '../../policy/neighbours.js';
import { costTogether, type Mechanism } from '../../privacy/mechanism/mechanism.js';
import { type Spent, spend } from '../../privacy/mechanism/profile.js';
import { type Account, gained, isCountedInFull, isKept, type Route } from '../accountant/account.js';
import { budgetState } from '../accountant/budget-state.js';
import { aboutOf } from '../accountant/by-slice.js';
import type { Guarantee } from '../accountant/guarantee.js';
import { movedBy } from '../accountant/moved.js';
import type { Reading } from '../accountant/reading.js';
import { leftOf, refusalOf, type Standing } from '../accountant/share.js';
import { inFull } from '../accountant/sources.js';
import type { Desk } from './charge.js';
import { partsAsked, steadyWords } from './parts.js';
import { closesGaussian, lastOfIt, type Plan, planned } from './plan.js';
import { quotaFor, quotaUse } from './quota.js';

/** Plan fields that the maker of a request supplies; all others follow from them. */
export type OwnPlan = Omit<
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
  readonly spent: Standing;
  readonly route: Route;
  /** Mechanisms that would be drawn: they determine the cost, whether it fits, and the summary. */
  readonly mechanisms: readonly Mechanism[];
  readonly reading: Reading;
};

/** The plan of anything that is paid for: its own figures, plus budget, what-if table and promise. */
export function framed(desk: Desk, promise: (route: Route) => Guarantee, own: OwnPlan): Plan {
  const { account, policy } = desk;
  const { share, spent, route, mechanisms, reading, ...rest } = own;
  const total = toNumber(account.epsilon);
  // Contribution bounds apply to every release that reads rows, whichever route proves it.
  const leftOut = reading.beyond ? undefined : account.routes.map((r) => r.amplifier.leftOut).find((l) => l !== undefined);
  // A cost that was reserved already needs no further budget.
  const quota = quotaFor(desk);
  const cost = costTogether(mechanisms);
  const free = mechanisms.length > 0 && cost.perRecord.size === 0;
  const refusal = own.completes === undefined ? refusalOf(account, quota, spent, cost, reading) : undefined;
  const about = aboutOf(reading.measures ?? []);
  const parts = partsAsked(policy, account, spent, about);
  const last =
    own.completes === undefined && !refusal && !free
      ? lastOfIt(share, leftOf(account, spent, about), account.epsilon, parts)
      : undefined;
  const { isClosed } = movedBy(account, spent, about);
  const closes = cost.noise === 'pure' && !free && !isClosed(spent) && isClosed(spend(spent, account.book(cost, reading)));
  const warnings = [...(own.warnings ?? []), ...(last === undefined ? [] : [last])];
  return {
    ...rest,
    ...(closes && !refusal && { why: `${rest.why} ${closesGaussian}` }),
    measures: mechanisms.map((mechanism, k) => planned(mechanism, reading.measures?.[k])),
    fits: refusal === undefined,
    ...(refusal && { refusal: refusal.message }),
    ...(warnings.length > 0 && { warnings }),
    ...(spent.own && { quota: quotaUse(account, quota!, spent.own.spent, spent) }),
    epsilon: free ? 0 : toNumber(share) * total,
    budget: budgetState(account, spent),
    ...(parts.length > 0 && { parts }),
    ...(account.steady && { steady: steadyWords(policy, account.steady) }),
    route: route.how,
    whatIf: isZero(route.pureCapacity) || addsRemoves(policy) ? [] : route.amplifier.whatIf(route.pureCapacity),
    ...(leftOut && { records: { used: leftOut.used, leftOut: leftOut.unused } }),
    guarantee: isKept(account, spent) ? promise(route) : broken(promise(route), account, spent),
  };
}

/** A promise that is already broken, for example by costs of other publishers, is not certified. */
function broken(promised: Guarantee, account: Account, spent: Spent): Guarantee {
  const loss = gained(account, spent);
  const lost = Number.isFinite(loss) ? `epsilon ${Number(loss.toPrecision(4))}` : 'more than anybody can bound';
  const words = isCountedInFull(account, spent)
    ? `This promise cannot be shown here: ${inFull}, ${lost} in all.`
    : `This promise is not kept: one record may have lost ${lost} already, more than the budget.`;
  return { ...promised, certified: false, sentences: [words, ...promised.sentences] };
}
