import type { Fault } from '../../base/errors.js';
import {
  add,
  compare,
  fromNumber,
  isPositive,
  minimum,
  multiply,
  one,
  type Rational,
  rational,
  subtract,
  toNumber,
} from '../../base/exact/rational.js';
import { type Additive, additive } from '../../privacy/mechanism/additive.js';
import type { Allotment } from '../../privacy/mechanism/allotment.js';
import { largest, type Scope } from '../../privacy/mechanism/effect.js';
import { varianceOf } from '../../privacy/mechanism/law.js';
import { costTogether, type Mechanism } from '../../privacy/mechanism/mechanism.js';
import { meanNumbers } from '../../privacy/mechanism/ordered/forest.js';
import { readingOf } from '../../privacy/mechanism/ordered/reading.js';
import { isAlong, nothingSpent, type Profile, paidBySlice, type Spent, spend } from '../../privacy/mechanism/profile.js';
import { along, boxIn, columnsIn, everyRecord, isPart, isSlice, type Slicing } from '../../privacy/mechanism/record-class.js';
import { type Selection, selection } from '../../privacy/mechanism/select.js';
import { isEverything, largestOn } from '../../privacy/mechanism/slices.js';
import type { Measure, MechanismOf } from '../../query/count/measure.js';
import {
  type Account,
  decidingNoise,
  isGaussian,
  isPlain,
  keeps,
  type Route,
  speaksAbout,
  spentUnder,
  usedShare,
} from './account.js';
import { allocate, combinationsOf } from './allocate.js';
import { movesAlong, partAlong, roomAlongTies, roomByPairs, saysAlong } from './by-pairs.js';
import { type About, aboutOf, roomBySlice, valuesAbout } from './by-slice.js';
import { amountWithin, movedBy } from './moved.js';
import { meets } from './reading.js';
import { changesQuotas, costsMoreBeside, mostSpendable, type Room, roomsUnder, type SharedOut, spendable } from './room.js';
import { nothingLeft } from './share.js';
import { coversSources } from './sources.js';

/** One way to answer a batch within its share of the account. */
export interface NoisePlan {
  readonly route: Route;
  readonly kind: 'laplace' | 'gaussian';
  /** One per measure. */
  readonly mechanisms: readonly MechanismOf[];
  readonly profile: Profile;
  /** Public column by whose values the budget was divided and found. */
  readonly slicing?: Slicing;
  /** Sum over cells of the noise variance in units of the sensitivity: comparable between measures. */
  readonly error: number;
  /** True if the account still admits it. */
  readonly fits: boolean;
  /** Later questions could use Gaussian noise only by paying more for what was released before. */
  readonly closes?: true;
}

/** A plan before it is judged, and a function that makes it with another budget. */
interface Candidate extends Omit<NoisePlan, 'fits' | 'closes'> {
  readonly budget: Rational;
  readonly make: (budget: Rational) => Candidate;
}

/** All candidates, best first; the caller takes the first (which fits if any does). Each uses exactly the share. */
export function chooseNoise(measures: readonly Measure[], account: Account, share: Rational, spent: Spent): readonly NoisePlan[] {
  const plans: Candidate[] = [];
  const about = aboutOf(measures);
  const before = coversSources(account.source, spent) ? spent : nothingSpent;
  const target = add(usedShare(account, before, about), share);
  const decides = decidingNoise(account, before, about);
  const moved = movedBy(account, before, about);
  for (const route of account.routes) {
    const { factoredOnly } = route.amplifier;
    const speaksOf = (noise: Profile['noise']) => route.conditions.every((c) => meets(c, noise, { measures }));
    if (!covers(route, measures, spent)) continue;
    const add = (rooms: readonly Room[], slicing?: Slicing) => {
      const { pure, rho } = mostSpendable(
        rooms.map((room) => spendable(account, route, room, { share, target, spent: before, decides })),
      );
      if (pure && speaksOf('pure')) plans.push(under(laplace, measures, route, pure, slicing));
      if (rho && !factoredOnly && speaksOf('zcdp')) plans.push(under(gaussian, measures, route, rho, slicing));
    };
    add(roomsUnder(route, before, target));
    for (const slicing of route.slicings.filter((s) => isWorth(s, measures, about)))
      add([roomBySlice(route, before, { slicing, values: valuesAbout(about, slicing)!, target })], slicing);
    const near = alongPairs(route, measures, { account, share, target, spent: before, decides, speaksOf });
    // Noise for replacing by any record costs a pair less than the share. It is a fallback where the share remains and
    // only rounding or another ratio of own to full cost is in the way; never where the request exceeds the remaining budget.
    if (near.length > 0 && (route.amplifier.strangers || asksTooMuch(account, share, spent, about)))
      plans.splice(0, plans.length, ...plans.filter((p) => p.route !== route || p.slicing !== undefined));
    plans.push(...near);
  }
  const most = ({ profile }: Candidate) => moved.most(account.book(profile, { measures }));
  // A request above the remaining budget is planned in full, and refused.
  const offered =
    compare(target, one) > 0
      ? plans.filter((plan) => !asksTooMuch(account, share, spent, about) || !isOfLess(plan, plans))
      : plans.flatMap((plan) => (moved.alone ? plan : (withinShare(plan, share, most) ?? [])));
  const gains = (plan: Candidate) =>
    plan.slicing === undefined ||
    // A sliced plan is dropped where an unsliced one is as accurate, or where another column's values would pay for it.
    // Combinations pay for nothing that their columns do not pay for.
    (!offered.some((p) => p.slicing === undefined && p.route === plan.route && p.kind === plan.kind && p.error <= plan.error) &&
      (columnsIn(plan.slicing).length > 1 ||
        [...about]
          .filter(([, values]) => !isEverything(values))
          .every(
            ([other]) =>
              compare(dearest(plan.profile, other), dearest(plan.profile, plan.slicing!)) <= 0 ||
              !offered.some((p) => p.slicing === other && p.route === plan.route && p.kind === plan.kind),
          )));
  const after = ({ profile }: Candidate): Spent => spend(spent, account.book(profile, { measures }));
  const judged = (plan: Candidate): NoisePlan & Candidate => {
    const closes = plan.kind === 'laplace' && moved.isClosed(after(plan));
    // Judged by its own route, because its printed promise is that route's.
    return { ...plan, fits: keeps(plan.route, after(plan)), ...(closes && { closes }) };
  };
  const weighed = (plan: NoisePlan) => (plan.closes ? closing : 1) * plan.error;
  const several = measures.length > 1 && account.routes.some(isGaussian);
  // A quota may admit another noise than the best one.
  const isTaken = (place: number) => place === 0 || account.quotas === true;
  return offered
    .filter(gains)
    .map(judged)
    .sort((a, b) => Number(b.fits) - Number(a.fits) || weighed(a) - weighed(b))
    .map((plan, place) =>
      several && plan.kind === 'laplace' && plan.fits && isTaken(place) ? judged(grown(plan, most, toNumber(share))) : plan,
    );
}

/** A route that does not cover earlier costs cannot promise anything about later ones. */
const covers = (route: Route, measures: readonly Measure[], spent: Spent): boolean =>
  measures.every((m) => speaksAbout(route.amplifier.scope, m.effects.keys())) &&
  (!route.amplifier.factoredOnly || measures.every(isFactored)) &&
  spentUnder(route, spent) !== undefined;

/** Reason why no noise can be offered; undefined where no route covers these measures. */
export function whyNoNoise(measures: readonly Measure[], account: Account, spent: Spent): Fault | undefined {
  const met = (r: Route) => (['pure', 'zcdp'] as const).some((noise) => r.conditions.every((c) => meets(c, noise, { measures })));
  const routes = account.routes.filter((r) => covers(r, measures, spent) && met(r));
  if (routes.length === 0) return undefined;
  const about = aboutOf(measures);
  const beside = costsMoreBeside(account, spent, { routes, about }) ?? movedBy(account, spent, about).refusal();
  return beside ?? changesQuotas(account, spent, about) ?? nothingLeft();
}

/**
 * True for a plan for everybody where a plan for the requested values may spend more: too large a request is refused,
 * not answered with more noise.
 */
const isOfLess = ({ slicing, route, kind, budget }: Candidate, plans: readonly Candidate[]): boolean =>
  slicing === undefined &&
  plans.some((p) => p.slicing !== undefined && p.route === route && p.kind === kind && compare(p.budget, budget) > 0);

/** The plan with the largest budget that raises the used share of no account by more than `share`. */
function withinShare(plan: Candidate, share: Rational, most: (plan: Candidate) => number): Candidate | undefined {
  if (plan.profile.perRecord.size === 0) return plan;
  const budget = amountWithin(plan.budget, share, (amount) => most(amount === plan.budget ? plan : plan.make(amount)));
  return budget === plan.budget ? plan : budget && plan.make(budget);
}

/** Several pure draws cost less in zCDP than one of their total: the draws are enlarged to use the rest of the share. */
function grown(plan: Candidate, most: (plan: Candidate) => number, share: number): Candidate {
  const enough = share - 1e-8;
  if (most(plan) >= enough) return plan;
  const times = (factor: number) => plan.make(multiply(plan.budget, fromNumber(factor)));
  let [low, high] = [1, 2];
  while (high < 2 ** 20 && most(times(high)) < share) [low, high] = [high, 2 * high];
  let best = low === 1 ? plan : times(low);
  for (let k = 0; k < 40 && most(best) < enough; k++) {
    const middle = (low + high) / 2;
    const next = times(middle);
    if (most(next) <= share) [low, best] = [middle, next];
    else high = middle;
  }
  return best;
}

/** Pure noise that closes Gaussian noise to later questions is preferred only if its variance is this many times smaller. */
export const closing = 2;

/** Tolerance for rounding. */
const crumb = rational(1, 1000);
const asksTooMuch = (account: Account, share: Rational, spent: Spent, about: About): boolean =>
  compare(share, add(subtract(one, usedShare(account, spent, about)), crumb)) > 0;

interface Asking extends SharedOut {
  readonly account: Account;
  readonly speaksOf: (noise: Profile['noise']) => boolean;
}
interface Fitted {
  readonly shared: Scope;
  readonly each: (m: Measure) => Scope;
}

/**
 * Plans with noise for the sensitivity along declared pairs: all of it where nobody is tied,
 * otherwise together with what ties carry from other records (by-pairs.ts).
 */
function alongPairs(
  route: Route,
  measures: readonly Measure[],
  { account, share, target, spent, decides, speaksOf }: Asking,
): readonly Candidate[] {
  const { pairs, amplifier } = route;
  if (pairs === undefined || !measures.some(({ effects }) => effects.has(everyRecord))) return [];
  if (!measures.every(({ effects }) => saysAlong(effects, pairs))) return [];
  if (!amplifier.strangers) {
    const part = minimum(one, partAlong(measures, pairs));
    const onlyPure = spent.zcdp.perRecord.size === 0;
    if (!onlyPure || !isPlain(route) || !speaksOf('pure')) return [];
    // Not needed if the whole sensitivity is along pairs and no cost was recorded along them:
    // costs for everybody give the same result.
    if (compare(part, one) === 0 && !isAlong(spent.pure, pairs)) return [];
    const room = roomAlongTies(route, spent, part, target);
    return isPositive(room) ? [under(laplace, measures, route, room)] : [];
  }
  const own: Scope = (record) => record === along(pairs);
  const fitted: Fitted = {
    shared: own,
    // A measure with zero sensitivity along pairs costs nothing along them, whatever its noise.
    each: (m: Measure) => (movesAlong(m.effects, pairs) ? own : amplifier.scope),
  };
  const { pure, rho } = spendable(account, route, roomByPairs(route, spent, target), { share, target, spent, decides });
  return [
    ...(pure && speaksOf('pure') ? [under(laplace, measures, route, pure, undefined, fitted)] : []),
    ...(rho && speaksOf('zcdp') ? [under(gaussian, measures, route, rho, undefined, fitted)] : []),
  ];
}

const dearest = (profile: Profile, slicing: Slicing): Rational => largestOn(paidBySlice(profile, slicing));

/** Combinations of columns are considered where a request restricts two of them and there are not too many. */
const mostCombinations = 10_000;
const isWorth = (slicing: Slicing, measures: readonly Measure[], about: About): boolean => {
  const asked = columnsIn(slicing).filter((column) => about.has(column)).length;
  return columnsIn(slicing).length === 1 ? asked === 1 : asked > 1 && combinationsOf(measures, slicing) <= mostCombinations;
};

/**
 * The two kinds of noise, with the shares that minimise the total squared error in units of each measure's own
 * sensitivity.
 */
interface Kind {
  readonly name: 'laplace' | 'gaussian';
  readonly noise: Allotment['noise'];
  readonly weight: (cells: number) => number;
}
const laplace: Kind = { name: 'laplace', noise: 'pure', weight: Math.cbrt };
const gaussian: Kind = { name: 'gaussian', noise: 'zcdp', weight: Math.sqrt };

function under(
  kind: Kind,
  measures: readonly Measure[],
  route: Route,
  budget: Rational,
  slicing?: Slicing,
  fitted?: Fitted,
): Candidate {
  const { name, noise, weight } = kind;
  const { scope } = route.amplifier;
  const mechanisms = allocate(measures, fitted?.shared ?? scope, (m) => weight(entering(m)), slicing).map((share, k) =>
    noised(
      measures[k]!,
      { noise, amount: multiply(budget, share) },
      fitted?.each(measures[k]!) ?? payingFor(measures[k]!, scope, slicing),
    ),
  );
  const error = expectedError(measures, mechanisms, scope);
  const make = (other: Rational) => under(kind, measures, route, other, slicing, fitted);
  const profile = costTogether(mechanisms);
  return { route, kind: name, mechanisms, profile, error, budget, make, ...(slicing && { slicing }) };
}

/**
 * Noise is scaled to the sensitivity within a value of a public column if the budget was found by those values:
 * for a table by that column it is below the sensitivity to a change of the value.
 */
function payingFor({ effects }: Measure, scope: Scope, slicing: Slicing | undefined): Scope {
  if (slicing === undefined) return scope;
  const own: Scope = (record) => isSlice(record) && boxIn(record).of === slicing;
  return [...effects.keys()].some(own) ? own : scope;
}

/** A measure is its own factor if it depends on one column's answers only. */
const isFactored = (m: Measure): boolean => [...m.effects.keys()].filter(isPart).length <= 1;

const mechanisms: {
  [K in Measure['mechanism']]: (
    m: Extract<Measure, { mechanism: K }>,
    allotment: Allotment,
    scope: Scope,
  ) => Additive | Selection;
} = {
  additive: (m, allotment, scope) =>
    additive(
      {
        name: m.name,
        cells: m.cells.length,
        effects: m.effects,
        unit: toNumber(m.grid),
        factored: isFactored(m),
        ...(m.tables !== undefined && { tables: m.tables }),
      },
      allotment,
      scope,
    ),
  ordered: (m, allotment, scope) =>
    additive(
      {
        name: m.name,
        cells: m.cells.length,
        effects: m.effects,
        // Of a range of positions, over all of them; of a cell.
        unit: Math.sqrt('parent' in m.strategy ? meanNumbers(m.strategy) : readingOf(m.strategy).meanVariance()),
        factored: isFactored(m),
      },
      allotment,
      scope,
    ),
  exponential: (m, allotment, scope) =>
    selection({ name: m.name, cells: m.cells.length, effects: m.effects, factored: isFactored(m) }, allotment, scope),
};

export const noised = <M extends Measure>(m: M, allotment: Allotment, scope: Scope): MechanismOf<M> =>
  (mechanisms[m.mechanism] as (m: Measure, allotment: Allotment, scope: Scope) => Additive | Selection)(
    m,
    allotment,
    scope,
  ) as MechanismOf<M>;

/** Noisy cells over all the tables that are computed from a measure. */
const entering = (m: Measure): number =>
  m.mechanism === 'additive' ? (m.worth ?? m.cells.length * (m.tables ?? 1)) : m.cells.length;

function expectedError(measures: readonly Measure[], mechanisms: readonly Mechanism[], scope: Scope): number {
  return measures.reduce((total, m, k) => {
    const { law } = mechanisms[k]!;
    const effect = Number(largest(m.effects, 'l1', scope));
    if (law.kind === 'none') return total;
    if (law.kind === 'selection') return total + m.cells.length / (effect * toNumber(law.sharpness)) ** 2;
    return total + (entering(m) * varianceOf(law)) / effect ** 2;
  }, 0);
}
