import { addUp } from '../../../base/exact/outward.js';
import { cliqueLeaks, cliqueOdds } from '../graph/clique.js';
import type { FactorGraph } from '../graph/factor-graph.js';
import { forestPass, roundedUp } from '../graph/forest.js';
import { push } from '../graph/push.js';
import { cachedRecursion } from '../graph/recursion.js';
import { nodesOf } from '../graph/walk.js';
import { type PropagationOptions, propagate } from './belief-propagation.js';
import { type GraphLayout, layoutGraph, type Subgraph, subgraphOf } from './graph-layout.js';
import { isLargeGraph, pushOf } from './sweep.js';
import { worstFromAbove } from './worst-from-above.js';

/** Upper bounds on leakage to an informed attacker; theorem and proof of every branch in informed.proof.md. */
export interface InformedBound {
  /** Per record, rounded up. */
  readonly leaks: Float64Array;
  /** Total cost of each record's component: the group bound. */
  readonly group: Float64Array;
  /** Number of components decided by each method, for the plan's explanation. */
  readonly methods: { forest: number; recursion: number; clique: number; messages: number };
  /** True when some record's best bound is a cap rather than the ties' own strength. */
  readonly capped: boolean;
}

/** Smallest cost that is used: below all costs that matter, above the range where relative rounding fails. */
const least = 2 ** -900;

/** Messages for a small base: a start for similar questions about the same graph. */
export interface WarmStart {
  readonly graph: FactorGraph;
  readonly messages: Float64Array;
  /** By node of the part that goes by messages; leaks are rounded up. */
  readonly costs: Float64Array;
  readonly leaks: Float64Array;
  readonly largest: number;
  /** Worst leakage there, in units of that cost. */
  readonly amplification: number;
  /** True if F raises none of these messages: k times the messages is then a bound for costs of up to k times these. */
  readonly certain: boolean;
}

export interface InformedOptions {
  readonly start?: WarmStart | undefined;
  /** Leakage above this need not be precise. */
  readonly most?: number | undefined;
  readonly work?: Pick<PropagationOptions, 'loose' | 'hardWork' | 'part'> | undefined;
  /** Only the largest leakage matters, to about this relative precision: others may be reported as large as that. */
  readonly worst?: number | undefined;
}

/** Limit on updates of one incidence for a start. */
const startWork = 5e7;

/** Approximate fixed point of the messages for these costs; undefined if no component needs messages. */
export function warmStart(laid: GraphLayout, recordCosts: Float64Array, largest: number): WarmStart | undefined {
  if (!laid.rest) return undefined;
  const { graph } = laid.rest;
  const { costs, caps } = spentIn(laid.rest, nodeCosts(laid, recordCosts));
  const { leaks, certain } = propagate(graph, costs, caps, { loose: 5e-3, hardWork: startWork });
  const amplification = largestOf(leaks) / largest;
  const messages = certain ? certain.slice() : new Float64Array(graph.member.length);
  return { graph, messages, costs, leaks, largest, amplification, certain: certain !== undefined };
}

export function informedBound(
  graph: FactorGraph,
  recordCosts: Float64Array,
  laid: GraphLayout = layoutGraph(graph),
  options: InformedOptions = {},
): InformedBound {
  const { walk, small, cliques, rest } = laid;
  const spent = nodeCosts(laid, recordCosts);
  const forest = forestPass(walk, spent.costs);
  const leaks = new Float64Array(graph.nodes).fill(Number.POSITIVE_INFINITY);
  for (let c = 0; c < walk.components; c++)
    if (!walk.looped[c])
      for (let x = walk.componentStart[c]!; x < walk.componentStart[c + 1]!; x++) leaks[walk.order[x]!] = forest[x]!;
  const { recursion, clique, messages } = solveSmall(laid, spent, leaks);
  for (const { nodes, logOdds } of cliques) put(leaks, nodes, leaksInClique(spent, nodes, logOdds));
  if (rest) solveRest({ graph, rest }, spent, leaks, options);
  const byMessages = rest?.components ?? 0;
  const methods = {
    forest: walk.components - small.length - cliques.length - byMessages,
    recursion,
    clique: clique + cliques.length,
    messages: messages + byMessages,
  };
  const capped = applyCaps(graph, spent, leaks);
  return { leaks: leaks.subarray(0, graph.records), group: spent.whole.subarray(0, graph.records), methods, capped };
}

interface NodeCosts {
  readonly costs: Float64Array;
  readonly whole: Float64Array;
}

export function nodeCosts({ graph, walk }: GraphLayout, recordCosts: Float64Array): NodeCosts {
  if (recordCosts.length !== graph.records) throw new RangeError('one effect per record');
  const costs = new Float64Array(graph.nodes);
  for (let j = 0; j < recordCosts.length; j++) {
    const e = recordCosts[j]!;
    if (!(e >= 0)) throw new RangeError('effects are not negative');
    costs[j] = e > 0 && e < least ? least : e;
  }
  const whole = new Float64Array(graph.nodes);
  for (let c = 0; c < walk.components; c++) {
    const nodes = nodesOf(walk, c);
    let sum = 0;
    for (const u of nodes) sum = addUp(sum, costs[u]!);
    for (const u of nodes) whole[u] = sum;
  }
  return { costs, whole };
}

/** The costs of the nodes of a subgraph, and what they are capped by. */
function spentIn({ graph, nodes }: Subgraph, { costs, whole }: NodeCosts) {
  const select = (from: Float64Array) => (nodes ? Float64Array.from(nodes, (u) => from[u]!) : from.subarray(0, graph.nodes));
  return { costs: select(costs), caps: select(whole) };
}

function put(leaks: Float64Array, nodes: Uint32Array, found: readonly number[]): void {
  for (let k = 0; k < nodes.length; k++) leaks[nodes[k]!] = found[k]!;
}

const leaksInClique = ({ costs }: NodeCosts, nodes: Uint32Array, logOdds: number): number[] =>
  cliqueLeaks(
    Array.from(nodes, (u) => costs[u]!),
    logOdds,
  );

/** Small components by the recursion, or by the closed form of cliques where that equals it or the recursion takes too long. */
function solveSmall({ graph, small }: GraphLayout, spent: NodeCosts, leaks: Float64Array) {
  const { costs } = spent;
  const methods = { recursion: 0, clique: 0, messages: 0 };
  const recursion = cachedRecursion(graph, costs);
  const left: Uint32Array[] = [];
  for (const nodes of small) {
    const even = graph.commonOdds !== undefined && nodes.every((u) => costs[u] === costs[nodes[0]!]);
    const evenOdds = even ? cliqueOdds(graph, nodes) : undefined;
    const exact = evenOdds === undefined ? recursion(nodes) : undefined;
    const odds = exact ? undefined : (evenOdds ?? cliqueOdds(graph, nodes));
    const found = exact ?? (odds === undefined ? undefined : leaksInClique(spent, nodes, odds));
    if (found) put(leaks, nodes, found);
    else left.push(nodes);
    if (exact) methods.recursion++;
    else methods[found ? 'clique' : 'messages']++;
  }
  if (left.length > 0) byMessages(subgraphOf(graph, left), spent, leaks);
  return methods;
}

/** The components that go by messages: from above where only the largest leakage matters and few records decide it. */
function solveRest(
  { graph: all, rest }: { readonly graph: FactorGraph; readonly rest: Subgraph },
  spent: NodeCosts,
  leaks: Float64Array,
  { start, most, work, worst }: InformedOptions,
): void {
  const { graph, nodes } = rest;
  const largest = largestOf(spent.costs);
  const own = spentIn(rest, spent);
  const ceilings = () => own.caps.map((whole, k) => ceilingOf(own.costs[k]!, whole, totalLogOdds(all, nodes ? nodes[k]! : k)));
  if (worst !== undefined && isLargeGraph(graph)) {
    const above = start && startAbove(start, graph, own.costs, largest);
    const known = ceilings();
    const found = worstFromAbove(graph, {
      ...own,
      pushed: pushOf(graph),
      gain: worst,
      known: above ? (u) => Math.min(known[u]!, above.leak(u)) : (u) => known[u]!,
      above: above?.message,
    });
    if (found !== undefined) {
      lower(leaks, rest, () => found);
      return;
    }
  }
  const scale = start ? largest / start.largest : 0;
  byMessages(rest, spent, leaks, {
    ...work,
    start: scale > 0 && scale < 2 ** 60 ? start!.messages.map((x) => x * scale) : undefined,
    hopeless: most === undefined ? undefined : { most: 4 * most, caps: ceilings() },
  });
}

/** Upper bounds from a certain start for costs that are at most a multiple of its own, over the same ties; undefined for others. */
function startAbove(start: WarmStart, graph: FactorGraph, costs: Float64Array, largest: number) {
  const scale = (largest / start.largest) * (1 + 2 ** -50);
  if (!(start.certain && start.graph === graph && scale >= 1 && scale < 2 ** 60)) return undefined;
  if (!costs.every((e, k) => e <= start.costs[k]! * scale)) return undefined;
  return { leak: (u: number) => start.leaks[u]! * scale, message: (p: number) => start.messages[p]! * scale };
}

function byMessages(part: Subgraph, spent: NodeCosts, leaks: Float64Array, options: PropagationOptions = {}): void {
  const { costs, caps } = spentIn(part, spent);
  const found = propagate(part.graph, costs, caps, options).leaks;
  lower(leaks, part, (k) => found[k]!);
}

/** Of two bounds for a node the lesser counts. */
function lower(leaks: Float64Array, { graph, nodes }: Subgraph, found: (k: number) => number): void {
  for (let k = 0; k < graph.nodes; k++) {
    const u = nodes ? nodes[k]! : k;
    leaks[u] = Math.min(leaks[u]!, found(k));
  }
}

/** Total log odds ratio of a record's ties: the most that all of them together can pass on. */
export function totalLogOdds(graph: FactorGraph, u: number): number {
  const from = graph.nodeStart[u]!;
  const to = graph.nodeStart[u + 1]!;
  if (from === to) return 0;
  if (graph.commonOdds !== undefined) return (to - from) * graph.commonOdds * roundedUp;
  let odds = 0;
  for (let x = from; x < to; x++) odds = (odds + graph.logOdds[graph.incidence[x]!]!) * roundedUp;
  return odds;
}

/** Losses that exceed the odds by this much pass all of the odds. */
const endless = 60;

/** Upper bound on leakage from a record's own cost, the cost of its whole component and the total of its odds: both caps, and one shot. */
export function ceilingOf(own: number, whole: number, odds: number): number {
  if (whole > own + endless + odds) return addUp(own, odds);
  return Math.min(whole, addUp(own, push((whole - own) * roundedUp, odds)));
}

/** True when a cap decided some record with ties. */
function applyCaps(graph: FactorGraph, { costs, whole }: NodeCosts, leaks: Float64Array): boolean {
  let capped = false;
  for (let u = 0; u < graph.records; u++) {
    if (graph.nodeStart[u] === graph.nodeStart[u + 1]) continue;
    const odds = totalLogOdds(graph, u);
    const own = costs[u]!;
    let cap = Math.min(whole[u]!, addUp(own, odds));
    // push lies between 0 and either argument, so one shot can only matter where the others do not decide by far.
    if (leaks[u]! > own + 0.4 * (cap - own)) cap = ceilingOf(own, whole[u]!, odds);
    if (cap < leaks[u]!) {
      leaks[u] = cap;
      capped = true;
    }
  }
  return capped;
}

export const largestOf = (leaks: Float64Array): number => leaks.reduce((most, leak) => Math.max(most, leak), 0);
