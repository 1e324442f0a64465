import { choose } from '../query/ladders.js';
import { degreeOf, type Graph, subgraph } from './csr.js';
import { countCliques, edgeSupports } from './subgraph-counts.js';

/**
 * Sensitivity of a count to one edge, present or not, in this graph: the statistics that ladders start from. Exact, so never to be
 * released.
 */

/** Calls `visit` with every node and its distinct nodes at two steps that have a higher number; `paths[j]` common neighbours with each. */
function eachPair(
  g: Graph,
  from: number,
  visit: (i: number, touched: Uint32Array, size: number, paths: Uint32Array) => number,
): void {
  const { offsets, targets } = g;
  const paths = new Uint32Array(g.nodes);
  const touched = new Uint32Array(g.nodes);
  let floor = from;
  // Only pairs whose lower degree is above `floor` can matter; higher numbers have at least as many neighbours.
  for (let i = g.nodes - 1; i >= 0 && degreeOf(g, i) > floor; i--) {
    let size = 0;
    for (let e = offsets[i]!; e < offsets[i + 1]!; e++) {
      const u = targets[e]!;
      for (let f = offsets[u + 1]! - 1; f >= offsets[u]! && targets[f]! > i; f--) {
        const j = targets[f]!;
        if (paths[j]!++ === 0) touched[size++] = j;
      }
    }
    floor = visit(i, touched, size, paths);
    for (let s = 0; s < size; s++) paths[touched[s]!] = 0;
  }
}

/** Pairs of degrees, the edge between the two not counted, the larger first; only those no other pair exceeds in both. */
export function degreePairs(g: Graph): readonly (readonly [number, number])[] {
  const found: [number, number][] = [];
  const offer = (a: number, b: number) => {
    const [high, low] = a > b ? [a, b] : [b, a];
    if (!found.some(([h, l]) => h >= high && l >= low)) found.push([high, low]);
  };
  for (let i = g.nodes - 1; i > 0; i--) {
    const d = degreeOf(g, i);
    if (found.some(([, low]) => low >= d)) break;
    const neighbours = new Set<number>();
    for (let e = g.offsets[i]!; e < g.offsets[i + 1]!; e++) neighbours.add(g.targets[e]!);
    let [tied, untied] = [false, false];
    for (let j = i - 1; j >= 0 && !(tied && untied); j--) {
      if (neighbours.has(j) && !tied) {
        offer(d - 1, degreeOf(g, j) - 1);
        tied = true;
      } else if (!neighbours.has(j) && !untied) {
        offer(d, degreeOf(g, j));
        untied = true;
      }
    }
  }
  return found;
}

/** The most k-cliques any one edge, present or not, takes part in: (k-2)-cliques among common neighbours. */
export function cliqueLocalSensitivity(g: Graph, k: number): bigint {
  let best = 0n;
  const enough = (a: number): boolean => choose(BigInt(a), k - 2) > best;
  let floor = k - 3;
  eachPair(g, floor, (i, touched, size, paths) => {
    const mine = new Set(g.targets.subarray(g.offsets[i]!, g.offsets[i + 1]!));
    const order = touched.slice(0, size).sort((a, b) => paths[b]! - paths[a]!);
    for (const j of order) {
      if (!enough(paths[j]!)) break;
      const shared = g.targets.subarray(g.offsets[j]!, g.offsets[j + 1]!).filter((u) => mine.has(u));
      const found = countCliques(induced(g, shared), k - 2);
      if (found > best) best = found;
    }
    while (!enough(floor + 1) && floor < g.nodes) floor++;
    return floor;
  });
  return best;
}

/** The most pairs of edge-sharing triangles any one edge, present or not, takes part in. */
export function diamondLocalSensitivity(g: Graph, most: number): bigint {
  const support = edgeSupports(g);
  const both = mirrored(g, support);
  const { offsets, targets } = g;
  const fans = new Float64Array(g.nodes);
  const adjacent = new Uint8Array(g.nodes);
  let best = 0;
  eachPair(g, 0, (i, touched, size, paths) => {
    for (let e = offsets[i]!; e < offsets[i + 1]!; e++) {
      const u = targets[e]!;
      if (u > i) adjacent[u] = 1;
      for (let f = offsets[u + 1]! - 1; f >= offsets[u]! && targets[f]! > i; f--) fans[targets[f]!]! += both[e]! + both[f]!;
    }
    for (let s = 0; s < size; s++) {
      const j = touched[s]!;
      const a = paths[j]!;
      best = Math.max(best, (a * (a - 1)) / 2 + fans[j]! - 2 * a * adjacent[j]!);
      fans[j] = 0;
    }
    for (let e = g.forward[i]!; e < offsets[i + 1]!; e++) adjacent[targets[e]!] = 0;
    let floor = 0;
    while ((floor * (floor + 1)) / 2 + 2 * (floor + 1) * most <= best) floor++;
    return floor;
  });
  return BigInt(best);
}

function induced(g: Graph, nodes: Uint32Array): Graph {
  const index = new Map<number, number>();
  for (const [i, v] of nodes.entries()) index.set(v, i);
  return subgraph(g, nodes, { size: nodes.length, of: (v) => index.get(v) });
}

/** Supports stored at the lower end of each edge, copied to the upper end. */
function mirrored(g: Graph, support: Uint32Array): Uint32Array {
  const at = g.offsets.slice(0, g.nodes);
  const both = support.slice();
  for (let u = 0; u < g.nodes; u++)
    for (let e = g.forward[u]!; e < g.offsets[u + 1]!; e++) both[at[g.targets[e]!]!++] = support[e]!;
  return both;
}
