import { Fault } from '../../base/errors.js';
import { compare, divide, isPositive, isZero, type Rational, rational, toNumber, toNumberUp } from '../../base/exact/rational.js';
import { refuseReserved } from '../../data/terms/reserved.js';
import type { TieKinds } from '../../data/ties/kinds.js';
import { readingsOf, slicingsOf } from '../../data/ties/slicings.js';
import { isAddRemove } from '../../policy/neighbours.js';
import type { Policy, Protect } from '../../policy/policy.js';
import type { Amplifier, GaussianBound } from '../../privacy/dependence/amplifier.js';
import type { ReleaseCondition } from '../../privacy/dependence/condition.js';
import { everyRecord, extendMark } from '../../privacy/mechanism/record-class.js';
import type { ValueSet } from '../../privacy/mechanism/slices.js';
import { type Account, type GaussianRoute, type LeakageRoute, reservedCostOf, type StepBudget } from './account.js';
import { mostAccounts } from './affected-accounts.js';
import { failureProbability, largestRhoForOdds } from './belief-delta.js';
import { foreignCosts, foreignReading } from './others.js';
import { accountSource } from './sources.js';

/** Every proven route with its capacities, before anything is spent. `progress` receives the amplifiers done. */
export function openAccount(
  policy: Policy,
  amplifiers: readonly Amplifier[],
  progress: (done: number) => void = () => undefined,
  kinds?: TieKinds,
): Account {
  refuseReserved([...policy.columns.keys(), ...policy.relations.keys()], policy.file);
  const { epsilon, delta } = policy.budget;
  const routes = amplifiers.map((amplifier, k): LeakageRoute => {
    const { method, conditions } = amplifier;
    const slicings = amplifier.scope(everyRecord) ? readingsOf(policy) : [];
    const pairs = amplifier.scope(everyRecord) && amplifier.along ? policy.protect.pairs?.digest : undefined;
    const pureCapacity = amplifier.largestBase(epsilon);
    const route: LeakageRoute = {
      amplifier,
      conditions,
      epsilon,
      pureCapacity,
      slicings,
      ...(pairs !== undefined && { pairs }),
      how: method,
    };
    progress(k + 1);
    return route;
  });
  const withGaussian = isZero(delta) ? routes : addGaussian(policy, routes);
  if (!withGaussian.some((r) => isPositive(r.pureCapacity) || (r.gaussian && isPositive(r.gaussian.capacity))))
    throw new Fault(
      'BUDGET_INVALID',
      'Under the declared ties no noise is small enough to be useful: the budget allows nothing to be spent.',
      'Raise epsilon, or declare weaker ties or smaller groups if that is true of your data.',
    );
  const source = accountSource(policy, kinds);
  const reservedCost = reservedCostOf(policy, withGaussian, source);
  const others = foreignCosts(policy.budget.others ?? {}, policy).map((cost) => reservedCost(cost, foreignReading));
  return {
    terms: termsOf(policy),
    epsilon,
    delta,
    routes: withGaussian,
    source,
    ...(policy.budget.per === 'step' && { stepBudget: stepBudgetOf(withGaussian, epsilon) }),
    ...partsIn(policy, kinds),
    ...(others.length > 0 && { others }),
    ...(policy.budget.analysts && { quotas: true as const }),
    reservedCost,
  };
}

/** Values of public columns one by one; none of them if there are many. The last declared value has no upper end. */
function partsIn(policy: Policy, kinds?: TieKinds): Pick<Account, 'parts'> {
  const columns = slicingsOf(policy, kinds);
  const count = columns.reduce((n, { first, last }) => n + last - first + 2, 0);
  if (count === 0 || count > mostAccounts - 4) return {};
  const parts = columns.flatMap(({ slicing, first, last }) => [
    ...Array.from({ length: last - first + 1 }, (_, k): ValueSet => {
      const from = first + k;
      return { ranges: [{ from, to: from === last ? Number.POSITIVE_INFINITY : from }], missing: false };
    }).map((values) => new Map([[slicing, values]])),
    new Map([[slicing, { ranges: [], missing: true }]]),
  ]);
  return { parts };
}

/** Budget of every step for an endless stream: it exists only for a chain that forgets. */
function stepBudgetOf(routes: readonly LeakageRoute[], epsilon: Rational): StepBudget {
  const [found] = routes.flatMap(({ amplifier: { steady } }) => (steady ? [steady] : []));
  if (!found)
    throw new Fault(
      'BUDGET_INVALID',
      'A budget per step needs a sequence that is the only tie, in the order of a declared integer whose bounds hold every step: otherwise nobody knows what is forgotten.',
      'Declare the order column, such as week: {type: integer, bounds: [0, 51]}, or leave per out.',
    );
  const each = found.base(epsilon);
  if (!isPositive(each))
    throw new Fault(
      'BUDGET_INVALID',
      'No budget per step lasts for ever: from some state another is certain, so what is said about one step is said about all.',
      'Leave per out: all steps then share one budget. Or declare transitions that forget.',
    );
  return { slicing: found.slicing, each };
}

/**
 * Gaussian capacities. The bound for every release comes first. A bound for some releases becomes a route of its own if it allows more
 * at its part of delta than the first would with all of it; otherwise it would cost delta for nothing.
 */
function addGaussian({ budget, protect }: Policy, routes: readonly LeakageRoute[]): LeakageRoute[] {
  const { epsilon, delta, belief } = budget;
  const gaussianWith = (bound: GaussianBound, parts: number): GaussianRoute => {
    const part = divide(delta, rational(parts));
    // A belief budget promises "except with probability delta" literally, which takes more than (epsilon, delta).
    const sure = belief ? largestRhoForOdds(bound, epsilon, part) : { rho: bound.largestRho(epsilon, part), epsilon };
    const failure = belief ? toNumberUp(part) : failureProbability(bound, sure.rho, epsilon);
    return { bound, capacity: sure.rho, delta: part, epsilon: sure.epsilon, failure };
  };
  const largestRho = (bound: GaussianBound, parts: number): Rational => {
    const part = divide(delta, rational(parts));
    return belief ? largestRhoForOdds(bound, epsilon, part).rho : bound.largestRho(epsilon, part);
  };
  const firsts = routes.filter((r) => r.amplifier.gaussian.length > 0).length;
  const further = routes.flatMap((r) => r.amplifier.gaussian.slice(1)).length;
  const worth = new Set(
    routes.flatMap(({ amplifier: { gaussian } }) =>
      gaussian.slice(1).filter((bound) => compare(largestRho(bound, firsts + further), largestRho(gaussian[0]!, firsts)) > 0),
    ),
  );
  const parts = firsts + worth.size;
  return routes.flatMap((route) => {
    const [first, ...others] = route.amplifier.gaussian;
    if (!first) return [route];
    return [
      { ...route, gaussian: gaussianWith(first, parts) },
      ...others
        .filter((bound) => worth.has(bound))
        .map((bound) => ({
          ...route,
          conditions: [...route.conditions, ...bound.conditions.map((c) => forSecret(c, protect))],
          gaussian: gaussianWith(bound, parts),
          how: bound.method,
        })),
    ];
  });
}

/** Marked by secret: the kept rows of a person depend on all rows of that person, so sums of rows are no sums of persons. */
const forSecret = (condition: ReleaseCondition, { secret, unit, maxRows }: Protect): ReleaseCondition => ({
  ...condition,
  mark: extendMark(condition.mark, [secret, ...(secret === 'person' ? [unit!, maxRows] : [])]),
});

export function termsOf(policy: Policy): Account['terms'] {
  const { budget, protect } = policy;
  const whose = protect.secret === 'person' ? `person by ${protect.unit}` : protect.secret;
  // Costs of adding a record do not bound replacing it, and the number of records is no longer free.
  // Nor do costs of one record bound several at once, or records under other known totals.
  const given = policy.known ? `known totals ${policy.known.digest} beside ${whose}` : whose;
  const secret = isAddRemove(policy) ? `presence of ${given}` : given;
  const parts = [`epsilon ${toNumber(budget.epsilon)}`, `secret ${secret}`, `adversary ${protect.adversary}`];
  if (!isZero(budget.delta)) parts.splice(1, 0, `delta ${toNumber(budget.delta)}`);
  return { digest: policy.digest, summary: [parts.join(', '), ...(policy.terms ?? [])].join('; ') };
}
