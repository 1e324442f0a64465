import type { Amplifier } from '../dependence/amplifier.js';
import {
  addProfiles,
  everyRecord,
  isMark,
  type Profile,
  type PureProfile,
  pureProfile,
  type RecordClass,
  type Spent,
  type ZcdpProfile,
  zcdpProfile,
} from '../dependence/profile.js';
import { Fault } from '../errors.js';
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
  toNumber,
  toNumberUp,
  zero,
} from '../exact/rational.js';
import type { Policy } from '../policy/policy.js';
import { failureProbability, surelyRho } from './belief-delta.js';

/**
 * The budget of a population in base terms. A route is one proven way to turn spent profiles into leakage; the account is kept when
 * at least one route, taken over everything spent, keeps it. Epsilons are never added: base costs are, and each route converts once.
 */
export interface Account {
  /** Pinned in the ledger when the account opens. */
  readonly terms: { readonly digest: string; readonly summary: string };
  readonly epsilon: Rational;
  readonly delta: Rational;
  readonly routes: readonly Route[];
  /**
   * A profile as the ledger must hold it: with a cost for every class a route speaks about. `beyond`: the request reads more than the rows that
   * releases may use (a relation), so that records left out of those rows pay for it too.
   */
  readonly book: (profile: Profile, beyond?: boolean) => Profile;
}

export interface Route {
  readonly amplifier: Amplifier;
  /** Largest total base epsilon per record when only pure noise is used. */
  readonly pureCapacity: Rational;
  /** Largest total rho per record; absent for a pure budget. */
  readonly zcdpCapacity?: Rational;
  /** With what probability the odds may move by more than e^epsilon when the whole capacity is spent; 0 for a pure budget. */
  readonly failure: number;
}

export function openAccount(policy: Policy, amplifiers: readonly Amplifier[]): Account {
  const { epsilon, delta } = policy.budget;
  const routes = amplifiers.map((amplifier): Route => {
    const pureCapacity = amplifier.largestBase(epsilon);
    if (isZero(delta)) return { amplifier, pureCapacity, failure: 0 };
    // A belief budget promises "except with probability delta" in so many words, which takes more than (epsilon, delta).
    const zcdpCapacity = policy.budget.belief ? surelyRho(amplifier, epsilon, delta) : amplifier.largestRho(epsilon, delta);
    const failure = policy.budget.belief ? toNumberUp(delta) : failureProbability(amplifier, zcdpCapacity, epsilon);
    return { amplifier, pureCapacity, zcdpCapacity, failure };
  });
  if (!routes.some((r) => isPositive(r.pureCapacity) || (r.zcdpCapacity && isPositive(r.zcdpCapacity))))
    throw new Fault(
      'BUDGET_INVALID',
      'Under the declared ties no noise is small enough to be useful: the budget allows nothing to be spent.',
      'Raise epsilon, or declare weaker ties or smaller groups if that is true of your data.',
    );
  return { terms: termsOf(policy), epsilon, delta, routes, book: booking(policy, amplifiers) };
}

export function termsOf(policy: Policy): Account['terms'] {
  const { budget, protect } = policy;
  const secret = protect.secret === 'person' ? `person by ${protect.unit}` : protect.secret;
  const parts = [`epsilon ${toNumber(budget.epsilon)}`, `secret ${secret}`, `adversary ${protect.adversary}`];
  if (!isZero(budget.delta)) parts.splice(1, 0, `delta ${toNumber(budget.delta)}`);
  return { digest: policy.digest, summary: parts.join(', ') };
}

/**
 * With secret `answer` each column is a record class of its own; a release that only knows its cost per row books that cost for every column. Where
 * records are left out, the cost is booked once more under the name of the set that paid it.
 */
function booking(policy: Policy, amplifiers: readonly Amplifier[]): Account['book'] {
  const columns = policy.protect.secret === 'answer' ? [...policy.columns.keys()] : [];
  const marks = amplifiers.flatMap((a) => a.leftOut?.mark ?? []);
  return (profile, beyond = false) => {
    const whole = profile.perRecord.get(everyRecord);
    if (whole === undefined) return profile;
    const more = profile.perRecord.size === 1 ? columns : [];
    const paid = beyond ? [] : marks;
    if (more.length + paid.length === 0) return profile;
    const entries = [...more, ...paid].map((name) => [name, whole] as const);
    return profile.noise === 'pure'
      ? addProfiles(profile, pureProfile(entries, profile.factored && more.length === 0))
      : addProfiles(profile, zcdpProfile(entries));
  };
}

const within = (profile: PureProfile | ZcdpProfile, scope: (c: RecordClass) => boolean): Rational => {
  let most = zero;
  for (const [name, cost] of profile.perRecord) if (scope(name)) most = maximum(most, cost);
  return most;
};
/** `book` names every class a route may speak about, so a route covers a total as soon as the total names its scope. */
const covers = (profile: PureProfile | ZcdpProfile, scope: (c: RecordClass) => boolean): boolean => {
  const records = [...profile.perRecord.keys()].filter((name) => !isMark(name));
  return records.length === 0 || records.some(scope);
};

/** Was everything paid by the records of this mark alone? */
const paidBy = ({ perRecord }: PureProfile | ZcdpProfile, mark: RecordClass): boolean =>
  compare(perRecord.get(mark) ?? zero, perRecord.get(everyRecord) ?? zero) === 0;

/** Worst pure epsilon and worst rho (a pure epsilon counts epsilon^2/2) of one record under a route. */
export function spentUnder(route: Route, spent: Spent): { pure: Rational; rho: Rational } | undefined {
  const { scope, factoredOnly, leftOut } = route.amplifier;
  if (leftOut && !(paidBy(spent.pure, leftOut.mark) && paidBy(spent.zcdp, leftOut.mark))) return undefined;
  if (!covers(spent.pure, scope) || !covers(spent.zcdp, scope)) return undefined;
  if (factoredOnly && !(spent.pure.factored && spent.zcdp.perRecord.size === 0)) return undefined;
  const pure = within(spent.pure, scope);
  const rho = add(within(spent.zcdp, scope), divide(multiply(pure, pure), rational(2)));
  return { pure, rho };
}

/** Does this route prove that the total stays within the budget? */
export function keeps(route: Route, spent: Spent): boolean {
  const total = spentUnder(route, spent);
  if (!total) return false;
  if (spent.zcdp.perRecord.size === 0 && compare(total.pure, route.pureCapacity) <= 0) return true;
  return route.zcdpCapacity !== undefined && compare(total.rho, route.zcdpCapacity) <= 0;
}

export const isKept = (account: Account, spent: Spent): boolean => account.routes.some((route) => keeps(route, spent));

const paidTwice = ({ pure }: Spent): boolean =>
  [...pure.perRecord].some(([name, times]) => name.startsWith('once:') && compare(times, one) > 0);

/** The share of the account that is used, by its best route: 0 = fresh, 1 = exhausted. */
export function usedShare(account: Account, spent: Spent): Rational {
  let best: Rational | undefined;
  for (const route of account.routes) {
    const total = spentUnder(route, spent);
    if (!total) continue;
    const shares: Rational[] = [];
    if (spent.zcdp.perRecord.size === 0 && isPositive(route.pureCapacity)) shares.push(divide(total.pure, route.pureCapacity));
    if (route.zcdpCapacity && isPositive(route.zcdpCapacity)) shares.push(divide(total.rho, route.zcdpCapacity));
    for (const share of shares) if (!best || compare(share, best) < 0) best = share;
  }
  return best ?? rational(1);
}

/** What an attacker may have gained so far about one record, ties included (epsilon at the account's delta); rounded up. */
export function gained(account: Account, spent: Spent): number {
  let least = Number.POSITIVE_INFINITY;
  for (const route of account.routes) {
    const total = spentUnder(route, spent);
    if (!total) continue;
    if (spent.zcdp.perRecord.size === 0) least = Math.min(least, isZero(total.pure) ? 0 : route.amplifier.leakage(total.pure));
    if (!isZero(account.delta) && isPositive(total.rho))
      least = Math.min(least, route.amplifier.approximate(total.rho, account.delta));
  }
  return least;
}

/** For Ledger.reserve: throws with asked, spent and remaining when the total would break the budget. */
export const admission =
  (account: Account) =>
  (after: Spent, before: Spent): void => {
    if (paidTwice(after))
      throw new Fault(
        'BUDGET_EXCEEDED',
        'This population has already been given what it may be given once.',
        'Its guarantee does not compose: only the very same request on the same data is answered again, from the record.',
      );
    if (isKept(account, after)) return;
    const total = toNumber(account.epsilon);
    const used = toNumber(usedShare(account, before)) * total;
    const asked = toNumber(usedShare(account, after)) * total - used;
    const remaining = Math.max(0, total - used);
    throw new Fault(
      'BUDGET_EXCEEDED',
      `The budget does not allow this: asked ${short(asked)}, spent ${short(used)} of ${short(total)}, remaining ${short(remaining)} (in epsilon, ties included).`,
      'Ask for less with --epsilon, or for fewer columns; "fugu ledger POLICY" lists what was spent.',
      { details: { asked, spent: used, remaining, total } },
    );
  };
const short = (x: number) => Number(x.toPrecision(4)).toString();
