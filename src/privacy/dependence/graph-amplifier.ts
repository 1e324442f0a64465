import { addUp, mulUp, subUp } from '../../base/exact/outward.js';
import { add, divide, isZero, type Rational, toNumberDown, toNumberUp, toText } from '../../base/exact/rational.js';
import type { Adversary } from '../../policy/policy.js';
import { answersTo, type RecordClass, type Slicing } from '../mechanism/record-class.js';
import type { ClassScope } from '../mechanism/sensitivity.js';
import { pureOfZcdp, zcdpOfPure } from '../mechanism/zcdp-of-pure.js';
import type { Amplifier, GaussianBound, MixedCost, RecordUse } from './amplifier.js';
import { type BaseCost, type BaseCosts, baseCostOf, commonBaseCost, isJointBaseCost, isSlicedBaseCost } from './base-cost.js';
import { type BoundsCache, type CachedBounds, emptyBounds, getOrMake, sharedBoundsCache } from './bounds-cache.js';
import { onlySums, type ReleaseCondition } from './condition.js';
import { type GaussianSums, gaussianSums, gaussianSumsText } from './gaussian/sums.js';
import { distinctComponents } from './graph/distinct.js';
import type { FactorGraph } from './graph/factor-graph.js';
import { lazy } from './graph/pair-graph.js';
import { largestBaseOn } from './largest-base.js';
import { largestBelow } from './largest-below.js';
import { leakageCalculator } from './leakage.js';
import type { Model } from './model/model.js';
import { slicedLeakage } from './sliced-leakage.js';
import { directDistributions } from './uninformed/direct-clusters.js';
import { type Percolation, percolation, percolationOf } from './uninformed/percolation.js';
import { whatIfOf } from './what-if.js';

export interface GraphRoute {
  readonly name: string;
  readonly graph: FactorGraph;
  /**
   * Model from which the graph was derived, if its tables are known: an uninformed attacker learns less than its odds ratios
   * permit.
   */
  readonly model?: Model;
  /** 1 for records that releases may use; the others have no cost. All records when absent. */
  readonly used?: Uint8Array | undefined;
  readonly leftOut?: RecordUse;
  readonly conditions?: readonly ReleaseCondition[];
  readonly scope: ClassScope;
  /** The values of the graph's records in public columns, NaN for none. */
  readonly values?: ReadonlyMap<Slicing, Float64Array>;
  /** Columns whose answers are the records of the graph, in its order; for a model these are its ids. */
  readonly columns?: readonly string[];
  readonly adversary: Adversary;
  readonly reach: 'any' | 'direct';
  /** All ties are attractive, through a two-valued attribute (alike/attractive-bound.proof.md). */
  readonly pull?: 'alike' | undefined;
  readonly assumptions: readonly string[];
  readonly method: string;
}

/**
 * Amplifier of a factor graph: a base for each record that is a class of its own, otherwise one common base for all used records.
 */
export function graphAmplifier(route: GraphRoute, cache: BoundsCache = sharedBoundsCache): Amplifier {
  const { model, adversary, reach, pull, scope } = route;
  const tables = adversary === 'uninformed' ? model : undefined;
  const classes = route.columns && (tables?.ids ?? route.columns).map(answersTo);
  // If one number is every record's cost, one component of each shape suffices.
  const { graph, used } = classes || tables ? route : distinctComponents(route.graph, route.used);
  const declared = { graph, adversary, reach, pull, used };
  const cached: CachedBounds = tables ? emptyBounds() : cache(declared);
  const calculator = lazy(() => leakageCalculator(tables ?? graph, adversary, { reach, pull, used }));
  const spentBy = (list: readonly RecordClass[], base: BaseCost, times = 1): Float64Array =>
    Float64Array.from(list, (record) => mulUp(times, toNumberUp(baseCostOf(base, record))));
  const largest = (epsilon: Rational): Rational =>
    getOrMake(cached.bases, toText(epsilon), () => largestBaseOn(calculator(), epsilon));
  const largestMultiple = (epsilon: Rational, parts: BaseCosts): Rational => {
    const most = commonBaseCost(parts, scope);
    if (isZero(most)) throw new RangeError('parts of nothing have no largest multiple');
    if (!classes) return divide(largest(epsilon), most);
    const limit = toNumberDown(epsilon);
    const worst = (times: number) => calculator().leakage(spentBy(classes, parts, times)).worst.leakage;
    return largestBelow(worst, limit, limit / toNumberDown(most));
  };
  const bySlice = slicedLeakage(route);
  const leakage = (base: BaseCost): number => {
    const common = commonBaseCost(base, scope);
    if (isZero(common)) return 0;
    if (isSlicedBaseCost(base) || isJointBaseCost(base)) return bySlice(base) ?? leakage(common);
    if (classes) return calculator().leakage(spentBy(classes, base)).worst.leakage;
    const spent = toNumberUp(common);
    return getOrMake(cached.leaks, spent, () => calculator().worst(spent));
  };
  // Every bound is a record's own cost plus what ties pass on, so its own cost can be exchanged; unused records spend nothing.
  const along = (full: Rational, own: Rational): number => {
    if (graph.factors === 0) return toNumberUp(own);
    const [spent, less] = [toNumberUp(full), toNumberUp(own)];
    if (!used) return addUp(subUp(leakage(full), spent), less);
    const leaks = calculator().leakage(spent).perRecord;
    return leaks.reduce((most, leak, u) => Math.max(most, used[u] ? addUp(subUp(leak, spent), less) : leak), 0);
  };
  // Unless direct reach is assumed, Gaussian noise is accounted against the informed adversary.
  const clusters = () =>
    (cached.clusters ??= reach === 'direct' ? percolationOf(directDistributions(graph, used)) : percolation(graph, used));
  const sums = () => (cached.sums ??= gaussianSums(graph, reach, used));
  return {
    name: route.name,
    scope,
    leakage,
    ...(!classes && { along }),
    ...(graph.factors === 0 && !classes && { strangers: true as const }),
    ...(route.values && { slicings: new Set(route.values.keys()) }),
    largestBase: (epsilon, parts) => (parts ? largestMultiple(epsilon, parts) : largest(epsilon)),
    gaussian: [boundOfEveryRelease(clusters), ...(graph.factors > 0 ? [boundOnSums(sums)] : [])],
    whatIf: (exact) => {
      if (graph.factors === 0) return [];
      const base = toNumberUp(exact);
      return getOrMake(cached.whatIfs, base, () => whatIfOf(declared, base, tables ? undefined : calculator()));
    },
    factoredOnly: false,
    conditions: route.conditions ?? [],
    ...(route.leftOut && { leftOut: route.leftOut }),
    assumptions: route.assumptions,
    method: route.method,
  };
}

/** Every pure draw at its own zCDP cost (privacy/mechanism/zcdp-of-pure.proof.md). */
const asRho = ({ rho, pure, total }: MixedCost): Rational => total ?? add(rho, zcdpOfPure(pure));
const boundOfEveryRelease = (clusters: () => Percolation): GaussianBound => ({
  conditions: [],
  delta: (rho, epsilon) => clusters().delta(rho, epsilon),
  epsilon: (spent, delta) => clusters().epsilon(asRho(spent), delta),
  largestRho: (epsilon, delta) => clusters().largestRho(epsilon, delta),
  counted: asRho,
  pureWithin: pureOfZcdp,
  method: 'Gaussian noise by the cluster of records that may change with one (percolation over the declared ties).',
});
const boundOnSums = (sums: () => GaussianSums): GaussianBound => ({
  conditions: [onlySums],
  delta: (rho, epsilon) => sums().delta(rho, epsilon),
  deltaBelow: (...calculator) => sums().deltaBelow(...calculator),
  epsilon: (spent, delta) => sums().epsilon(spent, delta),
  largestRho: (epsilon, delta) => sums().largestRho(epsilon, delta),
  counted: (...calculator) => sums().counted(...calculator),
  pureWithin: (...calculator) => sums().pureWithin(...calculator),
  method: gaussianSumsText,
});
