import type { Measure, MechanismOf } from '../count/measure.js';
import { add, compare, isPositive, multiply, one, type Rational, rational, subtract, toNumber } from '../exact/rational.js';
import { type Additive, additive } from '../mechanism/additive.js';
import { type Allotment, pureInside } from '../mechanism/allotment.js';
import { largest, type Scope } from '../mechanism/effect.js';
import { varianceOf } from '../mechanism/law.js';
import { costTogether, type Mechanism } from '../mechanism/mechanism.js';
import { meanNumbers } from '../mechanism/ordered/forest.js';
import { readingOf } from '../mechanism/ordered/reading.js';
import { type Profile, paidBySlice, type Spent, spend } from '../mechanism/profile.js';
import { along, boxIn, columnsIn, everyRecord, isPart, isSlice, type Slicing } from '../mechanism/record-class.js';
import { type Selection, selection } from '../mechanism/select.js';
import { isEverything, largestOn } from '../mechanism/slices.js';
import { type Account, isPlain, keeps, type Route, speaksAbout, spentUnder, usedShare } from './account.js';
import { allocate, combinationsOf } from './allocate.js';
import { movesAlong, partAlong, roomAlong, saysAlong } from './by-pairs.js';
import { type About, aboutOf, roomOn, valuesAbout } from './by-slice.js';
import { meets } from './reading.js';

/** One way to answer a batch within its share of the account. */
export interface NoisePlan {
  readonly route: Route;
  readonly kind: 'laplace' | 'gaussian';
  /** One per measure. */
  readonly mechanisms: readonly MechanismOf[];
  readonly profile: Profile;
  /** The public column by whose values the budget was divided and found. */
  readonly slicing?: Slicing;
  /** Sum over cells of the noise variance in units of what one record can move: comparable between measures. */
  readonly error: number;
  /** Whether the account still has room for it. */
  readonly fits: boolean;
}

/** All candidates, best first; the caller takes the first (which fits if any does). */
export function chooseNoise(measures: readonly Measure[], account: Account, share: Rational, spent: Spent): readonly NoisePlan[] {
  const plans: Omit<NoisePlan, 'fits'>[] = [];
  const about = aboutOf(measures);
  for (const route of account.routes) {
    const { scope, factoredOnly } = route.amplifier;
    const speaksOf = (noise: Profile['noise']) => route.conditions.every((c) => meets(c, noise, { measures }));
    if (!measures.every((m) => speaksAbout(scope, m.effects.keys()))) continue;
    if (factoredOnly && !measures.every(isFactored)) continue;
    // A route that does not speak about what was spent before cannot promise anything about what comes next.
    if (spentUnder(route, spent) === undefined) continue;
    const onlyPure = spent.zcdp.perRecord.size === 0;
    // What another route of the same amplifier says about pure noise need not be said twice.
    const plain = isPlain(route);
    for (const slicing of [undefined, ...route.slicings.filter((s) => isWorth(s, measures, about))]) {
      const capacity = slicing === undefined ? route.pureCapacity : roomOn(route, slicing, valuesAbout(about, slicing)!);
      if (onlyPure && plain && isPositive(capacity) && speaksOf('pure'))
        plans.push(under(laplace, measures, route, multiply(capacity, share), slicing));
      if (factoredOnly || !route.gaussian || !isPositive(route.gaussian.capacity)) continue;
      const rho = multiply(route.gaussian.capacity, share);
      if (speaksOf('zcdp')) plans.push(under(gaussian, measures, route, rho, slicing));
      if (!onlyPure && plain && speaksOf('pure')) plans.push(under(laplace, measures, route, pureInside(rho), slicing));
    }
    const near = alongPairs(route, measures, share, { onlyPure, speaksOf });
    // Noise for any replacing costs a pair less than was asked for. It stands in where what is left allows what was asked for and only roundings or other ratios of own and full are in the way; never for asking too much.
    if (near.length > 0 && (route.amplifier.strangers || asksTooMuch(account, share, spent, about)))
      plans.splice(0, plans.length, ...plans.filter((p) => p.route !== route || p.slicing !== undefined));
    plans.push(...near);
  }
  const gains = (plan: (typeof plans)[number]) =>
    plan.slicing === undefined ||
    // By the values of a column nothing is gained where one number says as much, nor where those of another would pay for it. Combinations pay for nothing that their columns do not.
    (!plans.some((p) => p.slicing === undefined && p.route === plan.route && p.kind === plan.kind && p.error <= plan.error) &&
      (columnsIn(plan.slicing).length > 1 ||
        [...about]
          .filter(([, values]) => !isEverything(values))
          .every(([other]) => compare(dearest(plan.profile, other), dearest(plan.profile, plan.slicing!)) <= 0)));
  return (
    plans
      .filter(gains)
      // By its own route: the promise printed with the plan is that route's.
      .map((plan) => ({ ...plan, fits: keeps(plan.route, spend(spent, account.book(plan.profile, { measures }))) }))
      .sort((a, b) => Number(b.fits) - Number(a.fits) || a.error - b.error)
  );
}

/** Roundings take no more. */
const crumb = rational(1, 1000);
const asksTooMuch = (account: Account, share: Rational, spent: Spent, about: About): boolean =>
  compare(share, add(subtract(one, usedShare(account, spent, about)), crumb)) > 0;

interface Spoken {
  /** No Gaussian noise was ever used. */
  readonly onlyPure: boolean;
  readonly speaksOf: (noise: Profile['noise']) => boolean;
}

/** The same with noise for what replacing a record along a declared pair moves: all of it where nobody is tied, beside what ties carry of the others otherwise (by-pairs.ts). */
function alongPairs(
  route: Route,
  measures: readonly Measure[],
  share: Rational,
  { onlyPure, speaksOf }: Spoken,
): readonly Omit<NoisePlan, 'fits'>[] {
  const { pairs, amplifier, pureCapacity, gaussian: bound } = route;
  if (pairs === undefined || !measures.some(({ effects }) => effects.has(everyRecord))) return [];
  if (!measures.every(({ effects }) => saysAlong(effects, pairs))) return [];
  const plain = isPlain(route) && speaksOf('pure');
  if (!amplifier.strangers) {
    const part = partAlong(measures, pairs);
    if (!onlyPure || !plain || compare(part, one) >= 0) return [];
    const room = roomAlong(route, part);
    return isPositive(room) ? [under(laplace, measures, route, multiply(room, share))] : [];
  }
  const own: Scope = (record) => record === along(pairs);
  const fitted = {
    shared: own,
    // What no pair moves costs nothing along pairs, whatever its noise.
    each: (m: Measure) => (movesAlong(m.effects, pairs) ? own : amplifier.scope),
  };
  const rho = bound && isPositive(bound.capacity) ? multiply(bound.capacity, share) : undefined;
  return [
    ...(onlyPure && plain ? [under(laplace, measures, route, multiply(pureCapacity, share), undefined, fitted)] : []),
    ...(rho && speaksOf('zcdp') ? [under(gaussian, measures, route, rho, undefined, fitted)] : []),
    ...(rho && !onlyPure && plain ? [under(laplace, measures, route, pureInside(rho), undefined, fitted)] : []),
  ];
}

const dearest = (profile: Profile, slicing: Slicing): Rational => largestOn(paidBySlice(profile, slicing));

/** Combinations of columns are looked at where two of them are asked about, and where there are not too many. */
const mostCombinations = 10_000;
const isWorth = (slicing: Slicing, measures: readonly Measure[], about: About): boolean => {
  const asked = columnsIn(slicing).filter((column) => about.has(column)).length;
  return columnsIn(slicing).length === 1 ? asked === 1 : asked > 1 && combinationsOf(measures, slicing) <= mostCombinations;
};

/** The two kinds of noise, with the shares that minimise the total squared error in units of each measure's own effect. */
interface Kind {
  readonly name: 'laplace' | 'gaussian';
  readonly noise: Allotment['noise'];
  readonly weight: (cells: number) => number;
}
const laplace: Kind = { name: 'laplace', noise: 'pure', weight: Math.cbrt };
const gaussian: Kind = { name: 'gaussian', noise: 'zcdp', weight: Math.sqrt };

function under(
  { name, noise, weight }: Kind,
  measures: readonly Measure[],
  route: Route,
  budget: Rational,
  slicing?: Slicing,
  fitted?: { readonly shared: Scope; readonly each: (m: Measure) => Scope },
): Omit<NoisePlan, 'fits'> {
  const { scope } = route.amplifier;
  const mechanisms = allocate(measures, fitted?.shared ?? scope, (m) => weight(entering(m)), slicing).map((share, k) =>
    noised(
      measures[k]!,
      { noise, amount: multiply(budget, share) },
      fitted?.each(measures[k]!) ?? payingFor(measures[k]!, scope, slicing),
    ),
  );
  const error = expectedError(measures, mechanisms, scope);
  return { route, kind: name, mechanisms, profile: costTogether(mechanisms), error, ...(slicing && { slicing }) };
}

/** Noise is fitted to what the values of a public column move, where the budget was found by them: less, for a table by that column, than a record that could change its value would. */
function payingFor({ effects }: Measure, scope: Scope, slicing: Slicing | undefined): Scope {
  if (slicing === undefined) return scope;
  const own: Scope = (record) => isSlice(record) && boxIn(record).of === slicing;
  return [...effects.keys()].some(own) ? own : scope;
}

/** A measure is its own factor when only one column's answers can move it. */
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

/** Noisy cells over all the tables that are read off a measure. */
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
