import type { FactorGraph } from '../graph/factor-graph.js';
import { contraction } from '../graph/push.js';
import { sparseSolve } from './sparse-solve.js';

/**
 * Linear bound: for every base, record u leaks at most base x per[u] if used records spend the base (informed.proof.md, "A line
 * for every base"). Messages follow from the numbers of both ends.
 */
export interface LinearBound {
  readonly per: Float64Array;
  /** Upper bound on the message at incidence p for a base of 1. */
  above(p: number): number;
}

/** Slack for the solver, in units of the base: the linear bound exceeds the least one by about this fraction. */
const slack = 2e-3;
const mostSteps = 80;
/** Bound on the relative rounding error of a sum of this many products. */
const rounding = (terms: number): number => (terms + 8) * 2 ** -52;

/** Undefined if there is none, or if it takes too long to find: near the strength at which losses stop dying out. */
export function linearBound(graph: FactorGraph, used: Uint8Array | undefined): LinearBound | undefined {
  const { nodes, member } = graph;
  const shares = sharesOf(graph);
  if (!shares) return undefined;
  const per = solved(graph, shares, (u) => slack + (used && !used[u] ? 0 : 1));
  if (!per || !isAbove(graph, shares, per, used)) return undefined;
  const { share, weight } = shares;
  const above = (p: number): number => {
    const [own, other] = [per[member[p]!]!, per[member[p ^ 1]!]!];
    return ((other - share(p) * own + other * 2 ** -48) / share(p)) * weight(p) * (1 + 2 ** -48);
  };
  return nodes > 0 ? { per, above } : undefined;
}

/** t of a tie, the slope of its push, rounded up, and t / (1 - t^2). */
interface Shares {
  share(p: number): number;
  weight(p: number): number;
}

function sharesOf(graph: FactorGraph): Shares | undefined {
  const { commonOdds, member } = graph;
  const weightOf = (t: number) => t / ((1 - t) * (1 + t));
  if (commonOdds !== undefined) {
    const t = contraction(commonOdds);
    const c = weightOf(t);
    return t > 0 && t < largestShare ? { share: () => t, weight: () => c } : undefined;
  }
  const { logOdds } = graph;
  const known = new Map<number, number>();
  const shares = new Float64Array(member.length);
  for (let p = 0; p < member.length; p++) {
    const d = Math.max(logOdds[p]!, logOdds[p ^ 1]!);
    let t = known.get(d);
    if (t === undefined) {
      t = contraction(d);
      if (!(t > 0 && t < largestShare)) return undefined;
      if (known.size < mostKnown) known.set(d, t);
    }
    shares[p] = t;
  }
  return { share: (p) => shares[p]!, weight: (p) => weightOf(shares[p]!) };
}
/** Limit on t: nearer to 1 no loop has a linear bound, and none is searched for. */
const largestShare = 0.99;
const mostKnown = 100_000;

/**
 * Approximate solution s of s_u (1 + sum of weight t) = e_u + sum over ties of weight s_w, to half the slack: it proves nothing.
 */
function solved(graph: FactorGraph, { share, weight }: Shares, costOf: (u: number) => number): Float64Array | undefined {
  const { nodes, nodeStart, neighbour, commonOdds } = graph;
  const own = new Float64Array(nodes);
  const brought = new Float64Array(nodes);
  const incidence = commonOdds === undefined ? graph.incidence : undefined;
  const both = incidence ? 0 : weight(0) * share(0);
  for (let u = 0; u < nodes; u++) {
    brought[u] = costOf(u);
    own[u] = 1;
    if (!incidence) own[u]! += (nodeStart[u + 1]! - nodeStart[u]!) * both;
    else for (let x = nodeStart[u]!; x < nodeStart[u + 1]!; x++) own[u]! += weight(incidence[x]!) * share(incidence[x]!);
  }
  const common = weight(0);
  const ofEntry = incidence ? (x: number) => weight(incidence[x]!) : () => common;
  return sparseSolve({ nodeStart, neighbour, weight: ofEntry, own, brought }, slack / 2, mostSteps);
}

/**
 * True if these numbers are a linear bound: F, with every push replaced by its slope, raises none of their messages, and none is
 * negative. Rounded conservatively.
 */
export function isLinearBound(graph: FactorGraph, per: Float64Array, used: Uint8Array | undefined): boolean {
  const shares = sharesOf(graph);
  return shares !== undefined && isAbove(graph, shares, per, used);
}

function isAbove(graph: FactorGraph, { share, weight }: Shares, per: Float64Array, used: Uint8Array | undefined): boolean {
  const { nodes, nodeStart, neighbour, commonOdds } = graph;
  const incidence = commonOdds === undefined ? graph.incidence : undefined;
  let [t, c] = [share(0), weight(0)];
  for (let u = 0; u < nodes; u++) {
    const s = per[u]!;
    let brought = used && !used[u] ? 0 : 1;
    let passed = 1;
    for (let x = nodeStart[u]!; x < nodeStart[u + 1]!; x++) {
      if (incidence) [t, c] = [share(incidence[x]!), weight(incidence[x]!)];
      const other = per[neighbour[x]!]!;
      if (!(other >= t * s * (1 + rounding(0)))) return false;
      brought += c * other;
      passed += c * t;
    }
    const off = rounding(nodeStart[u + 1]! - nodeStart[u]!);
    if (!(brought * (1 + off) <= s * passed * (1 - off))) return false;
  }
  return true;
}
