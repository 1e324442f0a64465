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
} from '../dependence/profile.js';
import { sqrtDown } from '../exact/outward.js';
import { divide, fromNumber, isPositive, multiply, type Rational, rational, toNumber, toNumberDown } from '../exact/rational.js';
import type { Measure } from '../query/measure.js';
import { type Account, isKept, type Route } from './account.js';
import { allocate } from './allocate.js';
import { type Noise, roundUp, varianceOf } from './noise.js';

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
  const plans: NoisePlan[] = [];
  for (const route of account.routes) {
    if (!measures.every((m) => m.effects.size === 0 || [...m.effects.keys()].some(route.amplifier.scope))) continue;
    if (spent.zcdp.perRecord.size === 0 && isPositive(route.pureCapacity))
      plans.push(pure(measures, route, multiply(route.pureCapacity, share), account, spent));
    if (!route.zcdpCapacity || !isPositive(route.zcdpCapacity)) continue;
    const rho = multiply(route.zcdpCapacity, share);
    if (!route.amplifier.factoredOnly) {
      plans.push(gaussian(measures, route, rho, account, spent));
      // Pure noise inside a zCDP account: epsilon costs epsilon^2/2.
      if (spent.zcdp.perRecord.size > 0) plans.push(pure(measures, route, rootDown(multiply(rho, rational(2))), account, spent));
    }
  }
  return plans.sort((a, b) => Number(b.fits) - Number(a.fits) || a.error - b.error);
}

const rootDown = (x: Rational): Rational => fromNumber(sqrtDown(toNumberDown(x)));
const cells = (m: Measure): number => m.cells.length;

/** Laplace: epsilon_m proportional to cells^(1/3) minimises the total squared error in units of each measure's own effect. */
function pure(measures: readonly Measure[], route: Route, base: Rational, account: Account, spent: Spent): NoisePlan {
  const { scope } = route.amplifier;
  const parts = allocate(measures, scope, (m) => cells(m) ** (1 / 3)).map((share) => multiply(base, share));
  const noise = measures.map((m, k): Noise => {
    const effect = largest(m, scope, 'l1');
    if (effect === 0n) return { kind: 'none' };
    if (m.mechanism === 'exponential') return { kind: 'selection', sharpness: divide(parts[k]!, rational(2n * effect)) };
    return { kind: 'laplace', scale: roundUp(divide(rational(effect), parts[k]!)) };
  });
  const profile = measures.reduce(
    (total, m, k) => addProfiles(total, pureProfile(costs(m, scope, 'l1', parts[k]!), isFactored(m))),
    emptyPure,
  );
  return {
    route,
    kind: 'laplace',
    noise,
    profile,
    error: expectedError(measures, noise, scope),
    fits: isKept(account, spend(spent, profile)),
  };
}

/** Gaussian: rho_m proportional to cells^(1/2) does the same. */
function gaussian(measures: readonly Measure[], route: Route, rho: Rational, account: Account, spent: Spent): NoisePlan {
  const { scope } = route.amplifier;
  const parts = allocate(measures, scope, (m) => Math.sqrt(cells(m))).map((share) => multiply(rho, share));
  const noise = measures.map((m, k): Noise => {
    // The exponential mechanism with epsilon is epsilon^2/8-zCDP.
    if (m.mechanism === 'exponential') return { kind: 'exponential', epsilon: rootDown(multiply(parts[k]!, rational(8))) };
    return {
      kind: 'gaussian',
      variance: roundUp(divide(rational(largest(m, scope, 'l2squared')), multiply(parts[k]!, rational(2)))),
    };
  });
  const profile = measures.reduce(
    (total, m, k) => addProfiles(total, zcdpProfile(costs(m, scope, 'l2squared', parts[k]!))),
    emptyZcdp,
  );
  return {
    route,
    kind: 'gaussian',
    noise,
    profile,
    error: expectedError(measures, noise, scope),
    fits: isKept(account, spend(spent, profile)),
  };
}

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
    return total + (m.cells.length * varianceOf(law)) / effect ** 2;
  }, 0);
}
