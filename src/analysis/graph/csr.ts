/**
 * A simple undirected graph. Nodes are numbered by degree, fewest first, so that walking only to higher numbers bounds the work at hubs; neighbour lists are
 * sorted. Loops and repeated edges have been dropped.
 */
export interface Graph {
  readonly nodes: number;
  readonly edges: number;
  /** Neighbours of v: targets[offsets[v]] … targets[offsets[v + 1] - 1]. */
  readonly offsets: Uint32Array;
  readonly targets: Uint32Array;
  /** First neighbour of v with a number above v. */
  readonly forward: Uint32Array;
}

export const degreeOf = (g: Graph, v: number): number => g.offsets[v + 1]! - g.offsets[v]!;

/** Pairs may come in any order, in one direction or both, repeated, with loops. */
export function buildGraph(nodes: number, from: Uint32Array, to: Uint32Array): Graph {
  const sorted = transpose(nodes, ...transposed(nodes, from, to));
  const unique = deduplicate(nodes, sorted.offsets, sorted.targets);
  return relabel(nodes, unique.offsets, unique.targets);
}

/** Both directions of every pair that is no loop, grouped by the first node. */
function transposed(nodes: number, from: Uint32Array, to: Uint32Array): [Uint32Array, Uint32Array] {
  const offsets = new Uint32Array(nodes + 1);
  for (let e = 0; e < from.length; e++)
    if (from[e] !== to[e]) {
      offsets[from[e]! + 1]!++;
      offsets[to[e]! + 1]!++;
    }
  for (let v = 0; v < nodes; v++) offsets[v + 1]! += offsets[v]!;
  const at = offsets.slice(0, nodes);
  const targets = new Uint32Array(offsets[nodes]!);
  for (let e = 0; e < from.length; e++)
    if (from[e] !== to[e]) {
      targets[at[from[e]!]!++] = to[e]!;
      targets[at[to[e]!]!++] = from[e]!;
    }
  return [offsets, targets];
}

/** The lists of a symmetric graph read column by column come out sorted. */
function transpose(nodes: number, offsets: Uint32Array, targets: Uint32Array): { offsets: Uint32Array; targets: Uint32Array } {
  const at = offsets.slice(0, nodes);
  const sorted = new Uint32Array(targets.length);
  for (let v = 0; v < nodes; v++) for (let e = offsets[v]!; e < offsets[v + 1]!; e++) sorted[at[targets[e]!]!++] = v;
  return { offsets, targets: sorted };
}

function deduplicate(nodes: number, offsets: Uint32Array, targets: Uint32Array): { offsets: Uint32Array; targets: Uint32Array } {
  const kept = new Uint32Array(nodes + 1);
  let write = 0;
  for (let v = 0; v < nodes; v++) {
    const [start, end] = [offsets[v]!, offsets[v + 1]!];
    for (let e = start; e < end; e++) if (e === start || targets[e] !== targets[e - 1]) targets[write++] = targets[e]!;
    kept[v + 1] = write;
  }
  return { offsets: kept, targets: targets.subarray(0, write) };
}

function relabel(nodes: number, offsets: Uint32Array, targets: Uint32Array): Graph {
  let largest = 0;
  for (let v = 0; v < nodes; v++) largest = Math.max(largest, offsets[v + 1]! - offsets[v]!);
  const start = new Uint32Array(largest + 2);
  for (let v = 0; v < nodes; v++) start[offsets[v + 1]! - offsets[v]! + 1]!++;
  for (let d = 0; d <= largest; d++) start[d + 1]! += start[d]!;
  const label = new Uint32Array(nodes);
  const old = new Uint32Array(nodes);
  for (let v = 0; v < nodes; v++) {
    const rank = start[offsets[v + 1]! - offsets[v]!]!++;
    label[v] = rank;
    old[rank] = v;
  }
  const fresh = new Uint32Array(nodes + 1);
  for (let v = 0; v < nodes; v++) fresh[v + 1] = fresh[v]! + offsets[old[v]! + 1]! - offsets[old[v]!]!;
  const at = fresh.slice(0, nodes);
  const list = new Uint32Array(targets.length);
  // Visiting sources in the new order fills every list in the new order.
  for (let v = 0; v < nodes; v++) {
    const o = old[v]!;
    for (let e = offsets[o]!; e < offsets[o + 1]!; e++) list[at[label[targets[e]!]!]!++] = v;
  }
  const forward = new Uint32Array(nodes);
  for (let v = 0; v < nodes; v++) {
    let e = fresh[v]!;
    while (e < fresh[v + 1]! && list[e]! < v) e++;
    forward[v] = e;
  }
  return { nodes, edges: list.length / 2, offsets: fresh, targets: list, forward };
}
