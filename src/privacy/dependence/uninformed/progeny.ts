import { expm1Up, expUp, log1pUp, mulDown, mulUp, subUp } from '../../../base/exact/outward.js';
import type { FactorGraph } from '../graph/factor-graph.js';
import { roundedUp } from '../graph/forest.js';
import { contraction } from '../graph/push.js';
import type { GraphWalk } from '../graph/walk.js';
import { branchingTail } from './branching.js';

/**
 * Upper bounds on cluster sizes in components too large to enumerate, by exponential moments of a branching population: any M >=
 * F(M) is valid (percolation.proof.md, "Sizes").
 */
const thetas = [0.05, 0.15, 0.3, 0.5, 0.8, 1.2] as const;
/** Updates of one incidence spent in all. */
const mostWork = 1.5e7;
/** Limit on rounds: near the threshold of infinite clusters the moments converge too slowly. */
const mostRounds = 600;
/** A tail is listed up to here; beyond it the last entry goes on to the component's size. */
const longest = 4096;
/** log M beyond this is of no use to anyone. */
const hopeless = 200;

export function progenyTail(
  graph: FactorGraph,
  w: GraphWalk,
  components: readonly Uint32Array[],
  used: Uint8Array | undefined,
): Float64Array {
  const counts = (u: number) => u < graph.records && (!used || used[u] === 1);
  const inside = new Uint8Array(graph.nodes);
  let records = 0;
  for (const nodes of components) {
    let here = 0;
    for (const u of nodes) {
      inside[u] = 1;
      if (counts(u)) here++;
    }
    records = Math.max(records, here);
  }
  const looped = new Uint8Array(graph.nodes);
  for (let c = 0; c < w.components; c++)
    if (w.looped[c]) for (let x = w.componentStart[c]!; x < w.componentStart[c + 1]!; x++) looped[w.order[x]!] = 1;
  const tail = new Float64Array(Math.min(records, longest) + 1).fill(1);
  const regular = regularTail(graph, inside, looped, tail.length - 1);
  if (regular) for (let s = 2; s < tail.length; s++) tail[s] = regular[s]!;
  const search = momentSearch({ graph, inside, looped, used });
  for (const theta of thetas) {
    const worst = search(theta);
    // A larger theta has larger moments still.
    if (worst === undefined) break;
    for (let s = 2; s < tail.length; s++) tail[s] = Math.min(tail[s]!, expUp(subUp(worst, mulDown(theta, s))));
  }
  // The last listed probability holds for every larger size, so it is repeated for the component's full size.
  return records <= longest ? tail : withLongTail(tail, records);
}

/**
 * Bound by a regular branching population with the largest degree and opening probability, for pairwise factors. Exact on long
 * uniform chains.
 */
function regularTail(graph: FactorGraph, inside: Uint8Array, looped: Uint8Array, length: number): Float64Array | undefined {
  if (!graph.pairwise) return undefined;
  let degree = 0;
  let open = 0;
  for (let u = 0; u < graph.nodes; u++) {
    if (!inside[u]) continue;
    degree = Math.max(degree, graph.nodeStart[u + 1]! - graph.nodeStart[u]!);
    let odds = 0;
    for (let x = graph.nodeStart[u]!; x < graph.nodeStart[u + 1]!; x++) {
      const d = graph.logOdds[graph.incidence[x]!]!;
      odds = looped[u] ? (odds + d) * roundedUp : Math.max(odds, d);
    }
    open = Math.max(open, contraction(odds));
  }
  return branchingTail(degree, open, length);
}

/** Sizes from `longest` to the component's are all charged with the last probability. */
function withLongTail(tail: Float64Array, records: number): Float64Array {
  const out = new Float64Array(records + 1);
  out.set(tail);
  out.fill(tail[tail.length - 1]!, tail.length);
  return out;
}

/** log(1 - p + p e^x), rounded up. */
const chance = (p: number, x: number): number => {
  if (p === 0) return 0;
  return p === 1 ? x : Math.min(x, log1pUp(mulUp(p, expm1Up(x))));
};

/** Graph of the equations for the moments; `looped`: nodes that count as sites, because their component has a loop. */
interface Clusters {
  readonly graph: FactorGraph;
  readonly inside: Uint8Array;
  readonly looped: Uint8Array;
  readonly used: Uint8Array | undefined;
}

/** The equations M = F(M) in logarithms, by incidence. */
function momentEquations({ graph, inside, looped, used }: Clusters) {
  const { member, logOdds, start, nodes, records } = graph;
  const size = member.length;
  const site = new Float64Array(nodes);
  for (let p = 0; p < size; p++) site[member[p]!] = (site[member[p]!]! + logOdds[p]!) * roundedUp;
  for (let u = 0; u < nodes; u++) site[u] = contraction(site[u]!);
  const bond = new Float64Array(size);
  for (let p = 0; p < size; p++) bond[p] = p > 0 && logOdds[p] === logOdds[p - 1] ? bond[p - 1]! : contraction(logOdds[p]!);
  const sums = new Float64Array(nodes);

  const gather = (from: Float64Array, theta: number) => {
    sums.fill(theta, 0, records).fill(0, records);
    if (used) for (let u = 0; u < records; u++) if (!used[u]) sums[u] = 0;
    for (let p = 0; p < size; p++) sums[member[p]!] = (sums[member[p]!]! + from[p]!) * roundedUp;
  };
  /** to = F(from), rounded up; returns the largest entry. */
  const step = (from: Float64Array, to: Float64Array, theta: number): number => {
    gather(from, theta);
    let most = 0;
    for (let f = 0; f < graph.factors; f++) {
      const a = start[f]!;
      const b = start[f + 1]!;
      if (!inside[member[a]!]) continue;
      const asSites = looped[member[a]!] === 1;
      let all = 0;
      for (let q = a; q < b; q++) {
        const offer = Math.max(0, (sums[member[q]!]! - from[q]!) * roundedUp);
        to[q] = asSites ? chance(site[member[q]!]!, offer) : offer;
        all = (all + to[q]!) * roundedUp;
      }
      for (let q = a; q < b; q++) {
        const behind = Math.max(0, (all - to[q]!) * roundedUp);
        to[q] = asSites ? behind : chance(bond[q]!, behind);
        if (to[q]! > most) most = to[q]!;
      }
    }
    return most;
  };
  /** Largest log moment of a record. */
  const worst = (from: Float64Array, theta: number): number => {
    gather(from, theta);
    let most = 0;
    for (let u = 0; u < records; u++) if (inside[u] && sums[u]! > most) most = sums[u]!;
    return most;
  };
  return { step, worst };
}

/** theta -> the largest log moment of any record, certified; undefined where the equations have no solution in reach. */
function momentSearch(clusters: Clusters): (theta: number) => number | undefined {
  const { step, worst } = momentEquations(clusters);
  const size = clusters.graph.member.length;
  let now: Float64Array = new Float64Array(size);
  let next: Float64Array = new Float64Array(size);
  let last = 0;
  let work = 0;

  const advance = (from: Float64Array, theta: number): number => {
    work += size;
    return step(from, next, theta);
  };
  /** log M raised a little; accepted when F does not raise it further anywhere. */
  const certify = (theta: number, drift: number): Float64Array | undefined => {
    const holds = (raised: Float64Array): boolean => {
      advance(raised, theta);
      return next.every((x, p) => x <= raised[p]!);
    };
    for (const margin of [1e-6, 1e-3, 0.02, 0.1]) {
      if (margin < drift / 4) continue;
      const raised = now.map((x) => x * (1 + margin) + 1e-15);
      if (holds(raised)) return raised;
    }
    // With records that do not count, a common factor does not help: iterate towards the solution of F + lift instead.
    if (drift > 1e-6) return undefined;
    const lift = 1e-4 * now.reduce((m, x) => Math.max(m, x), 0);
    let raised = now.map((x) => x + lift);
    for (let tries = 0; tries < 8; tries++) {
      if (holds(raised)) return raised;
      raised = next.map((x) => x + lift);
    }
    return undefined;
  };
  return (theta) => {
    // Any M with F(M) <= M will do, so the last theta's answer is as good a start as zero.
    if (last > 0) now = now.map((x) => (x * theta) / last);
    last = theta;
    for (let round = 1; work < mostWork && round <= mostRounds; round++) {
      if (!(advance(now, theta) < hopeless)) return undefined;
      let drift = 0;
      for (let p = 0; p < size; p++) drift = Math.max(drift, Math.abs(next[p]! - now[p]!) / (next[p]! + 1e-300));
      [now, next] = [next, now];
      if (drift >= 1e-2 && round % 8 !== 0) continue;
      const raised = certify(theta, drift);
      if (raised) return worst(raised, theta);
    }
    return undefined;
  };
}
