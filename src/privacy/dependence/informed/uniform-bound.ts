import { mulUp } from '../../../base/exact/outward.js';
import { roundedUp } from '../graph/forest.js';
import { lazy, listedEnds, pairGraph } from '../graph/pair-graph.js';
import { nodesOf } from '../graph/walk.js';
import { type GraphLayout, layoutGraph } from './graph-layout.js';
import { ceilingOf, informedBound, largestOf, totalLogOdds, type WarmStart } from './informed.js';
import { linearBound } from './linear-bound.js';
import { isLargeGraph, pushOf } from './sweep.js';
import { worstFromAbove } from './worst-from-above.js';

/** Bound on the worst leakage if every used record of a large graph spends one base; undefined where it takes too long to find. */
export interface UniformBound {
  /** Rounded up. */
  worst(base: number, gain: number): number | undefined;
  /** Messages of a small base. */
  start(base: number): WarmStart | undefined;
  /** Estimate, not a bound, of the worst record's leakage per unit of a small base. */
  amplification(): number | undefined;
}

/**
 * Uniform bound of a graph whose large components with loops are its first nodes; undefined for others. By the linear bound
 * (informed.proof.md, "A line for every base") only few candidates for the worst record are visited.
 */
export function uniformBound(laid: GraphLayout, used: Uint8Array | undefined): UniformBound | undefined {
  const { rest } = laid;
  if (!rest || rest.nodes || !isLargeGraph(rest.graph) || !laid.graph.pairwise) return undefined;
  const { graph } = rest;
  const others = othersThan(laid);
  const spenders = spendersOf(laid, used);
  const costsAt = (base: number): Float64Array => costsOf(graph.nodes, used, base);
  const line = lazy(() => linearBound(graph, used));
  const ranking = lazy(() => rankingOf(line()!.per));
  const pushed = lazy(() => pushOf(graph));
  return {
    worst: (base, gain) => {
      const found = base > least && base < 1 / least ? line() : undefined;
      if (!found) return undefined;
      const scale = base * (1 + 2 ** -50);
      const costs = costsAt(base);
      const caps = costs.map((_, u) => mulUp(spenders[u]!, base));
      const looped = worstFromAbove(graph, {
        costs,
        caps,
        pushed: pushed(),
        gain,
        known: (u) => Math.min(found.per[u]! * scale, ceilingOf(costs[u]!, caps[u]!, totalLogOdds(graph, u))),
        above: (p) => found.above(p) * scale,
        ranked: { nodes: ranking().nodes, beyond: ranking().beyond * scale * roundedUp },
      });
      return looped === undefined ? undefined : Math.max(looped, others ? worstOf(others, used?.subarray(graph.nodes), base) : 0);
    },
    start: (base) => {
      const found = line();
      if (!found) return undefined;
      const scale = base * (1 + 2 ** -50);
      const messages = new Float64Array(graph.member.length);
      for (let p = 0; p < messages.length; p++) messages[p] = found.above(p) * scale;
      const leaks = found.per.map((x) => x * scale);
      return { graph, messages, costs: costsAt(base), leaks, largest: base, amplification: ranking().most, certain: true };
    },
    amplification: () => line() && ranking().most,
  };
}

/** What each record spends: the base where it is used. */
export function costsOf(records: number, used: Uint8Array | undefined, base: number): Float64Array {
  const costs = new Float64Array(records).fill(base);
  if (used) for (let u = 0; u < records; u++) if (!used[u]) costs[u] = 0;
  return costs;
}

/** Far from where relative rounding stops being true. */
const least = 2 ** -300;

/** Nodes with the largest leakage, and a bound for all others. */
interface Ranked {
  readonly nodes: Uint32Array;
  readonly beyond: number;
}

/** Limit on the number of candidates for the worst record. */
const mostRanked = 4096;

function rankingOf(leaks: Float64Array): Ranked & { readonly most: number } {
  const most = largestOf(leaks);
  for (const part of [0.5, 0.7, 0.85, 0.95]) {
    const nodes: number[] = [];
    for (let u = 0; u < leaks.length && nodes.length <= mostRanked; u++) if (leaks[u]! > part * most) nodes.push(u);
    if (nodes.length > mostRanked) continue;
    return { nodes: Uint32Array.from(nodes.sort((a, b) => leaks[b]! - leaks[a]!)), beyond: part * most * roundedUp, most };
  }
  return { nodes: new Uint32Array(0), beyond: most, most };
}

/** Number of used records in the component of each node. */
function spendersOf({ walk, rest }: GraphLayout, used: Uint8Array | undefined): Uint32Array {
  const counts = new Uint32Array(rest!.graph.nodes);
  for (let c = 0; c < walk.components; c++) {
    const nodes = nodesOf(walk, c);
    if (nodes[0]! >= counts.length) continue;
    let count = 0;
    for (const u of nodes) if (!used || used[u]) count++;
    for (const u of nodes) counts[u] = count;
  }
  return counts;
}

/** Layout of the components after the first ones. */
function othersThan({ graph, rest }: GraphLayout): GraphLayout | undefined {
  const first = rest!.graph.nodes;
  if (first === graph.nodes) return undefined;
  const tied = rest!.graph.member.length;
  const ends = listedEnds(
    graph.nodes - first,
    graph.member.subarray(tied).map((u) => u - first),
  );
  return layoutGraph(pairGraph(graph.nodes - first, ends, graph.commonOdds ?? graph.logOdds.slice(tied)));
}

const worstOf = (laid: GraphLayout, used: Uint8Array | undefined, base: number): number =>
  largestOf(informedBound(laid.graph, costsOf(laid.graph.records, used, base), laid).leaks);
