import type { Amplifier, GaussianBound } from '../dependence/amplifier.js';
import type { Bases } from '../dependence/base.js';
import type { Condition } from '../dependence/condition.js';
import { Fault } from '../errors.js';
import {
  compare,
  divide,
  isPositive,
  isZero,
  maximum,
  minimum,
  multiply,
  one,
  type Rational,
  rational,
  subtract,
  toNumber,
  toNumberDown,
  zero,
} from '../exact/rational.js';
import type { Allotment } from '../mechanism/allotment.js';
import type { Scope } from '../mechanism/effect.js';
import {
  addProfiles,
  type Profile,
  type PureProfile,
  pureProfile,
  type Spent,
  type ZcdpProfile,
  zcdpProfile,
} from '../mechanism/profile.js';
import { answersTo, everyRecord, isOfRecords, isOnce, type RecordClass, type Slicing } from '../mechanism/record-class.js';
import type { Policy } from '../policy/policy.js';
import { gainedByPairs, keepsByPairs, usedByPairs } from './by-pairs.js';
import { type About, aboutEverybody, gainedBySlice, keepsBySlice, mostParts, partsTogether, usedBySlice } from './by-slice.js';
import { binds, meets, type Reading } from './reading.js';

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
  /** With a budget per step: what every value of the column that puts steps in order may spend, for ever. */
  readonly steady?: SteadySpending;
  /** What is set aside for others who tell something about these people and do not say what (others.ts). */
  readonly others?: readonly Profile[];
  /** A profile as the ledger must hold it: with a cost for every class and every condition that a route speaks about. */
  readonly book: (profile: Profile, reading: Reading) => Profile;
}

export interface SteadySpending {
  readonly slicing: Slicing;
  /** Base epsilon. */
  readonly each: Rational;
}

/** One proven way from what was spent to what an attacker gains. */
export interface Route {
  readonly amplifier: Amplifier;
  /** What everything spent must have been like. */
  readonly conditions: readonly Condition[];
  /** What pure noise must keep it at: the account's. */
  readonly epsilon: Rational;
  /** Largest total base epsilon per record when only pure noise is used and every record spends the same. */
  readonly pureCapacity: Rational;
  /** Absent for a pure budget, and where nothing is proven about Gaussian noise. */
  readonly gaussian?: GaussianRoute;
  /** The public columns by whose values it may look at what was spent (by-slice.ts). */
  readonly slicings: readonly Slicing[];
  /** The digest of the pairs along which it may look at what was spent (by-pairs.ts). */
  readonly pairs?: string;
  readonly how: string;
}

/** Whether a pure epsilon counts epsilon^2/2 beside Gaussian noise; under a bound with conditions of its own it counts for more (Amplifier.gaussian). */
export const isPlain = ({ gaussian }: Route): boolean => gaussian === undefined || gaussian.bound.conditions.length === 0;

export interface GaussianRoute {
  readonly bound: GaussianBound;
  /** Largest total rho per record. */
  readonly capacity: Rational;
  /**
   * Which route proves the account may depend on what was released before, and then the probabilities with which each may fail add up: every route
   * keeps its part of the account's delta. `epsilon`: what the capacity keeps it at, less than the account's where beliefs are promised.
   */
  readonly delta: Rational;
  readonly epsilon: Rational;
  /** With what probability the odds may move by more than e^epsilon of the account when the whole capacity is spent. */
  readonly failure: number;
}

/**
 * With secret `answer` each column is a record class of its own; a release that only knows its cost per row books that cost for every column. A cost that
 * meets a condition is booked once more under the condition's mark.
 */
export function booking(policy: Policy, routes: readonly Route[]): Account['book'] {
  const columns =
    policy.protect.secret === 'answer' ? [...policy.columns.values()].filter((c) => !c.public).map((c) => answersTo(c.name)) : [];
  const conditions = [...new Map(routes.flatMap((r) => r.conditions).map((c) => [c.mark, c])).values()];
  return (profile, reading) => {
    const whole = profile.perRecord.get(everyRecord);
    if (whole === undefined) return profile;
    const more = profile.perRecord.size === 1 ? columns : [];
    const met = conditions.filter((c) => binds(c, profile.noise) && meets(c, profile.noise, reading)).map((c) => c.mark);
    if (more.length + met.length === 0) return profile;
    const entries = [...more, ...met].map((name): [RecordClass, Rational] => [name, whole]);
    return profile.noise === 'pure'
      ? addProfiles(profile, pureProfile(entries, profile.factored && more.length === 0))
      : addProfiles(profile, zcdpProfile(entries));
  };
}

/** What an allotment costs when a record of each of these classes spends all of it. */
export function costOf({ noise, amount }: Allotment, classes: readonly RecordClass[]): Profile {
  const entries = classes.map((record) => [record, amount] as const);
  return noise === 'pure' ? pureProfile(entries) : zcdpProfile(entries);
}

const within = (profile: PureProfile | ZcdpProfile, scope: Scope): Rational => {
  let most = zero;
  for (const [name, cost] of profile.perRecord) if (scope(name)) most = maximum(most, cost);
  return most;
};
/**
 * A route over whole records speaks about every cost, as each is booked under `*` too. A route over classes of records (answers, tuples) speaks only about totals
 * that lie within them: what was spent on a class it does not know (an answer that is declared no more, another name for a relation) is not its to forget.
 */
export function speaksAbout(scope: Scope, classes: Iterable<RecordClass>): boolean {
  const records = [...classes].filter(isOfRecords);
  if (records.length === 0) return true;
  if (scope(everyRecord)) return records.includes(everyRecord);
  return records.some(scope) && records.every((name) => name === everyRecord || scope(name));
}

/** Did everything of this kind of noise meet the condition? */
const metBy = ({ noise, perRecord }: PureProfile | ZcdpProfile, condition: Condition): boolean =>
  !binds(condition, noise) || compare(perRecord.get(condition.mark) ?? zero, perRecord.get(everyRecord) ?? zero) === 0;

/** Worst pure epsilon of one record under a route, and one rho that stands for all that was spent where the route knows Gaussian noise. */
export function spentUnder(route: Route, spent: Spent): { readonly pure: Rational; readonly rho: Rational } | undefined {
  const { amplifier, conditions, gaussian } = route;
  const { scope, factoredOnly } = amplifier;
  if (!conditions.every((c) => metBy(spent.pure, c) && metBy(spent.zcdp, c))) return undefined;
  if (![spent.pure, spent.zcdp].every(({ perRecord }) => speaksAbout(scope, perRecord.keys()))) return undefined;
  if (factoredOnly && !(spent.pure.factored && spent.zcdp.perRecord.size === 0)) return undefined;
  const pure = within(spent.pure, scope);
  const rho = within(spent.zcdp, scope);
  return { pure, rho: gaussian ? gaussian.bound.counted({ rho, pure }, gaussian.capacity, gaussian.epsilon) : rho };
}

/** What the classes of a route spent, where they differ: classes that spent less leak less about the others (informed.proof.md, "Costs of one's own"). */
function unequal({ amplifier: { scope } }: Route, { pure }: Spent): Bases | undefined {
  const costs = new Map([...pure.perRecord].filter(([record]) => scope(record)));
  return costs.size > 0 && !scope(everyRecord) ? costs : undefined;
}

function keepsApart(route: Route, spent: Spent): boolean {
  const costs = unequal(route, spent);
  return costs !== undefined && route.amplifier.leakage(costs) <= toNumberDown(route.epsilon);
}

/** Does this route prove that the total stays within the budget? */
export function keeps(route: Route, spent: Spent): boolean {
  const total = spentUnder(route, spent);
  if (!total) return false;
  if (spent.zcdp.perRecord.size === 0 && (compare(total.pure, route.pureCapacity) <= 0 || keepsApart(route, spent))) return true;
  if (route.gaussian !== undefined && compare(total.rho, route.gaussian.capacity) <= 0) return true;
  return keepsBySlice(route, spent) || keepsByPairs(route, spent);
}

export const isKept = (account: Account, spent: Spent): boolean => account.routes.some((route) => keeps(route, spent));

const paidTwice = ({ pure }: Spent): boolean =>
  [...pure.perRecord].some(([name, times]) => isOnce(name) && compare(times, one) > 0);

/**
 * The share of the account that is used, by its best route: 0 = fresh, 1 = exhausted for whoever asks about these values of public columns, or about everybody. By the dearest
 * class, so that shares of several requests add up; costs that differ by class may be kept beyond 1.
 */
export function usedShare(account: Account, spent: Spent, about: About = aboutEverybody): Rational {
  const shares = usedShares(account, spent, about);
  return shares.length > 0 ? shares.reduce(minimum) : rational(1);
}

/** The same by every route and noise that speaks about what was spent. */
export function usedShares(account: Account, spent: Spent, about: About = aboutEverybody): readonly Rational[] {
  return account.routes.flatMap((route) => {
    const total = spentUnder(route, spent);
    if (!total) return [];
    const pure = spent.zcdp.perRecord.size === 0 && isPositive(route.pureCapacity);
    return [
      ...(pure ? [divide(total.pure, route.pureCapacity)] : []),
      ...(route.gaussian && isPositive(route.gaussian.capacity) ? [divide(total.rho, route.gaussian.capacity)] : []),
      ...route.slicings.flatMap((slicing) => usedBySlice(route, spent, slicing, about)),
      ...usedByPairs(route, spent),
    ];
  });
}

/** What an attacker may have gained so far about one record, ties included (epsilon at the account's delta); rounded up. */
export function gained(account: Account, spent: Spent): number {
  let least = Number.POSITIVE_INFINITY;
  for (const route of account.routes) {
    const total = spentUnder(route, spent);
    if (!total) continue;
    if (spent.zcdp.perRecord.size === 0)
      least = Math.min(least, isZero(total.pure) ? 0 : route.amplifier.leakage(unequal(route, spent) ?? total.pure));
    if (route.gaussian && isPositive(total.rho)) {
      const mixed = { rho: within(spent.zcdp, route.amplifier.scope), pure: total.pure };
      least = Math.min(least, route.gaussian.bound.epsilon(mixed, route.gaussian.delta));
    }
    least = Math.min(least, gainedBySlice(route, spent) ?? least, gainedByPairs(route, spent) ?? least);
  }
  return least;
}

/** What one analyst may spend, in epsilon of the whole budget. It divides the budget among people and promises nothing to those in the data. */
export interface Quota {
  readonly analyst: string;
  readonly epsilon: Rational;
}

/** For Ledger.reserve: throws with asked, spent and remaining when the total would break the budget, or the analyst's own total the quota. */
export const admission =
  (account: Account, quota?: Quota) =>
  (after: Spent, before: Spent, byAnalyst: Spent): void => {
    if (paidTwice(after))
      throw new Fault(
        'BUDGET_EXCEEDED',
        'This population has already been given what it may be given once.',
        'Its guarantee does not compose: only the very same request is answered again, from the record.',
      );
    if (partsTogether(after) > mostParts && partsTogether(after) > partsTogether(before))
      throw new Fault(
        'BUDGET_EXCEEDED',
        `What was spent would differ between more than ${mostParts} parts of the data, by combinations of public columns.`,
        'Ask about all values of one of the public columns, or about several at once: a table by them is one request.',
      );
    if (isKept(account, after)) {
      if (quota) admitQuota(account, quota, after, before, byAnalyst);
      return;
    }
    const total = toNumber(account.epsilon);
    const used = toNumber(usedShare(account, before)) * total;
    const asked = toNumber(usedShare(account, after)) * total - used;
    const remaining = Math.max(0, total - used);
    throw new Fault(
      'BUDGET_EXCEEDED',
      `The budget does not allow this: ${spentText(asked, used, total)}.`,
      'Ask for less with --epsilon, or for fewer columns; "fugu ledger POLICY" lists what was spent.',
      { details: { asked, spent: used, remaining, total } },
    );
  };

function admitQuota(account: Account, { analyst, epsilon }: Quota, after: Spent, before: Spent, byAnalyst: Spent): void {
  const own = multiply(usedShare(account, byAnalyst), account.epsilon);
  if (compare(own, epsilon) <= 0) return;
  const asked = toNumber(multiply(subtract(usedShare(account, after), usedShare(account, before)), account.epsilon));
  const quota = toNumber(epsilon);
  const spent = Math.max(0, toNumber(own) - asked);
  const remaining = Math.max(0, quota - spent);
  throw new Fault(
    'BUDGET_EXCEEDED',
    `The quota of ${analyst} does not allow this: ${spentText(asked, spent, quota)}.`,
    'Ask for less with --epsilon, or have the quota raised: budget.analysts in the policy.',
    { details: { asked, spent, remaining, total: toNumber(account.epsilon), quota, analyst } },
  );
}
/** Of what is spent to all digits that are shown nothing remains. */
function spentText(asked: number, spent: number, total: number): string {
  const remaining = short(spent) === short(total) ? 0 : Math.max(0, total - spent);
  return `asked ${short(asked)}, spent ${short(spent)} of ${short(total)}, remaining ${short(remaining)} (in epsilon, ties included)`;
}
const short = (x: number) => Number(x.toPrecision(4)).toString();
