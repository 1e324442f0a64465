import { addUp } from '../../exact/outward.js';
import { cliqueLeaks, cliqueOdds } from '../graph/clique.js';
import { assemble, type FactorGraph } from '../graph/factor-graph.js';
import { forestPass, roundedUp } from '../graph/forest.js';
import { push } from '../graph/push.js';
import { largestRecursion, pieceOf, recursion, shapeOf } from '../graph/recursion.js';
import { nodesOf, type Walk, walk } from '../graph/walk.js';
import { messages } from './messages.js';

/** What an informed adversary gains about each record; see informed.proof.md for the theorem and for why every branch is a bound. */
export interface InformedBound {
  /** Per record, rounded up. */
  readonly leaks: Float64Array;
  /** The whole effect of each record's component: the group bound. */
  readonly group: Float64Array;
  /** How many components each method decided, for the plan's explanation. */
  readonly methods: { forest: number; recursion: number; clique: number; messages: number };
  /** True when some record's best bound is a cap rather than the ties' own strength. */
  readonly capped: boolean;
}

/** Smaller than any effect that matters, larger than where relative rounding stops being true. */
const least = 2 ** -900;

/** The messages of the last question about the same graph: a start for the next one, never a part of its proof. */
export interface Memory {
  messages?: Float64Array;
  largest?: number;
}

export function informed(
  graph: FactorGraph,
  profile: Float64Array,
  walked: Walk = walk(graph),
  memory: Memory = {},
): InformedBound {
  if (profile.length !== graph.records) throw new RangeError('one effect per record');
  const effects = new Float64Array(graph.nodes);
  for (let j = 0; j < profile.length; j++) {
    const e = profile[j]!;
    if (!(e >= 0)) throw new RangeError('effects are not negative');
    effects[j] = e > 0 && e < least ? least : e;
  }
  const byPosition = new Float64Array(graph.nodes);
  for (let x = 0; x < graph.nodes; x++) byPosition[x] = effects[walked.order[x]!]!;
  const caps = componentSums(walked, byPosition);
  const forest = forestPass(walked, byPosition);
  const leaks = new Float64Array(graph.nodes);
  const whole = new Float64Array(graph.nodes);
  for (let c = 0; c < walked.components; c++)
    for (let x = walked.componentStart[c]!; x < walked.componentStart[c + 1]!; x++) {
      leaks[walked.order[x]!] = walked.looped[c] ? caps[c]! : forest[x]!;
      whole[walked.order[x]!] = caps[c]!;
    }
  const methods = solveLoops(graph, walked, effects, whole, leaks, memory);
  const capped = applyCaps(graph, effects, whole, leaks);
  return { leaks: leaks.subarray(0, graph.records), group: whole.subarray(0, graph.records), methods, capped };
}

function componentSums(w: Walk, byPosition: Float64Array): Float64Array {
  const sums = new Float64Array(w.components);
  for (let c = 0; c < w.components; c++)
    for (let x = w.componentStart[c]!; x < w.componentStart[c + 1]!; x++) sums[c] = addUp(sums[c]!, byPosition[x]!);
  return sums;
}

/** Small components by the recursion, cliques by its closed form, the rest together by messages. */
function solveLoops(
  graph: FactorGraph,
  w: Walk,
  effects: Float64Array,
  whole: Float64Array,
  leaks: Float64Array,
  memory: Memory,
) {
  const methods = { forest: w.components, recursion: 0, clique: 0, messages: 0 };
  const solved = new Map<string, readonly number[] | undefined>();
  const local = new Uint32Array(graph.nodes);
  const rest: Uint32Array[] = [];
  for (let c = 0; c < w.components; c++) {
    if (!w.looped[c]) continue;
    methods.forest--;
    const nodes = nodesOf(w, c);
    // Among equals the closed form is the recursion.
    const even =
      graph.commonOdds !== undefined && nodes.length <= largestRecursion && nodes.every((u) => effects[u] === effects[nodes[0]!]);
    const evenOdds = even ? cliqueOdds(graph, nodes) : undefined;
    const exact =
      nodes.length <= largestRecursion && evenOdds === undefined ? small(graph, nodes, effects, local, solved) : undefined;
    const odds = evenOdds ?? (exact || nodes.length > 2000 ? undefined : cliqueOdds(graph, nodes));
    const found =
      exact ??
      (odds === undefined
        ? undefined
        : cliqueLeaks(
            Array.from(nodes, (u) => effects[u]!),
            odds,
          ));
    if (!found) rest.push(nodes);
    else for (let k = 0; k < nodes.length; k++) leaks[nodes[k]!] = found[k]!;
    methods[exact ? 'recursion' : found ? 'clique' : 'messages']++;
  }
  if (rest.length === 0) return methods;
  const { part, nodes } = cutOut(graph, rest, local);
  const select = (from: Float64Array) => Float64Array.from(nodes, (u) => from[u]!);
  const largest = effects.reduce((m, e) => Math.max(m, e), 0);
  const scale = largest / (memory.largest ?? 0);
  const start = memory.messages && scale < 2 ** 60 ? { start: memory.messages.map((x) => x * scale) } : {};
  const answer = messages(part, select(effects), select(whole), start);
  memory.messages = answer.found;
  memory.largest = largest;
  for (let k = 0; k < nodes.length; k++) leaks[nodes[k]!] = answer.leaks[k]!;
  return methods;
}

/** Shapes remembered: where every component has one of its own, remembering gains nothing. */
const mostShapes = 20_000;

function small(
  graph: FactorGraph,
  nodes: Uint32Array,
  effects: Float64Array,
  local: Uint32Array,
  solved: Map<string, readonly number[] | undefined>,
): readonly number[] | undefined {
  const piece = pieceOf(graph, nodes, effects, local);
  const shape = shapeOf(piece);
  if (solved.has(shape)) return solved.get(shape);
  const found = recursion(piece);
  if (solved.size < mostShapes) solved.set(shape, found);
  return found;
}

/** The graph of some components alone. Visible records come before hidden types, as in the whole graph. */
function cutOut(graph: FactorGraph, components: readonly Uint32Array[], local: Uint32Array) {
  const size = components.reduce((s, c) => s + c.length, 0);
  const nodes = new Uint32Array(size);
  let at = 0;
  for (const c of components) {
    nodes.set(c, at);
    at += c.length;
  }
  nodes.sort();
  if (size === graph.nodes) return { part: graph, nodes };
  const records = nodes.reduce((s, u) => s + (u < graph.records ? 1 : 0), 0);
  for (let k = 0; k < size; k++) local[nodes[k]!] = k;
  let incidences = 0;
  for (const u of nodes) incidences += graph.nodeStart[u + 1]! - graph.nodeStart[u]!;
  const start = new Uint32Array(incidences + 1);
  const member = new Uint32Array(incidences);
  const odds = new Float64Array(incidences);
  let factors = 0;
  let filled = 0;
  for (let k = 0; k < size; k++)
    for (let x = graph.nodeStart[nodes[k]!]!; x < graph.nodeStart[nodes[k]! + 1]!; x++) {
      const p = graph.incidence[x]!;
      const f = graph.factorOf[p]!;
      if (graph.start[f] !== p) continue;
      for (let q = p; q < graph.start[f + 1]!; q++) {
        member[filled] = local[graph.member[q]!]!;
        odds[filled++] = graph.logOdds[q]!;
      }
      start[++factors] = filled;
    }
  return { part: assemble(records, size, start.slice(0, factors + 1), member, odds), nodes };
}

/** Group, odds and one-shot caps; true when a cap decided some record with ties. */
function applyCaps(graph: FactorGraph, effects: Float64Array, whole: Float64Array, leaks: Float64Array): boolean {
  let capped = false;
  for (let u = 0; u < graph.records; u++) {
    const from = graph.nodeStart[u]!;
    const to = graph.nodeStart[u + 1]!;
    if (from === to) continue;
    let odds = 0;
    if (graph.commonOdds !== undefined) odds = (to - from) * graph.commonOdds * roundedUp;
    else for (let x = from; x < to; x++) odds = (odds + graph.logOdds[graph.incidence[x]!]!) * roundedUp;
    const own = effects[u]!;
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
