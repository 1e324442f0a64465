import { cliqueOdds } from '../graph/clique.js';
import { assemble, type FactorGraph, withOdds } from '../graph/factor-graph.js';
import { endsOf, firstEnds, pairGraph } from '../graph/pair-graph.js';
import { largestRecursion } from '../graph/recursion.js';
import { type GraphWalk, nodesOf, walkGraph, withWalkedOdds } from '../graph/walk.js';

/** Graph prepared for bounds: its walk, and the method for each component with loops. Computed once, used for many bounds. */
export interface GraphLayout {
  readonly graph: FactorGraph;
  readonly walk: GraphWalk;
  /** Components with loops that are small enough for the recursion. */
  readonly small: readonly Uint32Array[];
  /** Larger ones in which every two records are tied. */
  readonly cliques: readonly { readonly nodes: Uint32Array; readonly logOdds: number }[];
  /** All others, which go by messages; absent when there are none. */
  readonly rest?: Subgraph;
}

/**
 * Subgraph of some components: node k is nodes[k] of the whole graph; without `nodes` it is the whole graph, or its first nodes.
 */
export interface Subgraph {
  readonly graph: FactorGraph;
  readonly nodes?: Uint32Array;
  readonly components: number;
}

/** Cliques are looked for up to this size. */
const largestClique = 2000;

export function layoutGraph(graph: FactorGraph): GraphLayout {
  const w = walkGraph(graph);
  const small: Uint32Array[] = [];
  const cliques: { nodes: Uint32Array; logOdds: number }[] = [];
  const rest: Uint32Array[] = [];
  for (let c = 0; c < w.components; c++) {
    if (!w.looped[c]) continue;
    const nodes = nodesOf(w, c);
    if (nodes.length <= largestRecursion) {
      small.push(nodes);
      continue;
    }
    const logOdds = nodes.length <= largestClique ? cliqueOdds(graph, nodes) : undefined;
    if (logOdds === undefined) rest.push(nodes);
    else cliques.push({ nodes, logOdds });
  }
  return { graph, walk: w, small, cliques, ...(rest.length > 0 && { rest: subgraphOf(graph, rest) }) };
}

/** The same for the graph with every D replaced by one that grows with it. */
export function withLayoutOdds(
  { graph, walk, small, cliques, rest }: GraphLayout,
  change: (logOdds: number) => number,
): GraphLayout {
  const changed = withOdds(graph, change);
  return {
    graph: changed,
    walk: withWalkedOdds(walk, change),
    small,
    cliques: cliques.map((clique) => ({ ...clique, logOdds: change(clique.logOdds) })),
    ...(rest && { rest: { ...rest, graph: rest.graph === graph ? changed : withOdds(rest.graph, change) } }),
  };
}

/** The components with these nodes; the whole graph where that is most of it, as what is sent elsewhere does not matter. */
export function subgraphOf(graph: FactorGraph, components: readonly Uint32Array[]): Subgraph {
  const first = leadingSubgraph(graph, components);
  if (first) return { graph: first, components: components.length };
  let incidences = 0;
  for (const nodes of components) for (const u of nodes) incidences += graph.nodeStart[u + 1]! - graph.nodeStart[u]!;
  return 2 * incidences > graph.member.length ? { graph, components: components.length } : cutOut(graph, components, incidences);
}

/** The components as a graph, where a walk came to them before all others and listed ties as it did (graph/distinct-pairs.ts). */
function leadingSubgraph(graph: FactorGraph, components: readonly Uint32Array[]): FactorGraph | undefined {
  const ends = endsOf(graph);
  if (!ends || graph.nodes !== graph.records) return undefined;
  let nodes = 0;
  let last = 0;
  for (const component of components) {
    nodes += component.length;
    for (const u of component) if (u > last) last = u;
  }
  if (last !== nodes - 1) return undefined;
  const { member } = graph;
  const incidences = graph.nodeStart[nodes]!;
  // Ties among the first nodes have to be the first ties.
  for (let p = 0; p < incidences; p += 2) if (member[p]! >= nodes) return undefined;
  const odds = graph.commonOdds ?? graph.logOdds.subarray(0, incidences);
  return pairGraph(nodes, firstEnds(ends, nodes, incidences / 2), odds);
}

/** Visible records come before hidden types, as in the whole graph. */
function cutOut(graph: FactorGraph, components: readonly Uint32Array[], incidences: number): Subgraph {
  const size = components.reduce((s, c) => s + c.length, 0);
  const nodes = new Uint32Array(size);
  let at = 0;
  for (const c of components) {
    nodes.set(c, at);
    at += c.length;
  }
  nodes.sort();
  const records = nodes.reduce((s, u) => s + (u < graph.records ? 1 : 0), 0);
  const local = new Uint32Array(graph.nodes);
  for (let k = 0; k < size; k++) local[nodes[k]!] = k;
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
  return {
    graph: assemble({ records, nodes: size, start: start.slice(0, factors + 1), member, logOdds: odds }),
    nodes,
    components: components.length,
  };
}
