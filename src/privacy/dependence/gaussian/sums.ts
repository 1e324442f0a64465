import { addUp, divUp, expUp, log1pDown, log1pUp, logDown, mulDown, mulUp, subUp } from '../../../base/exact/outward.js';
import {
  add,
  divide,
  fromNumber,
  isPositive,
  multiply,
  type Rational,
  toNumberDown,
  toNumberUp,
  zero,
} from '../../../base/exact/rational.js';
import type { GaussianBound } from '../amplifier.js';
import { onlySums } from '../condition.js';
import type { FactorGraph } from '../graph/factor-graph.js';
import type { GraphWalk } from '../graph/walk.js';
import { layoutGraph } from '../informed/graph-layout.js';
import { informedBound } from '../informed/informed.js';
import { directBound } from '../uninformed/direct.js';
import { epsilonOn, largestRhoOn, lowest } from './delta-curve.js';

/**
 * Reach of a component: Gaussian noise on sums is amplified by C, the leakage per unit of a small common base. The bound also
 * depends on the number of spending records and on the length of paths (sums.proof.md).
 */
export interface ComponentReach {
  /** C of the worst record, rounded up. */
  readonly amplification: number;
  /** Sum of its records' cost shares (CostShares): their number if all spend the same. */
  readonly records: number;
  /** Smallest positive cost share among them; 1 when absent. */
  readonly least?: number;
  readonly nodes: number;
}

/**
 * Cost of each record relative to the largest: the square root of its share of rho. Zeros and ones if each record spends all or
 * nothing.
 */
export type CostShares = ArrayLike<number>;

export const gaussianSumsText =
  'Gaussian noise on sums, which amplifies like pure noise: dependence calculus over the declared ties.';

export interface GaussianSums extends Required<GaussianBound> {
  readonly reaches: readonly ComponentReach[];
}

/** Gaussian bounds on sums; rho, capacities and deltas are those of the record with cost share 1. */
export const gaussianSums = (graph: FactorGraph, reach: 'any' | 'direct', parts?: CostShares): GaussianSums =>
  sumsOver(reach === 'direct' ? directReaches(graph, parts) : componentReaches(graph, parts));

export function sumsOver(list: Iterable<ComponentReach>): GaussianSums {
  const reaches = withoutLesser(list);
  const most = reaches.reduce((m, r) => Math.max(m, r.amplification), 0);
  const delta = (rho: number, epsilon: number): number => reaches.reduce((m, r) => Math.max(m, deltaOf(r, rho, epsilon)), 0);
  return {
    conditions: [onlySums],
    delta,
    deltaBelow: (rho, kept, epsilon) =>
      reaches.reduce((m, r) => Math.max(m, deltaOf(r, rho, epsilon, bestOrder(r, rho, kept))), 0),
    reaches,
    epsilon: ({ rho, pure }, d) => addUp(epsilonOn(delta, rho, d), mulUp(most, toNumberUp(pure))),
    largestRho: (epsilon, d) => largestRhoOn(delta, epsilon, d),
    // The split between the two kinds of noise may depend on earlier answers, so both are converted at the one order that keeps
    // the capacity.
    counted: ({ rho, pure }, capacity, epsilon) => {
      if (pure.num === 0n || capacity.num === 0n) return add(rho, pure);
      return add(rho, multiply(pure, priceOfPure(reaches, capacity, epsilon)));
    },
    pureWithin: (rho, capacity, epsilon) => {
      const price = capacity.num === 0n ? zero : priceOfPure(reaches, capacity, epsilon);
      return isPositive(price) && isPositive(rho) ? fromNumber(toNumberDown(divide(rho, price))) : zero;
    },
    method: gaussianSumsText,
  };
}

/** rho that one unit of pure epsilon counts for, in any mixture; rounded up. */
function priceOfPure(reaches: readonly ComponentReach[], capacity: Rational, epsilon: Rational): Rational {
  const [cap, limit] = [toNumberUp(capacity), toNumberDown(epsilon)];
  const price = (r: ComponentReach): number =>
    r.amplification === 0 ? 0 : divUp(1, (bestOrder(r, cap, limit) * r.amplification + r.records) * (1 - 2 ** -40));
  return fromNumber(reaches.reduce((m, r) => Math.max(m, price(r)), 0));
}

/**
 * Upper bound on delta at epsilon: M e^(-lambda epsilon) lambda^lambda / (lambda + 1)^(lambda + 1) of sums.proof.md. lambda is
 * searched in plain doubles; only the value at the best one is rounded up.
 */
function deltaOf(reach: ComponentReach, rho: number, epsilon: number, order?: number): number {
  const { amplification: c, nodes } = reach;
  if (rho === 0 || c === 0) return 0;
  if (!(rho < 1e6)) return 1;
  const lambda = order ?? bestOrder(reach, rho, epsilon);
  const x = mulUp(lambda, c);
  const grown = mulUp(rho, addUp(mulUp(x, x), mulUp(x, shiftOf(reach))));
  const logMoment = addUp(grown, log1pUp(mulUp(nodes - 1, expUp(-grown))));
  const off = mulDown(lambda, epsilon) + mulDown(lambda, log1pDown(1 / lambda - 2 ** -52)) + logDown(lambda + 1 - 2 ** -51);
  return Math.min(1, expUp(subUp(logMoment, off * (1 - 2 ** -50))));
}

const shiftOf = ({ records, least = 1 }: ComponentReach): number => subUp(2 * records, least);

/** lambda with the least delta at this rho. */
function bestOrder(reach: ComponentReach, rho: number, epsilon: number): number {
  const { amplification: c, records: m, nodes } = reach;
  const shifted = shiftOf(reach);
  const least = Math.max(1, m / c) * (1 + 2 ** -40);
  const moment = (x: number) => rho * (x * x + x * shifted);
  const plain = (t: number): number => {
    const lambda = Math.exp(t);
    const grown = moment(lambda * c);
    return (
      grown + Math.log1p((nodes - 1) * Math.exp(-grown)) - lambda * epsilon - lambda * Math.log1p(1 / lambda) - Math.log1p(lambda)
    );
  };
  const guess = Math.max(least, (epsilon - c * rho * shifted) / (2 * c * c * rho));
  return Math.max(least, Math.exp(lowest(plain, Math.log(guess) - 2, Math.log(guess) + 2)));
}

/** A base so small that push(B, D) is within a part in 2^45 of its slope for every B in a component; see the proof note. */
const small = 2 ** -20;
/**
 * Slope of the leakage at zero, from the leakage at `base`: `levels` nested pushes are below their slopes by at most this factor.
 */
const slopeOf = (leak: number, base: number, levels: number): number =>
  mulUp(divUp(leak, base), addUp(1, mulUp(levels, 2 ** -44)));

function* componentReaches(graph: FactorGraph, parts: CostShares | undefined): Iterable<ComponentReach> {
  const laid = layoutGraph(graph);
  const walked = laid.walk;
  const spent = spentIn(graph, walked, parts);
  const base = small / spent.all.reduce((m, k) => Math.max(m, k), 1);
  const { leaks } = informedBound(graph, spread(graph, parts, base), laid);
  for (let c = 0; c < walked.components; c++) {
    const [from, to] = [walked.componentStart[c]!, walked.componentStart[c + 1]!];
    let worst = 0;
    for (let x = from; x < to; x++) if (walked.order[x]! < graph.records) worst = Math.max(worst, leaks[walked.order[x]!]!);
    yield { amplification: slopeOf(worst, base, to - from), ...reachOf(spent.all[c]!, spent.least[c]!), nodes: to - from };
  }
}

const reachOf = (records: number, least: number) => ({ records, ...(least < 1 && { least }) });

/** Everything beyond a record's own ties is independent of it and may be taken as known, which leaves a star. */
function* directReaches(graph: FactorGraph, parts: CostShares | undefined): Iterable<ComponentReach> {
  const part = (u: number) => (parts ? parts[u]! : 1);
  const least = new Float64Array(graph.records).fill(1);
  const sizes = Float64Array.from({ length: graph.records }, (_, u) => {
    let size = 0;
    const add = (w: number) => {
      if (!(part(w) > 0)) return;
      size = addUp(size, part(w));
      least[u] = Math.min(least[u]!, part(w));
    };
    add(u);
    for (let x = graph.nodeStart[u]!; x < graph.nodeStart[u + 1]!; x++) add(graph.neighbour[x]!);
    return size;
  });
  const base = small / sizes.reduce((m, k) => Math.max(m, k), 1);
  const leaks = directBound(graph, spread(graph, parts, base));
  for (let u = 0; u < leaks.length; u++)
    yield { amplification: slopeOf(leaks[u]!, base, 2), ...reachOf(sizes[u]!, least[u]!), nodes: 2 };
}

const spread = (graph: FactorGraph, parts: CostShares | undefined, base: number): Float64Array =>
  Float64Array.from({ length: graph.records }, (_, u) => (parts ? mulUp(parts[u]!, base) : base));

function spentIn(graph: FactorGraph, w: GraphWalk, parts: CostShares | undefined) {
  const all = new Float64Array(w.components);
  const least = new Float64Array(w.components).fill(1);
  for (let c = 0; c < w.components; c++)
    for (let x = w.componentStart[c]!; x < w.componentStart[c + 1]!; x++) {
      const u = w.order[x]!;
      const part = parts ? parts[u]! : 1;
      if (u >= graph.records || !(part > 0)) continue;
      all[c] = addUp(all[c]!, part);
      least[c] = Math.min(least[c]!, part);
    }
  return { all, least };
}

/** Most components are equal, and a bound for the worst one holds for all. */
function withoutLesser(list: Iterable<ComponentReach>): ComponentReach[] {
  let different = new Map<string, ComponentReach>();
  for (const reach of list) {
    different.set(keyOf(reach), reach);
    if (different.size > mostDifferent) different = new Map(largest([...different.values()]).map((r) => [keyOf(r), r]));
  }
  return largest([...different.values()]);
}

const keyOf = (r: ComponentReach): string => `${r.amplification}:${r.records}:${r.least}:${r.nodes}`;

function largest(different: readonly ComponentReach[]): ComponentReach[] {
  const kept: ComponentReach[] = [];
  const covers = (a: ComponentReach, b: ComponentReach) =>
    a.amplification >= b.amplification && a.records >= b.records && (a.least ?? 1) <= (b.least ?? 1) && a.nodes >= b.nodes;
  for (const reach of [...different].sort((a, b) => b.amplification - a.amplification))
    if (!kept.some((k) => covers(k, reach))) kept.push(reach);
  return kept;
}
/** Held before the lesser ones are thrown away. */
const mostDifferent = 100_000;
