import { addUp, mulUp, subUp } from '../../../base/exact/outward.js';
import { cliqueOdds } from '../graph/clique.js';
import type { FactorGraph } from '../graph/factor-graph.js';
import { roundedUp } from '../graph/forest.js';
import { contraction } from '../graph/push.js';
import { componentOf, componentShape, type GraphComponent } from '../graph/recursion.js';
import { type GraphWalk, nodesOf, walkGraph } from '../graph/walk.js';
import { progenyTail } from './progeny.js';

/**
 * Distribution of the cluster of records that change with one record (percolation.proof.md): tail[s] >= P(size >= s), tail[0] =
 * tail[1] = 1.
 */
export interface ClusterDistribution {
  readonly tail: Float64Array;
}

/** Limit on nodes of forest components whose distribution is computed exactly. */
const largestForest = 160;
/** Limit on work for exact forest distributions; the rest is bounded by moments. */
const mostWork = 3e8;
/** Site percolation is enumerated up to this size. */
const largestEnumeration = 13;
/** Limit on different distributions; more are merged into their upper envelope. */
const mostDistributions = 48;

/**
 * Distinct cluster distributions; each record's cluster is bounded by one of them. With `used`, only used records count towards
 * its size.
 */
export function clusterDistributions(graph: FactorGraph, used?: Uint8Array): ClusterDistribution[] {
  const w = walkGraph(graph);
  const weight = (u: number): number => (u < graph.records && (!used || used[u] === 1) ? 1 : 0);
  // Records, records that do not count, hidden types.
  const kind = (u: number): number => (u >= graph.records ? 2 : 1 - weight(u));
  const local = new Uint32Array(graph.nodes);
  const nobody = new Float64Array(graph.nodes);
  const seen = new Set<string>();
  const distributions = new DistributionList();
  const large: Uint32Array[] = [];
  const isNew = (shape: string): boolean => !seen.has(shape) && seen.add(shape) !== undefined;
  let work = 0;
  let alone = false;
  for (let c = 0; c < w.components; c++) {
    const nodes = nodesOf(w, c);
    const size = nodes.length;
    const looped = w.looped[c] === 1;
    const odds = looped && size > largestEnumeration && size <= 2000 ? cliqueOdds(graph, nodes) : undefined;
    if (size === 1) alone = true;
    else if (odds !== undefined)
      distributions.add(cliqueDistribution(size, odds, used ? nodes.reduce((sum, u) => sum + weight(u), 0) : size));
    else if (looped && size <= largestEnumeration) {
      const piece = componentOf(graph, nodes, nobody, local);
      if (!isNew(`${Array.from(nodes, kind).join('')}${componentShape(piece)}`)) continue;
      const weights = Array.from(nodes, weight);
      for (let i = 0; i < size; i++) if (nodes[i]! < graph.records) distributions.add(siteDistribution(piece, weights, i));
    } else if (!looped && size <= largestForest && work < mostWork) {
      if (!isNew(treeShape(w, c, kind))) continue;
      work += size ** 3;
      for (const u of nodes) if (u < graph.records) distributions.add(forestDistribution(graph, u, weight));
    } else large.push(nodes);
  }
  if (large.length > 0) distributions.add({ tail: progenyTail(graph, w, large, used) });
  if (alone || distributions.list.length === 0) distributions.add({ tail: Float64Array.of(1, 1) });
  return distributions.list;
}

/** Key of a component: its walk with every D. Equal keys have equal distributions. */
function treeShape(w: GraphWalk, c: number, kind: (u: number) => number): string {
  const from = w.componentStart[c]!;
  const factors = [w.factorStart[c]!, w.factorStart[c + 1]!] as const;
  return [
    Array.from(nodesOf(w, c), kind).join(''),
    w.parent.subarray(...factors).map((p) => p - from),
    w.childEnd.subarray(...factors).map((p) => p - from),
    w.parentOdds.subarray(...factors),
    w.childOdds.subarray(from, w.componentStart[c + 1]!),
  ].join('|');
}

export class DistributionList {
  list: ClusterDistribution[] = [];
  add(distribution: ClusterDistribution): void {
    if (this.list.some((l) => dominates(l, distribution))) return;
    this.list = [...this.list.filter((l) => !dominates(distribution, l)), distribution];
    if (this.list.length > mostDistributions) this.list = [this.list.reduce(envelope)];
  }
}
const at = (distribution: ClusterDistribution, s: number) => distribution.tail[s] ?? 0;
const dominates = (a: ClusterDistribution, b: ClusterDistribution): boolean => b.tail.every((p, s) => p <= at(a, s));
const envelope = (a: ClusterDistribution, b: ClusterDistribution): ClusterDistribution => ({
  tail: Float64Array.from({ length: Math.max(a.tail.length, b.tail.length) }, (_, s) => Math.max(at(a, s), at(b, s))),
});

/** Sums probabilities by size into a tail, rounded up. */
export function tailDistribution(bySize: Float64Array): ClusterDistribution {
  const tail = new Float64Array(bySize.length);
  let sum = 0;
  for (let s = bySize.length - 1; s >= 0; s--) {
    sum = Math.min(1, addUp(sum, bySize[s]!));
    tail[s] = s <= 1 ? 1 : sum;
  }
  let length = tail.length;
  while (length > 2 && tail[length - 1] === 0) length--;
  return { tail: tail.slice(0, length) };
}

/** Bond percolation on a factor forest: from u, all other records of a factor join together with probability tanh(D/4). */
function forestDistribution(graph: FactorGraph, root: number, weight: (u: number) => number): ClusterDistribution {
  const visit = (u: number, from: number): Float64Array => {
    let distribution: Float64Array = weight(u) === 1 ? Float64Array.of(0, 1) : Float64Array.of(1);
    for (let x = graph.nodeStart[u]!; x < graph.nodeStart[u + 1]!; x++) {
      const p = graph.incidence[x]!;
      const f = graph.factorOf[p]!;
      if (f === from) continue;
      let joined: Float64Array = Float64Array.of(1);
      for (let q = graph.start[f]!; q < graph.start[f + 1]!; q++)
        if (q !== p) joined = convolve(joined, visit(graph.member[q]!, f));
      distribution = convolve(distribution, thin(joined, contraction(graph.logOdds[p]!)));
    }
    return distribution;
  };
  return tailDistribution(visit(root, 0xffffffff));
}

/** With probability `open` the cluster behind joins, otherwise nothing does. */
function thin(distribution: Float64Array, open: number): Float64Array {
  const out = distribution.map((p) => mulUp(p, open));
  out[0] = addUp(out[0]!, subUp(1, open));
  return out;
}

/** Sums of products of non-negative numbers; each of at most a few hundred terms adds one rounding, all undone at once. */
export function convolve(a: Float64Array, b: Float64Array): Float64Array {
  const out = new Float64Array(a.length + b.length - 1);
  for (let i = 0; i < a.length; i++) {
    const p = a[i]!;
    if (p !== 0) for (let j = 0; j < b.length; j++) out[i + j]! += p * b[j]!;
  }
  const up = 1 + 2 ** -51 * (Math.min(a.length, b.length) + 2);
  for (let k = 0; k < out.length; k++) out[k]! *= up;
  return out;
}

/** Site percolation by enumeration: a record joins when it is open and touches the cluster. */
function siteDistribution(piece: GraphComponent, weights: readonly number[], root: number): ClusterDistribution {
  const { size, factors } = piece;
  const near = new Array<number>(size).fill(0);
  const odds = new Array<number>(size).fill(0);
  for (const { mask, members, logOdds } of factors)
    for (const [k, u] of members.entries()) {
      near[u]! |= mask & ~(1 << u);
      odds[u] = addUp(odds[u]!, logOdds[k]!);
    }
  const open = odds.map(contraction);
  const bySize = new Float64Array(size + 1);
  // Grows the cluster one tested site at a time: each branch fixes one more site open or shut.
  const grow = (cluster: number, shut: number, chance: number): void => {
    let edge = 0;
    for (let left = cluster; left !== 0; left &= left - 1) edge |= near[31 - Math.clz32(left & -left)]!;
    edge &= ~(cluster | shut);
    if (edge === 0) {
      let count = 0;
      for (let left = cluster; left !== 0; left &= left - 1) count += weights[31 - Math.clz32(left & -left)]!;
      bySize[count] = addUp(bySize[count]!, chance);
      return;
    }
    const v = 31 - Math.clz32(edge & -edge);
    if (open[v]! > 0) grow(cluster | (1 << v), shut, chance * open[v]! * roundedUp);
    if (open[v]! < 1) grow(cluster, shut | (1 << v), chance * subUp(1, open[v]!) * roundedUp);
  };
  grow(1 << root, 0, 1);
  return tailDistribution(bySize);
}

/**
 * Cluster of a clique: one plus a binomial over the others that count, since every record touches the cluster. `odds` is the
 * largest D of a tie, so n - 1 of them bound a record's sum.
 */
function cliqueDistribution(size: number, odds: number, counted: number): ClusterDistribution {
  const open = contraction(mulUp(size - 1, odds));
  let distribution: Float64Array = Float64Array.of(0, 1);
  for (let k = 1; k < counted; k++) distribution = convolve(distribution, Float64Array.of(subUp(1, open), open));
  return tailDistribution(distribution);
}
