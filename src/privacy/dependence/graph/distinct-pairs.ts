import type { FactorGraph } from './factor-graph.js';
import { listedEnds, pairGraph } from './pair-graph.js';
import { largestRecursion } from './recursion.js';
import { largestCompared, mixHash, ShapeSet } from './shape-set.js';

export interface DistinctPairs {
  readonly graph: FactorGraph;
  /** The node of the whole graph that each node was. */
  readonly nodes: Uint32Array;
}

/**
 * One component of each shape of a graph of pairwise ties, renumbered in the order of one walk, in which messages converge
 * soonest. Large components with loops come first, so that they form a graph without copying.
 */
export function distinctPairs(graph: FactorGraph, used: Uint8Array | undefined): DistinctPairs {
  const { nodes, factors, nodeStart, neighbour, commonOdds } = graph;
  const [logOdds, incidence] = commonOdds === undefined ? [graph.logOdds, graph.incidence] : [];
  const order = new Uint32Array(nodes);
  // For node u: start of its neighbours, and one more than its number in the list (0 before the walk reaches it); adjacent in
  // memory, since both are read together.
  const about = new Uint32Array(2 * nodes + 1);
  for (let u = 0; u <= nodes; u++) about[2 * u] = nodeStart[u]!;
  // Start and end of each listed node's neighbours, read when the walk reached it, for locality of memory.
  const span = new Uint32Array(2 * nodes);
  const member = new Uint32Array(2 * factors);
  const odds = logOdds && new Float64Array(2 * factors);
  const listed: Listed = { order, member, odds, used };
  const shapes = shapesIn(listed);
  const kept: Component[] = [];
  /** True if a component without ties was kept: index 0 unused, 1 used. */
  const alone = new Uint8Array(2);
  let tail = 0;
  let p = 0;
  for (let root = 0; root < nodes; root++) {
    if (about[2 * root + 1] !== 0) continue;
    const from = tail;
    const tie = p;
    order[tail] = root;
    span[2 * tail] = about[2 * root]!;
    span[2 * tail + 1] = about[2 * root + 2]!;
    about[2 * root + 1] = ++tail;
    for (let head = from; head < tail; head++) {
      const end = span[2 * head + 1]!;
      for (let x = span[2 * head]!; x < end; x++) {
        const w = neighbour[x]!;
        let at = about[2 * w + 1]!;
        if (at === 0) {
          order[tail] = w;
          span[2 * tail] = about[2 * w]!;
          span[2 * tail + 1] = about[2 * w + 2]!;
          at = about[2 * w + 1] = ++tail;
        }
        if (at <= head) continue;
        if (odds) {
          odds[p] = logOdds![incidence![x]!]!;
          odds[p + 1] = logOdds![incidence![x]! ^ 1]!;
        }
        member[p] = head;
        member[p + 1] = at - 1;
        p += 2;
      }
    }
    const own: Component = { from, to: tail, tie, end: p };
    if (isNew(own)) kept.push(own);
    else [tail, p] = [from, tie];
  }
  const [nodesOf, made, strengths] = largeFirst(listed, kept, tail, p);
  return { graph: pairGraph(tail, listedEnds(tail, made), strengths ?? commonOdds ?? 0), nodes: nodesOf };

  function isNew(own: Component): boolean {
    const size = own.to - own.from;
    if (size > 1) return size > largestCompared || shapes.add(own);
    const kind = used?.[order[own.from]!] ?? 1;
    if (alone[kind]) return false;
    alone[kind] = 1;
    return true;
  }
}

/** Nodes from .. to and incidences tie .. end of a list. */
interface Component {
  readonly from: number;
  readonly to: number;
  readonly tie: number;
  readonly end: number;
}
interface Listed {
  readonly order: Uint32Array;
  readonly member: Uint32Array;
  readonly odds: Float64Array | undefined;
  readonly used: Uint8Array | undefined;
}

/** True if the component has a loop and is too large for the recursion. */
const isLarge = ({ from, to, tie, end }: Component): boolean => to - from > largestRecursion && (end - tie) / 2 >= to - from;

/** The same list with the large components first, trimmed to its length. */
function largeFirst({ order, member, odds }: Listed, kept: readonly Component[], nodes: number, incidences: number) {
  const large = kept.filter(isLarge);
  const moved = large.length > 0 && large.at(-1)!.to > large.reduce((sum, c) => sum + c.to - c.from, 0);
  if (!moved) return [order.slice(0, nodes), member.slice(0, incidences), odds?.slice(0, incidences)] as const;
  const [newOrder, newMember] = [new Uint32Array(nodes), new Uint32Array(incidences)];
  const newOdds = odds && new Float64Array(incidences);
  let [at, p] = [0, 0];
  for (const { from, to, tie, end } of [...large, ...kept.filter((c) => !isLarge(c))]) {
    newOrder.set(order.subarray(from, to), at);
    if (newOdds) newOdds.set(odds!.subarray(tie, end), p);
    const shift = at - from;
    for (let k = tie; k < end; k++) newMember[p++] = member[k]! + shift;
    at += to - from;
  }
  return [newOrder, newMember, newOdds] as const;
}

/** The shapes of components of a list. */
function shapesIn({ order, member, odds, used }: Listed): ShapeSet<Component> {
  const same = (a: Component, b: Component): boolean => {
    if (b.to - b.from !== a.to - a.from || endsIn(b) !== endsIn(a)) return false;
    for (let k = 0; k < endsIn(a); k++) {
      if (member[a.tie + k]! - a.from !== member[b.tie + k]! - b.from) return false;
      if (odds && odds[a.tie + k] !== odds[b.tie + k]) return false;
    }
    if (used) for (let k = 0; k < a.to - a.from; k++) if (used[order[a.from + k]!] !== used[order[b.from + k]!]) return false;
    return true;
  };
  const hashOf = (own: Component): number => {
    let hash = own.to - own.from;
    for (let k = 0; k < endsIn(own); k++) hash = mixHash(hash, member[own.tie + k]! - own.from);
    return hash;
  };
  return new ShapeSet(hashOf, same);
}

/** Number of tie ends of a component. */
const endsIn = ({ tie, end }: Component): number => end - tie;
