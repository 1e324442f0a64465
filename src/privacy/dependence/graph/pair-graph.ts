import type { FactorGraph } from './factor-graph.js';

/**
 * Pairwise ties: tie k joins member[2k] and member[2k + 1]. Each array is computed on first use, since most callers need few of
 * them.
 */
export interface PairEnds {
  readonly nodes: number;
  readonly ties: number;
  member(): Uint32Array;
  nodeStart(): Uint32Array;
  incidence(): Uint32Array;
  neighbour(): Uint32Array;
}

const ends = new WeakMap<FactorGraph, PairEnds>();

/** The ends of a graph that was made here. */
export const endsOf = (graph: FactorGraph): PairEnds | undefined => ends.get(graph);

/** A graph of ties between two, of one D or one per incidence. */
export function pairGraph(records: number, tied: PairEnds, odds: number | Float64Array): FactorGraph {
  const { nodes, ties } = tied;
  const incidences = 2 * ties;
  const start = lazy(() => Uint32Array.from({ length: ties + 1 }, (_, f) => 2 * f));
  const factorOf = lazy(() => Uint32Array.from({ length: incidences }, (_, p) => p >>> 1));
  const logOdds = lazy(() => (typeof odds === 'number' ? new Float64Array(incidences).fill(odds) : odds));
  const graph: FactorGraph = {
    records,
    nodes,
    factors: ties,
    pairwise: true,
    commonOdds: commonOf(ties, odds),
    get start() {
      return start();
    },
    get member() {
      return tied.member();
    },
    get logOdds() {
      return logOdds();
    },
    get factorOf() {
      return factorOf();
    },
    get nodeStart() {
      return tied.nodeStart();
    },
    get incidence() {
      return tied.incidence();
    },
    get neighbour() {
      return tied.neighbour();
    },
  };
  ends.set(graph, tied);
  return graph;
}

const commonOf = (ties: number, odds: number | Float64Array): number | undefined => {
  if (ties === 0) return undefined;
  return typeof odds === 'number' ? odds : commonValue(odds);
};

/** The D of all incidences, where it is one. */
export function commonValue(logOdds: Float64Array): number | undefined {
  const first = logOdds[0];
  for (let p = 1; p < logOdds.length; p++) if (logOdds[p] !== first) return undefined;
  return first;
}

/** Ties as they are listed. */
export function listedEnds(nodes: number, member: Uint32Array): PairEnds {
  const nodeStart = lazy(() => {
    const begin = new Uint32Array(nodes + 1);
    for (let p = 0; p < member.length; p++) begin[member[p]! + 1]!++;
    for (let u = 0; u < nodes; u++) begin[u + 1]! += begin[u]!;
    return begin;
  });
  const incidence = lazy(() => {
    const next = nodeStart().slice(0, nodes);
    const list = new Uint32Array(member.length);
    for (let p = 0; p < member.length; p++) list[next[member[p]!]!++] = p;
    return list;
  });
  const neighbour = lazy(() => {
    const list = new Uint32Array(member.length);
    const from = incidence();
    for (let k = 0; k < list.length; k++) list[k] = member[from[k]! ^ 1]!;
    return list;
  });
  return { nodes, ties: member.length / 2, member: () => member, nodeStart, incidence, neighbour };
}

/** Ties by their lesser end and then by their greater: those of lesser end u are greater[begin[u] .. begin[u + 1]]. */
export function orderedEnds(nodes: number, begin: Uint32Array, greater: Uint32Array): PairEnds {
  const member = lazy(() => {
    const list = new Uint32Array(2 * greater.length);
    for (let u = 0; u < nodes; u++)
      for (let k = begin[u]!; k < begin[u + 1]!; k++) {
        list[2 * k] = u;
        list[2 * k + 1] = greater[k]!;
      }
    return list;
  });
  const nodeStart = lazy(() => {
    const from = new Uint32Array(nodes + 1);
    for (let k = 0; k < greater.length; k++) from[greater[k]! + 1]!++;
    for (let u = 0; u < nodes; u++) from[u + 1]! += from[u]! + begin[u + 1]! - begin[u]!;
    return from;
  });
  // The ends that are less than u come to it before those that are greater, both in order.
  const incidence = lazy(() => {
    const next = nodeStart().slice(0, nodes);
    const list = new Uint32Array(2 * greater.length);
    for (let u = 0; u < nodes; u++)
      for (let k = begin[u]!; k < begin[u + 1]!; k++) {
        list[next[u]!++] = 2 * k;
        list[next[greater[k]!]!++] = 2 * k + 1;
      }
    return list;
  });
  const neighbour = lazy(() => {
    const next = nodeStart().slice(0, nodes);
    const list = new Uint32Array(2 * greater.length);
    for (let u = 0; u < nodes; u++)
      for (let k = begin[u]!; k < begin[u + 1]!; k++) {
        list[next[u]!++] = greater[k]!;
        list[next[greater[k]!]!++] = u;
      }
    return list;
  });
  return { nodes, ties: greater.length, member, nodeStart, incidence, neighbour };
}

/** The ties among the first nodes, none of which is tied to a later one, and whose ties are listed first. */
export function firstEnds(tied: PairEnds, nodes: number, ties: number): PairEnds {
  return {
    nodes,
    ties,
    member: lazy(() => tied.member().subarray(0, 2 * ties)),
    nodeStart: lazy(() => tied.nodeStart().subarray(0, nodes + 1)),
    incidence: lazy(() => tied.incidence().subarray(0, 2 * ties)),
    neighbour: lazy(() => tied.neighbour().subarray(0, 2 * ties)),
  };
}

/** Computes the value on first use, once. */
export function lazy<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
