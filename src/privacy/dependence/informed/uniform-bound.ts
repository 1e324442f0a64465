import { addUp, mulUp } from '../../../base/exact/outward.js';
import { type FactorGraph, withOdds } from '../graph/factor-graph.js';
import { roundedUp } from '../graph/forest.js';
import { lazy, listedEnds, pairGraph } from '../graph/pair-graph.js';
import { push } from '../graph/push.js';
import { type PropagationOptions, propagate } from './belief-propagation.js';
import { type GraphLayout, layoutGraph, withLayoutOdds } from './graph-layout.js';
import { informedBound, totalLogOdds, type WarmStart, warmStartOn } from './informed.js';
import { linearBound } from './linear-bound.js';
import { isLargeGraph, pushOf, releaseScratch } from './sweep.js';
import { worstFromAbove } from './worst-from-above.js';

/** Bound on the worst leakage if every used record of a large graph spends one base. */
export interface UniformBound {
  /** Rounded up; undefined if the whole graph must be visited. */
  worst(base: number, gain: number): number | undefined;
  /**
   * The same for the large components alone, for a single question and without a linear bound: accurate only roughly if messages
   * are needed.
   */
  worstOnce(base: number, question: SingleQuestion): number;
  /** Releases the memory that `worstOnce` works on; no further question will be put to it, with these strengths or others. */
  release(): void;
  /** Layout of the other components. */
  readonly others?: GraphLayout;
  /** Messages of a small base. */
  start(base: number): WarmStart;
  /** Estimate, not a bound, of the worst record's leakage per unit of a small base; undefined if unbounded. */
  amplification(): number | undefined;
  /** The same with every D replaced. */
  withOdds(change: (logOdds: number) => number): UniformBound;
}

export interface SingleQuestion {
  readonly gain: number;
  readonly work: PropagationOptions;
  /** Log odds ratio of a tie from every record to its twin in a copy of the graph (informed.proof.md, "Twins"). */
  readonly twin?: number;
}

/**
 * Uniform bound of a graph whose large components with loops are its first nodes; undefined for others. By the linear bound
 * (informed.proof.md, "A line for every base") only few candidates for the worst record are visited.
 */
export function uniformBound(laid: GraphLayout, used: Uint8Array | undefined): UniformBound | undefined {
  const { rest } = laid;
  if (!rest || rest.nodes || !isLargeGraph(rest.graph) || !laid.graph.pairwise) return undefined;
  return over(rest.graph, othersThan(laid), spendersOf(laid, used), used);
}

function over(
  graph: FactorGraph,
  others: GraphLayout | undefined,
  spenders: Uint32Array,
  used: Uint8Array | undefined,
): UniformBound {
  const costOf = (u: number, base: number): number => (used && !used[u] ? 0 : base);
  const costsAt = (base: number): Float64Array => {
    const list = new Float64Array(graph.nodes).fill(base);
    if (used) for (let u = 0; u < list.length; u++) if (!used[u]) list[u] = 0;
    return list;
  };
  const caps = (base: number): Float64Array => {
    const list = new Float64Array(graph.nodes);
    for (let u = 0; u < list.length; u++) list[u] = mulUp(spenders[u]!, base);
    return list;
  };
  const line = lazy(() => linearBound(graph, used));
  const largest = lazy(() => largestOf(line()!.per));
  /** Upper bound on a record's leakage from its component and its odds, the one-shot cap included. */
  const ceiling = (u: number, base: number): number => {
    const own = costOf(u, base);
    const odds = totalLogOdds(graph, u);
    const whole = mulUp(spenders[u]!, base);
    // For a cost that far exceeds the odds, push passes all of the odds.
    if (whole > own + endless + odds) return addUp(own, odds);
    return Math.min(whole, addUp(own, Math.min(odds, push((whole - own) * roundedUp, odds))));
  };
  const pushed = lazy(() => pushOf(graph));
  const worst = (base: number, gain: number): number | undefined => {
    const found = base > least && base < 1 / least ? line() : undefined;
    if (!found) return undefined;
    const scale = base * (1 + 2 ** -50);
    const looped = worstFromAbove(graph, {
      costs: costsAt(base),
      caps: caps(base),
      pushed: pushed(),
      twin: 0,
      gain,
      known: (u) => Math.min(found.per[u]! * scale, ceiling(u, base)),
      above: (p) => found.above(p) * scale,
      ranked: { nodes: largest().nodes, beyond: largest().beyond * scale * roundedUp },
    });
    return looped === undefined ? undefined : Math.max(looped, others ? worstOf(others, used?.subarray(graph.nodes), base) : 0);
  };
  const once = (base: number, { gain, work, twin = 0 }: SingleQuestion): number => {
    const own = costsAt(base);
    const whole = caps(base);
    if (twin > 0) for (let u = 0; u < whole.length; u++) whole[u] = 2 * whole[u]!;
    const known = new Float64Array(graph.nodes);
    for (let u = 0; u < known.length; u++) known[u] = Math.min(whole[u]!, addUp(own[u]!, addUp(totalLogOdds(graph, u), twin)));
    const question = { costs: own, caps: whole, pushed: pushed(), twin, gain, known: (u: number) => known[u]! };
    const quick = worstFromAbove(graph, question);
    if (quick !== undefined) return quick;
    const { leaks } = propagate(graph, own, whole, { ...work, twin });
    return leaks.reduce((most, leak, u) => Math.max(most, Math.min(leak, known[u]!)), 0);
  };
  const start = (base: number): WarmStart => {
    const found = line();
    if (!found) return warmStartOn(graph, costsAt(base), caps(base), base);
    const scale = base * (1 + 2 ** -50);
    const messages = new Float64Array(graph.member.length);
    for (let p = 0; p < messages.length; p++) messages[p] = found.above(p) * scale;
    const leaks = found.per.map((x) => x * scale);
    return { graph, messages, costs: costsAt(base), leaks, largest: base, amplification: amplification()!, certain: true };
  };
  const amplification = () => line() && largest().most;
  return {
    worst,
    worstOnce: once,
    release: () => void releaseScratch(graph),
    start,
    amplification,
    ...(others && { others }),
    withOdds: (change) => over(withOdds(graph, change), others && withLayoutOdds(others, change), spenders, used),
  };
}

const endless = 60;

/** Far from where relative rounding stops being true. */
const least = 2 ** -300;

/** Nodes with the largest leakage, and a bound for all others. */
interface Ranked {
  readonly nodes: Uint32Array;
  readonly beyond: number;
}

/** Limit on the number of candidates for the worst record. */
const mostRanked = 4096;

function largestOf(leaks: Float64Array): Ranked & { readonly most: number } {
  const most = leaks.reduce((m, x) => Math.max(m, x), 0);
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
    const nodes = walk.order.subarray(walk.componentStart[c]!, walk.componentStart[c + 1]!);
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

function worstOf(laid: GraphLayout, used: Uint8Array | undefined, base: number): number {
  const spent = new Float64Array(laid.graph.records).fill(base);
  if (used) for (let u = 0; u < spent.length; u++) if (!used[u]) spent[u] = 0;
  return informedBound(laid.graph, spent, laid).leaks.reduce((m, x) => Math.max(m, x), 0);
}
