import type { Measure, MechanismOf } from '../count/measure.js';
import { isPositive, multiply, type Rational, toNumber } from '../exact/rational.js';
import { type Additive, additive } from '../mechanism/additive.js';
import { type Allotment, pureInside } from '../mechanism/allotment.js';
import { largest, type Scope } from '../mechanism/effect.js';
import { varianceOf } from '../mechanism/law.js';
import { costTogether, type Mechanism } from '../mechanism/mechanism.js';
import { type Profile, type Spent, spend } from '../mechanism/profile.js';
import { isPart } from '../mechanism/record-class.js';
import { type Selection, selection } from '../mechanism/select.js';
import { type Account, isPlain, keeps, type Route, speaksAbout, spentUnder } from './account.js';
import { allocate } from './allocate.js';
import { meets } from './reading.js';

/** One way to answer a batch within its share of the account. */
export interface NoisePlan {
  readonly route: Route;
  readonly kind: 'laplace' | 'gaussian';
  /** One per measure. */
  readonly mechanisms: readonly MechanismOf[];
  readonly profile: Profile;
  /** Sum over cells of the noise variance in units of what one record can move: comparable between measures. */
  readonly error: number;
  /** Whether the account still has room for it. */
  readonly fits: boolean;
}

/** All candidates, best first; the caller takes the first (which fits if any does). */
export function chooseNoise(measures: readonly Measure[], account: Account, share: Rational, spent: Spent): readonly NoisePlan[] {
  const plans: Omit<NoisePlan, 'fits'>[] = [];
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
    if (onlyPure && plain && isPositive(route.pureCapacity) && speaksOf('pure'))
      plans.push(under(laplace, measures, route, multiply(route.pureCapacity, share)));
    if (factoredOnly || !route.gaussian || !isPositive(route.gaussian.capacity)) continue;
    const rho = multiply(route.gaussian.capacity, share);
    if (speaksOf('zcdp')) plans.push(under(gaussian, measures, route, rho));
    if (!onlyPure && plain && speaksOf('pure')) plans.push(under(laplace, measures, route, pureInside(rho)));
  }
  return (
    plans
      // By its own route: the promise printed with the plan is that route's.
      .map((plan) => ({ ...plan, fits: keeps(plan.route, spend(spent, account.book(plan.profile, { measures }))) }))
      .sort((a, b) => Number(b.fits) - Number(a.fits) || a.error - b.error)
  );
}

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
): Omit<NoisePlan, 'fits'> {
  const { scope } = route.amplifier;
  const mechanisms = allocate(measures, scope, (m) => weight(entering(m))).map((share, k) =>
    noised(measures[k]!, { noise, amount: multiply(budget, share) }, scope),
  );
  return { route, kind: name, mechanisms, profile: costTogether(mechanisms), error: expectedError(measures, mechanisms, scope) };
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
const entering = (m: Measure): number => m.cells.length * ((m.mechanism === 'additive' ? m.tables : undefined) ?? 1);

function expectedError(measures: readonly Measure[], mechanisms: readonly Mechanism[], scope: Scope): number {
  return measures.reduce((total, m, k) => {
    const { law } = mechanisms[k]!;
    const effect = Number(largest(m.effects, 'l1', scope));
    if (law.kind === 'none') return total;
    if (law.kind === 'selection') return total + m.cells.length / (effect * toNumber(law.sharpness)) ** 2;
    return total + (entering(m) * varianceOf(law)) / effect ** 2;
  }, 0);
}
