/**
 * A simple undirected graph without loops or repeats. Nodes are numbered by increasing degree, so that visiting only higher numbers
 * bounds the work at hubs; neighbour lists are sorted.
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

export function nodesByDegree(g: Graph): Map<number, number> {
  const many = new Map<number, number>();
  for (let v = 0; v < g.nodes; v++) many.set(degreeOf(g, v), (many.get(degreeOf(g, v)) ?? 0) + 1);
  return many;
}

/** Ties among the listed nodes, each under its new number; those without one are left out. */
export function subgraph(
  g: Graph,
  nodes: Iterable<number>,
  numbering: { size: number; of: (v: number) => number | undefined },
): Graph {
  const from: number[] = [];
  const to: number[] = [];
  for (const v of nodes) {
    const own = numbering.of(v);
    if (own === undefined) continue;
    for (let e = g.forward[v]!; e < g.offsets[v + 1]!; e++) {
      const other = numbering.of(g.targets[e]!);
      if (other === undefined) continue;
      from.push(own);
      to.push(other);
    }
  }
  return buildGraph(numbering.size, Uint32Array.from(from), Uint32Array.from(to));
}

/** Pairs may come in any order, in one direction or both, repeated, with loops. */
export function buildGraph(nodes: number, from: Uint32Array, to: Uint32Array): Graph {
  const graph = arrange(nodes, from, to);
  if (!hasRepeats(graph)) return graph;
  // Repeats count towards degrees, so the numbering is redone without them.
  const once = uniquePairs(graph);
  return arrange(nodes, once.from, once.to);
}

/** Three passes that move each edge once, by its lower end, then into both halves of the neighbour lists. */
function arrange(nodes: number, from: Uint32Array, to: Uint32Array): Graph {
  const degree = new Uint32Array(nodes);
  for (let e = 0; e < from.length; e++)
    if (from[e] !== to[e]) {
      degree[from[e]!]!++;
      degree[to[e]!]!++;
    }
  const label = byDegree(degree);
  const above = new Uint32Array(nodes + 1);
  const offsets = new Uint32Array(nodes + 1);
  for (let v = 0; v < nodes; v++) offsets[label[v]! + 1] = degree[v]!;
  for (let v = 0; v < nodes; v++) offsets[v + 1]! += offsets[v]!;
  for (let e = 0; e < from.length; e++) if (from[e] !== to[e]) above[Math.min(label[from[e]!]!, label[to[e]!]!) + 1]!++;
  for (let v = 0; v < nodes; v++) above[v + 1]! += above[v]!;

  const upper = new Uint32Array(above[nodes]!);
  const at = above.slice(0, nodes);
  for (let e = 0; e < from.length; e++) {
    const [a, b] = [label[from[e]!]!, label[to[e]!]!];
    if (a < b) upper[at[a]!++] = b;
    else if (b < a) upper[at[b]!++] = a;
  }
  const targets = new Uint32Array(offsets[nodes]!);
  const forward = offsets.slice(0, nodes);
  for (let u = 0; u < nodes; u++) for (let e = above[u]!; e < above[u + 1]!; e++) targets[forward[upper[e]!]!++] = u;
  at.set(forward);
  for (let w = 0; w < nodes; w++) for (let e = offsets[w]!; e < forward[w]!; e++) targets[at[targets[e]!]!++] = w;
  return { nodes, edges: upper.length, offsets, targets, forward };
}

/** New number of every node: its rank by degree. */
function byDegree(degree: Uint32Array): Uint32Array {
  let largest = 0;
  for (const d of degree) if (d > largest) largest = d;
  const start = new Uint32Array(largest + 2);
  for (const d of degree) start[d + 1]!++;
  for (let d = 0; d <= largest; d++) start[d + 1]! += start[d]!;
  return degree.map((d) => start[d]!++);
}

function hasRepeats({ nodes, offsets, targets, forward }: Graph): boolean {
  for (let v = 0; v < nodes; v++)
    for (let e = forward[v]! + 1; e < offsets[v + 1]!; e++) if (targets[e] === targets[e - 1]) return true;
  return false;
}

function uniquePairs({ nodes, offsets, targets, forward, edges }: Graph): { from: Uint32Array; to: Uint32Array } {
  const from = new Uint32Array(edges);
  const to = new Uint32Array(edges);
  let kept = 0;
  for (let v = 0; v < nodes; v++)
    for (let e = forward[v]!; e < offsets[v + 1]!; e++)
      if (e === forward[v] || targets[e] !== targets[e - 1]) {
        from[kept] = v;
        to[kept++] = targets[e]!;
      }
  return { from: from.subarray(0, kept), to: to.subarray(0, kept) };
}
