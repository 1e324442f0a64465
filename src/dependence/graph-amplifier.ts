import { addUp, logUp, mulUp } from '../exact/outward.js';
import { add, divide, isZero, multiply, type Rational, rational, toNumberDown, toNumberUp } from '../exact/rational.js';
import type { Scope } from '../mechanism/effect.js';
import { answersTo } from '../mechanism/record-class.js';
import type { Adversary } from '../policy/policy.js';
import type { Amplifier, GaussianBound, LeftOut, Mixed } from './amplifier.js';
import { type Base, type Bases, baseOf, commonBase } from './base.js';
import { type Condition, onlySums } from './condition.js';
import { type GaussianSums, gaussianSums, gaussianSumsHow } from './gaussian/sums.js';
import { type FactorGraph, withOdds } from './graph/factor-graph.js';
import { withPendants } from './graph/pendants.js';
import { largestBelow } from './largest-below.js';
import { largestBaseOf, type Ties, ties, withTwins } from './leakage.js';
import type { Model } from './model/model.js';
import { directLaws } from './uninformed/direct-clusters.js';
import { type Percolation, percolation, percolationOf } from './uninformed/percolation.js';

export interface GraphRoute {
  readonly name: string;
  readonly graph: FactorGraph;
  /** The model the graph was read from, where its tables are known: an uninformed adversary gains less than its odds ratios allow. */
  readonly model?: Model;
  /** 1 for records that releases may use; the others have no effect of their own. Everybody when absent. */
  readonly used?: Uint8Array;
  readonly leftOut?: LeftOut;
  readonly conditions?: readonly Condition[];
  readonly scope: Scope;
  /** Where the records of the graph are the answers to columns: which, in the graph's order. Those of the model are its ids. */
  readonly columns?: readonly string[];
  readonly adversary: Adversary;
  readonly reach: 'any' | 'direct';
  readonly assumptions: readonly string[];
  readonly how: string;
}

/** The calculus on a factor graph: a base for each record that is a class of its own, one common base for all used records otherwise. */
export function graphAmplifier(route: GraphRoute): Amplifier {
  const { graph, model, adversary, reach, used } = route;
  const tables = adversary === 'uninformed' ? model : undefined;
  const asked = usedOnly(ties(tables ?? graph, adversary, { reach }), used);
  const classes = route.columns && (tables?.ids ?? route.columns).map(answersTo);
  const spentBy = (base: Base, times = 1): Float64Array | number =>
    classes
      ? Float64Array.from(classes, (record) => mulUp(times, toNumberUp(baseOf(base, record))))
      : mulUp(times, toNumberUp(commonBase(base, route.scope)));
  const largestMultiple = (epsilon: Rational, parts: Bases): Rational => {
    const most = commonBase(parts, route.scope);
    if (isZero(most)) throw new RangeError('parts of nothing have no largest multiple');
    if (!classes) return divide(largestBaseOf(asked, epsilon), most);
    const limit = toNumberDown(epsilon);
    return largestBelow((times) => asked.leakage(spentBy(parts, times)).worst.leakage, limit, limit / toNumberDown(most));
  };
  // Unless direct reach is assumed, Gaussian noise is accounted against the informed adversary.
  const clusters = atLast(() => (reach === 'direct' ? percolationOf(directLaws(graph, used)) : percolation(graph, used)));
  const sums = atLast(() => gaussianSums(graph, reach, used));
  const worstOf = (on: FactorGraph, mask: Uint8Array | undefined, base: number): number =>
    usedOnly(ties(on, adversary, { reach }), mask).leakage(base).worst.leakage;
  // Twins of records that are left out would be left out too; a new neighbour would not.
  const oneMore = (base: number): number =>
    used
      ? Math.max(worstOf(withTwins(graph), beside(used, used), base), worstOf(withPendants(graph), beside(used), base))
      : worstOf(withTwins(graph), undefined, base);
  return {
    name: route.name,
    scope: route.scope,
    leakage: (base) => (isZero(commonBase(base, route.scope)) ? 0 : asked.leakage(spentBy(base)).worst.leakage),
    largestBase: (epsilon, parts) => (parts ? largestMultiple(epsilon, parts) : largestBaseOf(asked, epsilon)),
    gaussian: [everyRelease(clusters), ...(graph.factors > 0 ? [onSums(sums)] : [])],
    whatIf: (exact) => {
      if (graph.factors === 0) return [];
      const base = toNumberUp(exact);
      const times = (k: number) =>
        worstOf(
          withOdds(graph, (d) => addUp(d, logUp(k))),
          used,
          base,
        );
      return [
        { change: 'odds ratios twice as large', leakage: times(2) },
        { change: 'odds ratios four times as large', leakage: times(4) },
        { change: 'one more tie per record', leakage: oneMore(base) },
      ];
    },
    factoredOnly: false,
    conditions: route.conditions ?? [],
    ...(route.leftOut && { leftOut: route.leftOut }),
    assumptions: route.assumptions,
    how: route.how,
  };
}

/** Worked out when somebody asks, once. */
function atLast<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** A pure epsilon is epsilon^2/2 of zCDP. */
const asRho = ({ rho, pure }: Mixed): Rational => add(rho, divide(multiply(pure, pure), rational(2)));
const everyRelease = (clusters: () => Percolation): GaussianBound => ({
  conditions: [],
  delta: (rho, epsilon) => clusters().delta(rho, epsilon),
  epsilon: (spent, delta) => clusters().epsilon(asRho(spent), delta),
  largestRho: (epsilon, delta) => clusters().largestRho(epsilon, delta),
  counted: asRho,
  how: 'Gaussian noise by the cluster of records that may change with one (percolation over the declared ties).',
});
const onSums = (sums: () => GaussianSums): GaussianBound => ({
  conditions: [onlySums],
  delta: (rho, epsilon) => sums().delta(rho, epsilon),
  epsilon: (spent, delta) => sums().epsilon(spent, delta),
  largestRho: (epsilon, delta) => sums().largestRho(epsilon, delta),
  counted: (...asked) => sums().counted(...asked),
  how: gaussianSumsHow,
});

/** The same ties, asked with one number: what each used record spends. */
function usedOnly(asked: Ties, used: Uint8Array | undefined): Ties {
  if (!used) return asked;
  const spread = (profile: Float64Array | number) =>
    typeof profile === 'number' ? Float64Array.from(used, (yes) => (yes ? profile : 0)) : profile;
  return {
    ...asked,
    leakage: (profile) => asked.leakage(spread(profile)),
    search: (profile) => asked.search(spread(profile)),
  };
}

/** Two sets of records side by side; everybody of the second when it is not given. */
function beside(first: Uint8Array, second?: Uint8Array): Uint8Array {
  const both = new Uint8Array(2 * first.length).fill(1);
  both.set(first);
  if (second) both.set(second, first.length);
  return both;
}
