import type { FactorGraph } from '../graph/factor-graph.js';
import { contraction } from '../graph/push.js';

/**
 * A line above what everybody leaks: with `per[u]` for every node, a record of the graph leaks at most base x per[u] where used records spend the base, whatever the base
 * (informed.proof.md, "A line for every base"). One number for each node is all that it takes, messages follow from those of their ends.
 */
export interface Line {
  readonly per: Float64Array;
  /** A bound for what lies behind incidence p, of a base of 1; rounded up. */
  above(p: number): number;
}

/** Room that is left for the solver, in units of the base: the line lies above the least one by about this part. */
const slack = 2e-3;
const mostSteps = 80;
/** More than sums of a million terms can be rounded by. */
const rounding = 1e-9;

/** Undefined where there is none, or where it takes long to find: near the strength at which effects stop dying out. */
export function lineOver(graph: FactorGraph, used: Uint8Array | undefined): Line | undefined {
  const { nodes, member } = graph;
  const shares = sharesOf(graph);
  if (!shares) return undefined;
  const per = solved(graph, shares, (u) => slack + (used && !used[u] ? 0 : 1));
  if (!per || !certified(graph, shares, per, used)) return undefined;
  const { share, weight } = shares;
  const above = (p: number): number => {
    const [own, other] = [per[member[p]!]!, per[member[p ^ 1]!]!];
    return ((other - share(p) * own + other * 2 ** -48) / share(p)) * weight(p) * (1 + 2 ** -48);
  };
  return nodes > 0 ? { per, above } : undefined;
}

/** Of a tie: t, the share of a small effect that passes, rounded up, and t / (1 - t^2). */
interface Shares {
  share(p: number): number;
  weight(p: number): number;
}

function sharesOf(graph: FactorGraph): Shares | undefined {
  const { commonOdds, member } = graph;
  const weightOf = (t: number) => t / ((1 - t) * (1 + t));
  if (commonOdds !== undefined) {
    const t = contraction(commonOdds);
    return t > 0 && t < largestShare ? { share: () => t, weight: () => weightOf(t) } : undefined;
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
/** Nearer to 1 there is no line over any loop, and none is looked for. */
const largestShare = 0.99;
const mostKnown = 100_000;

/**
 * s with  s_u (1 + sum of weight t) = e_u + sum over ties of weight s_w,  by conjugate gradients, until no node misses it by half the slack. In plain doubles: it proves nothing.
 */
function solved(graph: FactorGraph, { share, weight }: Shares, effect: (u: number) => number): Float64Array | undefined {
  const { nodes, nodeStart, incidence, neighbour, commonOdds } = graph;
  const plain = commonOdds !== undefined;
  const [t, c] = plain ? [share(0), weight(0)] : [0, 0];
  const own = new Float64Array(nodes);
  for (let u = 0; u < nodes; u++) {
    let sum = 1;
    if (plain) sum += (nodeStart[u + 1]! - nodeStart[u]!) * c * t;
    else for (let x = nodeStart[u]!; x < nodeStart[u + 1]!; x++) sum += weight(incidence[x]!) * share(incidence[x]!);
    own[u] = sum;
  }
  const s = new Float64Array(nodes);
  const left = new Float64Array(nodes);
  const way = new Float64Array(nodes);
  const image = new Float64Array(nodes);
  let size = 0;
  for (let u = 0; u < nodes; u++) {
    left[u] = effect(u);
    way[u] = left[u]! / own[u]!;
    size += left[u]! * way[u]!;
  }
  for (let step = 0; step < mostSteps; step++) {
    let bend = 0;
    for (let u = 0; u < nodes; u++) {
      let sum = 0;
      if (plain) {
        for (let x = nodeStart[u]!; x < nodeStart[u + 1]!; x++) sum += way[neighbour[x]!]!;
        sum *= c;
      } else for (let x = nodeStart[u]!; x < nodeStart[u + 1]!; x++) sum += weight(incidence[x]!) * way[neighbour[x]!]!;
      const at = own[u]! * way[u]! - sum;
      image[u] = at;
      bend += way[u]! * at;
    }
    // Where effects do not die out there is no valley to go down.
    if (!(bend > 0)) return undefined;
    const stride = size / bend;
    let next = 0;
    let furthest = 0;
    for (let u = 0; u < nodes; u++) {
      s[u] = s[u]! + stride * way[u]!;
      const rest = left[u]! - stride * image[u]!;
      left[u] = rest;
      next += (rest * rest) / own[u]!;
      if (rest > furthest) furthest = rest;
      else if (-rest > furthest) furthest = -rest;
    }
    if (furthest < slack / 2) return s;
    const turn = next / size;
    size = next;
    for (let u = 0; u < nodes; u++) way[u] = left[u]! / own[u]! + turn * way[u]!;
  }
  return undefined;
}

/** Whether F, with every push replaced by its share, raises none of the messages, and none of them is negative; rounded against ourselves. */
function certified(graph: FactorGraph, { share, weight }: Shares, per: Float64Array, used: Uint8Array | undefined): boolean {
  const { nodes, nodeStart, incidence, neighbour } = graph;
  for (let u = 0; u < nodes; u++) {
    const s = per[u]!;
    let brought = used && !used[u] ? 0 : 1;
    let passed = 1;
    for (let x = nodeStart[u]!; x < nodeStart[u + 1]!; x++) {
      const p = incidence[x]!;
      const other = per[neighbour[x]!]!;
      if (!(other >= share(p) * s * (1 + rounding))) return false;
      brought += weight(p) * other;
      passed += weight(p) * share(p);
    }
    if (!(brought * (1 + rounding) <= s * passed * (1 - rounding))) return false;
  }
  return true;
}
