import type { FactorGraph } from './factor-graph.js';
import { lazy } from './pair-graph.js';

/**
 * Breadth-first walk over the whole graph. Positions are indices in `order`; nodes introduced by a factor are adjacent, and
 * factors are in the order of the introducing nodes, so passes read memory in sequence.
 */
export interface GraphWalk {
  /** order[position] = node. */
  readonly order: Uint32Array;
  /** Positions of component c are componentStart[c] .. componentStart[c+1]; its factors factorStart[c] .. factorStart[c+1]. */
  readonly componentStart: Uint32Array;
  readonly factorStart: Uint32Array;
  readonly components: number;
  /** 1 where the component has a loop (or two factors over the same records). */
  readonly looped: Uint8Array;
  /** Per walked factor: the position of the node that introduced it, D towards that node, and the end of its own nodes' positions. */
  readonly parent: Uint32Array;
  readonly parentOdds: Float64Array;
  readonly childEnd: Uint32Array;
  /** Per position: D of the factor that introduced the node towards it; of a first node it means nothing. */
  readonly childOdds: Float64Array;
  /** The D of all, where there is but one. */
  readonly commonOdds: number | undefined;
}

export const walkGraph = (graph: FactorGraph): GraphWalk => (graph.pairwise ? walkPairs(graph) : walkFactors(graph));

/** The same walk where every factor is a pair: a component is a tree exactly when it has one tie less than nodes. */
function walkPairs(graph: FactorGraph): GraphWalk {
  const { nodes, nodeStart, neighbour, commonOdds } = graph;
  const [logOdds, incidence] = commonOdds === undefined ? [graph.logOdds, graph.incidence] : [];
  const order = new Uint32Array(nodes);
  const childOdds = new Float64Array(logOdds ? nodes : 0);
  const seen = new Uint8Array(nodes);
  const parent = new Uint32Array(graph.factors);
  const parentOdds = new Float64Array(logOdds ? graph.factors : 0);
  const childEnd = new Uint32Array(graph.factors);
  const componentStart = new Uint32Array(nodes + 1);
  const factorStart = new Uint32Array(nodes + 1);
  const looped = new Uint8Array(nodes);
  let components = 0;
  let tail = 0;
  let f = 0;
  for (let root = 0; root < nodes; root++) {
    if (seen[root] === 1) continue;
    seen[root] = 1;
    let head = tail;
    let ends = 0;
    order[tail++] = root;
    while (head < tail) {
      const position = head++;
      const u = order[position]!;
      const from = nodeStart[u]!;
      const to = nodeStart[u + 1]!;
      ends += to - from;
      for (let k = from; k < to; k++) {
        const w = neighbour[k]!;
        if (seen[w] === 1) continue;
        seen[w] = 1;
        parent[f] = position;
        if (logOdds) {
          parentOdds[f] = logOdds[incidence![k]!]!;
          childOdds[tail] = logOdds[incidence![k]! ^ 1]!;
        }
        order[tail++] = w;
        childEnd[f++] = tail;
      }
    }
    looped[components] = ends / 2 === tail - componentStart[components]! - 1 ? 0 : 1;
    componentStart[++components] = tail;
    factorStart[components] = f;
  }
  const starts = { componentStart, factorStart, looped };
  const walked = trimmed({ order, components, ...starts, parent, parentOdds, childEnd, childOdds, commonOdds: undefined });
  return commonOdds === undefined ? walked : withCommonOdds(walked, commonOdds);
}

function walkFactors(graph: FactorGraph): GraphWalk {
  const { nodes, factors, start, member, logOdds, factorOf, nodeStart, incidence } = graph;
  const order = new Uint32Array(nodes);
  const childOdds = new Float64Array(nodes);
  /** 1 + the factor that introduced a node; 0 unseen, `first` for the first of a component. */
  const introduced = new Uint32Array(nodes);
  const first = 0xffffffff;
  const walked = new Uint8Array(factors);
  const parent = new Uint32Array(factors);
  const parentOdds = new Float64Array(factors);
  const childEnd = new Uint32Array(factors);
  const componentStart = new Uint32Array(nodes + 1);
  const factorStart = new Uint32Array(nodes + 1);
  const looped = new Uint8Array(nodes);
  let components = 0;
  let tail = 0;
  let f = 0;
  for (let root = 0; root < nodes; root++) {
    if (introduced[root] !== 0) continue;
    introduced[root] = first;
    let head = tail;
    order[tail++] = root;
    let loop = 0;
    while (head < tail) {
      const position = head++;
      const u = order[position]!;
      const own = introduced[u]!;
      for (let k = nodeStart[u]!; k < nodeStart[u + 1]!; k++) {
        const p = incidence[k]!;
        const factor = factorOf[p]!;
        if (own === factor + 1) continue;
        if (walked[factor] === 1) {
          loop = 1;
          continue;
        }
        walked[factor] = 1;
        parent[f] = position;
        parentOdds[f] = logOdds[p]!;
        for (let q = start[factor]!; q < start[factor + 1]!; q++) {
          if (q === p) continue;
          const w = member[q]!;
          if (introduced[w] !== 0) {
            loop = 1;
            continue;
          }
          introduced[w] = factor + 1;
          childOdds[tail] = logOdds[q]!;
          order[tail++] = w;
        }
        childEnd[f++] = tail;
      }
    }
    looped[components++] = loop;
    componentStart[components] = tail;
    factorStart[components] = f;
  }
  const starts = { componentStart, factorStart, looped };
  return trimmed({ order, components, ...starts, parent, parentOdds, childEnd, childOdds, commonOdds: undefined });
}

/** Copied, as there are mostly far fewer components than nodes. */
const trimmed = (w: GraphWalk): GraphWalk => ({
  ...w,
  componentStart: w.componentStart.slice(0, w.components + 1),
  factorStart: w.factorStart.slice(0, w.components + 1),
  looped: w.looped.slice(0, w.components),
});

/** One D for all of them: arrays of it are made for those who ask. */
function withCommonOdds(w: GraphWalk, commonOdds: number): GraphWalk {
  const every = (length: number) => lazy(() => new Float64Array(length).fill(commonOdds));
  const [parents, children] = [every(w.parent.length), every(w.order.length)];
  const { order, components, componentStart, factorStart, looped, parent, childEnd } = w;
  return {
    order,
    components,
    componentStart,
    factorStart,
    looped,
    parent,
    childEnd,
    commonOdds,
    get parentOdds() {
      return parents();
    },
    get childOdds() {
      return children();
    },
  };
}

export const nodesOf = (w: GraphWalk, component: number): Uint32Array =>
  w.order.subarray(w.componentStart[component]!, w.componentStart[component + 1]!);

export function withWalkedOdds(w: GraphWalk, change: (logOdds: number) => number): GraphWalk {
  if (w.commonOdds !== undefined) return withCommonOdds(w, change(w.commonOdds));
  return { ...w, parentOdds: w.parentOdds.map(change), childOdds: w.childOdds.map(change) };
}
