import { addUp } from '../../../base/exact/outward.js';
import { cliqueLeaks, cliqueOdds } from '../graph/clique.js';
import type { FactorGraph } from '../graph/factor-graph.js';
import { forestPass, roundedUp } from '../graph/forest.js';
import { push } from '../graph/push.js';
import { componentOf, componentShape, recursion } from '../graph/recursion.js';
import type { GraphWalk } from '../graph/walk.js';
import { type PropagationOptions, propagate } from './belief-propagation.js';
import { type GraphLayout, layoutGraph, type Subgraph, subgraphOf } from './graph-layout.js';
import { isLargeGraph, type MessageGraph, pushOf } from './sweep.js';
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
  readonly graph: MessageGraph;
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
  readonly start?: WarmStart;
  /** Leakage above this need not be precise. */
  readonly most?: number;
  readonly work?: Pick<PropagationOptions, 'loose' | 'hardWork' | 'part'>;
  /** Only the largest leakage matters, to about this relative precision: others may be reported as large as that. */
  readonly worst?: number;
}

/** Limit on updates of one incidence for a start. */
const startWork = 5e7;

/** Approximate fixed point of the messages for these costs; undefined if no component needs messages. */
export function warmStart(laid: GraphLayout, recordCosts: Float64Array, largest: number): WarmStart | undefined {
  if (!laid.rest) return undefined;
  const { graph, nodes } = laid.rest;
  const { effects: costs, whole } = nodeCosts(laid, recordCosts);
  const select = (from: Float64Array) => (nodes ? Float64Array.from(nodes, (u) => from[u]!) : from.subarray(0, graph.nodes));
  return warmStartOn(graph, select(costs), select(whole), largest);
}

/** The same for the subgraph that uses messages. */
export function warmStartOn(graph: MessageGraph, costs: Float64Array, caps: Float64Array, largest: number): WarmStart {
  const { leaks, certain } = propagate(graph, costs, caps, { loose: 5e-3, hardWork: startWork });
  const amplification = leaks.reduce((m, x) => Math.max(m, x), 0) / largest;
  const found = certain ? certain.slice() : new Float64Array(graph.member.length);
  return { graph, messages: found, costs, leaks, largest, amplification, certain: certain !== undefined };
}

export function informedBound(
  graph: FactorGraph,
  recordCosts: Float64Array,
  laid: GraphLayout = layoutGraph(graph),
  informedOptions: InformedOptions = {},
): InformedBound {
  const { walk } = laid;
  const { effects: costs, whole, byPosition } = nodeCosts(laid, recordCosts);
  const forest = forestPass(walk, byPosition);
  const leaks = new Float64Array(graph.nodes);
  for (let c = 0; c < walk.components; c++)
    for (let x = walk.componentStart[c]!; x < walk.componentStart[c + 1]!; x++) {
      const u = walk.order[x]!;
      leaks[u] = walk.looped[c] ? whole[u]! : forest[x]!;
    }
  const methods = solveLoops(laid, costs, whole, leaks, informedOptions);
  const capped = applyCaps(graph, costs, whole, leaks);
  return { leaks: leaks.subarray(0, graph.records), group: whole.subarray(0, graph.records), methods, capped };
}

/** Cost of each node, by number and by position in the walk, and the total cost of its component. */
export function nodeCosts({ graph, walk }: GraphLayout, recordCosts: Float64Array) {
  if (recordCosts.length !== graph.records) throw new RangeError('one effect per record');
  const costs = new Float64Array(graph.nodes);
  for (let j = 0; j < recordCosts.length; j++) {
    const e = recordCosts[j]!;
    if (!(e >= 0)) throw new RangeError('effects are not negative');
    costs[j] = e > 0 && e < least ? least : e;
  }
  const byPosition = new Float64Array(graph.nodes);
  for (let x = 0; x < graph.nodes; x++) byPosition[x] = costs[walk.order[x]!]!;
  const whole = new Float64Array(graph.nodes);
  const sums = componentSums(walk, byPosition);
  for (let c = 0; c < walk.components; c++)
    for (let x = walk.componentStart[c]!; x < walk.componentStart[c + 1]!; x++) whole[walk.order[x]!] = sums[c]!;
  return { effects: costs, byPosition, whole };
}

function componentSums(w: GraphWalk, byPosition: Float64Array): Float64Array {
  const sums = new Float64Array(w.components);
  for (let c = 0; c < w.components; c++)
    for (let x = w.componentStart[c]!; x < w.componentStart[c + 1]!; x++) sums[c] = addUp(sums[c]!, byPosition[x]!);
  return sums;
}

/** Small components by the recursion, cliques by the closed form, all others by messages. */
function solveLoops(
  laid: GraphLayout,
  costs: Float64Array,
  whole: Float64Array,
  leaks: Float64Array,
  informedOptions: InformedOptions,
) {
  const { graph, walk, small, cliques, rest } = laid;
  const methods = { forest: walk.components, recursion: 0, clique: 0, messages: 0 };
  const solved = new Map<string, readonly number[] | undefined>();
  const local = new Uint32Array(small.length > 0 ? graph.nodes : 0);
  const left: Uint32Array[] = [];
  const cliqueOf = (nodes: Uint32Array, odds: number) =>
    cliqueLeaks(
      Array.from(nodes, (u) => costs[u]!),
      odds,
    );
  const put = (nodes: Uint32Array, found: readonly number[]) => {
    for (let k = 0; k < nodes.length; k++) leaks[nodes[k]!] = found[k]!;
  };
  for (const { nodes } of small) {
    methods.forest--;
    // For equal costs the closed form equals the recursion.
    const even = graph.commonOdds !== undefined && nodes.every((u) => costs[u] === costs[nodes[0]!]);
    const evenOdds = even ? cliqueOdds(graph, nodes) : undefined;
    const exact = evenOdds === undefined ? bySmallest(graph, nodes, costs, local, solved) : undefined;
    const odds = exact ? undefined : (evenOdds ?? cliqueOdds(graph, nodes));
    const found = exact ?? (odds === undefined ? undefined : cliqueOf(nodes, odds));
    if (found) put(nodes, found);
    else left.push(nodes);
    methods[exact ? 'recursion' : found ? 'clique' : 'messages']++;
  }
  for (const { nodes, logOdds } of cliques) {
    methods.forest--;
    methods.clique++;
    put(nodes, cliqueOf(nodes, logOdds));
  }
  if (left.length > 0) byMessages(subgraphOf(graph, left), left, costs, whole, leaks, {});
  if (!rest) return methods;
  methods.forest -= rest.components;
  methods.messages += rest.components;
  const largest = costs.reduce((m, e) => Math.max(m, e), 0);
  if (informedOptions.worst !== undefined && isLargeGraph(rest.graph)) {
    const worst = worstOfRest(laid, rest, costs, whole, largest, informedOptions.worst, informedOptions.start);
    if (worst !== undefined) {
      for (let k = 0; k < rest.graph.nodes; k++) {
        const u = rest.nodes ? rest.nodes[k]! : k;
        if (worst < leaks[u]!) leaks[u] = worst;
      }
      return methods;
    }
  }
  const scale = largest / (informedOptions.start?.largest ?? 0);
  const start = informedOptions.start && scale < 2 ** 60 ? { start: informedOptions.start.messages.map((x) => x * scale) } : {};
  const ceilings = informedOptions.most === undefined ? undefined : ceilingsOf(rest, costs, whole, graph);
  const hopeless = ceilings ? { hopeless: { most: 4 * informedOptions.most!, caps: ceilings } } : {};
  byMessages(rest, undefined, costs, whole, leaks, { ...informedOptions.work, ...start, ...hopeless });
  return methods;
}

/** Bounds for every node of the message subgraph, as precise as the worst one needs; undefined if not found quickly. */
function worstOfRest(
  { graph: all }: GraphLayout,
  rest: Subgraph,
  costs: Float64Array,
  whole: Float64Array,
  largest: number,
  gain: number,
  start: WarmStart | undefined,
): number | undefined {
  const { graph, nodes } = rest;
  const select = (from: Float64Array) => (nodes ? Float64Array.from(nodes, (u) => from[u]!) : from.subarray(0, graph.nodes));
  const ceilings = ceilingsOf(rest, costs, whole, all);
  const own = select(costs);
  const scale = start ? (largest / start.largest) * (1 + 2 ** -50) : 0;
  const covers = (s: WarmStart) => s.certain && s.graph === graph && own.every((e, k) => e <= s.costs[k]! * scale);
  const scaled = start && scale >= 1 && scale < 2 ** 60 && covers(start) ? start : undefined;
  return worstFromAbove(graph, {
    costs: own,
    caps: select(whole),
    pushed: pushOf(graph),
    twin: 0,
    gain,
    known: scaled ? (u) => Math.min(ceilings[u]!, scaled.leaks[u]! * scale) : (u) => ceilings[u]!,
    ...(scaled && { above: (p: number) => scaled.messages[p]! * scale }),
  });
}

/** Leaks by messages of the nodes of a part, or of some of its components only. */
function byMessages(
  { graph, nodes }: Subgraph,
  only: readonly Uint32Array[] | undefined,
  costs: Float64Array,
  whole: Float64Array,
  leaks: Float64Array,
  options: PropagationOptions,
): void {
  const select = (from: Float64Array) => (nodes ? Float64Array.from(nodes, (u) => from[u]!) : from.subarray(0, graph.nodes));
  const answer = propagate(graph, select(costs), select(whole), options);
  if (nodes) for (let k = 0; k < nodes.length; k++) leaks[nodes[k]!] = answer.leaks[k]!;
  // A bound from another method may be smaller: the lesser one counts.
  else if (only) for (const own of only) for (const u of own) leaks[u] = answer.leaks[u]!;
  else for (let u = 0; u < graph.nodes; u++) if (answer.leaks[u]! < leaks[u]!) leaks[u] = answer.leaks[u]!;
}

/** Upper bounds on leakage from group and odds alone, for each node of a subgraph. */
function ceilingsOf({ graph, nodes }: Subgraph, costs: Float64Array, whole: Float64Array, all: FactorGraph): Float64Array {
  return Float64Array.from({ length: graph.nodes }, (_, k) => {
    const u = nodes ? nodes[k]! : k;
    return Math.min(whole[u]!, addUp(costs[u]!, totalLogOdds(all, u)));
  });
}

/** Limit on recorded shapes: with all components different, recording is useless. */
const mostShapes = 20_000;

function bySmallest(
  graph: FactorGraph,
  nodes: Uint32Array,
  costs: Float64Array,
  local: Uint32Array,
  solved: Map<string, readonly number[] | undefined>,
): readonly number[] | undefined {
  const piece = componentOf(graph, nodes, costs, local);
  const shape = componentShape(piece);
  if (solved.has(shape)) return solved.get(shape);
  const found = recursion(piece);
  if (solved.size < mostShapes) solved.set(shape, found);
  return found;
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

/** Group, odds and one-shot caps; true when a cap decided some record with ties. */
function applyCaps(graph: FactorGraph, costs: Float64Array, whole: Float64Array, leaks: Float64Array): boolean {
  let capped = false;
  for (let u = 0; u < graph.records; u++) {
    if (graph.nodeStart[u] === graph.nodeStart[u + 1]) continue;
    const odds = totalLogOdds(graph, u);
    const own = costs[u]!;
    let cap = Math.min(whole[u]!, addUp(own, odds));
    // push lies between 0 and either argument, so the one-shot cap can only matter where the others do not decide by far.
    if (leaks[u]! > own + 0.4 * (cap - own)) cap = Math.min(cap, addUp(own, push((whole[u]! - own) * roundedUp, odds)));
    if (cap < leaks[u]!) {
      leaks[u] = cap;
      capped = true;
    }
  }
  return capped;
}
