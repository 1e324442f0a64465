import type { Measure } from '../count/measure.js';
import { sqrtDown } from '../exact/outward.js';
import { divide, fromNumber, isPositive, multiply, type Rational, rational, toNumber, toNumberDown } from '../exact/rational.js';
import { type Noise, roundUp, varianceOf } from '../mechanism/law.js';
import {
  addProfiles,
  emptyPure,
  emptyZcdp,
  type Profile,
  pureProfile,
  type RecordClass,
  type Spent,
  spend,
  zcdpProfile,
} from '../mechanism/profile.js';
import { type Account, isPlain, keeps, type Route, speaksAbout, spentUnder } from './account.js';
import { allocate } from './allocate.js';
import { meets } from './reading.js';

/** One way to answer a batch within its share of the account. */
export interface NoisePlan {
  readonly route: Route;
  readonly kind: 'laplace' | 'gaussian';
  /** One per measure. */
  readonly noise: readonly Noise[];
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

/** The pure epsilon that rho pays for inside a zCDP account: epsilon costs epsilon^2/2. */
export const pureInside = (rho: Rational): Rational => rootDown(multiply(rho, two));
const rootDown = (x: Rational): Rational => fromNumber(sqrtDown(toNumberDown(x)));

interface Law {
  readonly kind: 'laplace' | 'gaussian';
  readonly size: 'l1' | 'l2squared';
  /** Shares that minimise the total squared error, in units of each measure's own effect. */
  readonly weight: (cells: number) => number;
  readonly additive: (effect: Rational, part: Rational) => Noise;
  readonly sharpness: (effect: Rational, part: Rational) => Rational;
  readonly profile: (costs: readonly (readonly [RecordClass, Rational])[], factored: boolean) => Profile;
  readonly start: Profile;
}
const two = rational(2);
/** epsilon = effect / scale; a selection costs 2 x sharpness x effect. */
const laplace: Law = {
  kind: 'laplace',
  size: 'l1',
  weight: Math.cbrt,
  additive: (effect, epsilon) => ({ kind: 'laplace', scale: roundUp(divide(effect, epsilon)) }),
  sharpness: (effect, epsilon) => divide(epsilon, multiply(two, effect)),
  profile: pureProfile,
  start: emptyPure,
};
/** rho = effect^2 / (2 variance); a selection costs sharpness^2 x effect^2 / 2 (an epsilon-DP selection is epsilon^2/8-zCDP). */
const gaussian: Law = {
  kind: 'gaussian',
  size: 'l2squared',
  weight: Math.sqrt,
  additive: (effect, rho) => ({ kind: 'gaussian', variance: roundUp(divide(effect, multiply(two, rho))) }),
  sharpness: (effect, rho) => rootDown(divide(multiply(two, rho), effect)),
  profile: zcdpProfile,
  start: emptyZcdp,
};

function under(law: Law, measures: readonly Measure[], route: Route, budget: Rational): Omit<NoisePlan, 'fits'> {
  const { scope } = route.amplifier;
  const parts = allocate(measures, scope, (m) => law.weight(entering(m))).map((share) => multiply(budget, share));
  const noise = measures.map((m, k): Noise => {
    const effect = largest(m, scope, law.size);
    if (effect === 0n) return { kind: 'none' };
    if (m.mechanism === 'exponential') return { kind: 'selection', sharpness: law.sharpness(rational(effect), parts[k]!) };
    return law.additive(rational(effect), parts[k]!);
  });
  const profile = measures.reduce(
    (total, m, k) => addProfiles(total, law.profile(costs(m, scope, law.size, parts[k]!), isFactored(m))),
    law.start,
  );
  return { route, kind: law.kind, noise, profile, error: expectedError(measures, noise, scope) };
}

/** Noisy cells over all the tables that are read off a measure. */
const entering = (m: Measure): number => m.cells.length * ((m.mechanism === 'additive' ? m.tables : undefined) ?? 1);

type Scope = (record: RecordClass) => boolean;
const largest = (m: Measure, scope: Scope, size: 'l1' | 'l2squared'): bigint => {
  let most = 0n;
  for (const [name, effect] of m.effects) if (scope(name) && effect[size] > most) most = effect[size];
  return most;
};
/** A measure is its own factor when only one column's answers can move it. */
const isFactored = (m: Measure): boolean => [...m.effects.keys()].filter((name) => name !== '*').length <= 1;

/**
 * What the noise costs every class the measure touches, also those outside the route that chose it: the part allotted, in proportion to the effect.
 * (Scales were rounded up, so this is at least the true cost; booking the allotment keeps the ledger's fractions short.)
 */
const costs = (m: Measure, scope: Scope, size: 'l1' | 'l2squared', part: Rational): [RecordClass, Rational][] => {
  const most = largest(m, scope, size);
  if (most === 0n) return [];
  return [...m.effects].map(([name, effect]) => [name, multiply(part, rational(effect[size], most))]);
};

function expectedError(measures: readonly Measure[], noise: readonly Noise[], scope: Scope): number {
  return measures.reduce((total, m, k) => {
    const law = noise[k]!;
    const effect = Number(largest(m, scope, 'l1'));
    if (law.kind === 'none') return total;
    if (law.kind === 'selection') return total + m.cells.length / (effect * toNumber(law.sharpness)) ** 2;
    return total + (entering(m) * varianceOf(law)) / effect ** 2;
  }, 0);
}
