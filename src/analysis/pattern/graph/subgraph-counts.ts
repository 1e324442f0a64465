import { choose } from '../query/ladders.js';
import { type Graph, nodesByDegree } from './csr.js';

/** Exact counts of small subgraphs. Sums move into a BigInt before they leave the safe range. */
const flushAt = 2 ** 52;

/** Sums of non-negative integers, each below 2^52. */
class Tally {
  private whole = 0n;
  private part = 0;
  add(x: number): void {
    if (this.part + x > flushAt) {
      this.whole += BigInt(this.part);
      this.part = 0;
    }
    this.part += x;
  }
  total(): bigint {
    return this.whole + BigInt(this.part);
  }
}

export function countTriangles(g: Graph): bigint {
  const { offsets, targets, forward } = g;
  const mark = new Uint32Array(g.nodes);
  const tally = new Tally();
  for (let u = 0; u < g.nodes; u++) {
    const [start, end] = [forward[u]!, offsets[u + 1]!];
    if (end - start < 2) continue;
    const stamp = u + 1;
    for (let e = start; e < end; e++) mark[targets[e]!] = stamp;
    let found = 0;
    for (let e = start; e < end; e++) {
      const v = targets[e]!;
      const stop = offsets[v + 1]!;
      for (let f = forward[v]!; f < stop; f++) if (mark[targets[f]!] === stamp) found++;
    }
    tally.add(found);
  }
  return tally.total();
}

/** Centres with k chosen neighbours; 2-stars are the 2-paths. A 1-star would be each edge seen from both ends. */
export function countStars(g: Graph, k: number): bigint {
  let total = 0n;
  for (const [d, many] of nodesByDegree(g)) total += BigInt(many) * choose(BigInt(d), k);
  return total;
}

/** Each 4-cycle once, from its highest corner: two lower neighbours that share the opposite, also lower, corner. */
export function countFourCycles(g: Graph): bigint {
  const { offsets, targets, forward } = g;
  const seen = new Uint32Array(g.nodes);
  const tally = new Tally();
  for (let v = 0; v < g.nodes; v++) {
    for (let e = offsets[v]!; e < forward[v]!; e++) {
      const u = targets[e]!;
      for (let f = offsets[u]!; targets[f]! < v; f++) tally.add(seen[targets[f]!]!++);
    }
    for (let e = offsets[v]!; e < forward[v]!; e++) {
      const u = targets[e]!;
      for (let f = offsets[u]!; targets[f]! < v; f++) seen[targets[f]!] = 0;
    }
  }
  return tally.total();
}

/** Cliques of k nodes, each once, from its lowest corner upwards through shrinking candidate sets. */
export function countCliques(g: Graph, k: number): bigint {
  if (k <= 1) return k === 1 ? BigInt(g.nodes) : 1n;
  if (k === 2) return BigInt(g.edges);
  if (k === 3) return countTriangles(g);
  const { offsets, targets, forward } = g;
  const widest = widestForward(g);
  const level = new Uint8Array(g.nodes);
  const sets = Array.from({ length: k }, () => new Uint32Array(widest));
  const tally = new Tally();

  /** Candidates are the first `size` of sets[depth], all marked `depth`; `left` more corners are to be chosen among them. */
  const descend = (depth: number, size: number, left: number): void => {
    const set = sets[depth]!;
    if (left === 2) {
      let found = 0;
      for (let i = 0; i < size; i++) {
        const v = set[i]!;
        const stop = offsets[v + 1]!;
        for (let f = forward[v]!; f < stop; f++) if (level[targets[f]!] === depth) found++;
      }
      tally.add(found);
      return;
    }
    const next = sets[depth + 1]!;
    for (let i = 0; i < size; i++) {
      const v = set[i]!;
      const stop = offsets[v + 1]!;
      let kept = 0;
      for (let f = forward[v]!; f < stop; f++) {
        const w = targets[f]!;
        if (level[w] === depth) {
          level[w] = depth + 1;
          next[kept++] = w;
        }
      }
      if (kept >= left - 1) descend(depth + 1, kept, left - 1);
      for (let j = 0; j < kept; j++) level[next[j]!] = depth;
    }
  };
  for (let u = 0; u < g.nodes; u++) {
    const size = offsets[u + 1]! - forward[u]!;
    if (size < k - 1) continue;
    for (let i = 0; i < size; i++) {
      sets[1]![i] = targets[forward[u]! + i]!;
      level[sets[1]![i]!] = 1;
    }
    descend(1, size, k - 1);
    for (let i = 0; i < size; i++) level[sets[1]![i]!] = 0;
  }
  return tally.total();
}

function widestForward(g: Graph): number {
  let widest = 0;
  for (let v = 0; v < g.nodes; v++) widest = Math.max(widest, g.offsets[v + 1]! - g.forward[v]!);
  return widest;
}

/** Triangles through each edge, by the index of the edge in `targets` of its lower end. */
export function edgeSupports(g: Graph): Uint32Array {
  const { offsets, targets, forward } = g;
  const support = new Uint32Array(targets.length);
  const slot = new Uint32Array(g.nodes);
  for (let u = 0; u < g.nodes; u++) {
    const end = offsets[u + 1]!;
    for (let e = forward[u]!; e < end; e++) slot[targets[e]!] = e + 1;
    for (let e = forward[u]!; e < end; e++) {
      const v = targets[e]!;
      const stop = offsets[v + 1]!;
      for (let f = forward[v]!; f < stop; f++) {
        const third = slot[targets[f]!]!;
        if (third === 0) continue;
        support[e]!++;
        support[f]!++;
        support[third - 1]!++;
      }
    }
    for (let e = forward[u]!; e < end; e++) slot[targets[e]!] = 0;
  }
  return support;
}

/** Two triangles on one edge. */
export function countDiamonds(g: Graph): bigint {
  const support = edgeSupports(g);
  const many = new Map<number, number>();
  for (let u = 0; u < g.nodes; u++)
    for (let e = g.forward[u]!; e < g.offsets[u + 1]!; e++) many.set(support[e]!, (many.get(support[e]!) ?? 0) + 1);
  let total = 0n;
  for (const [s, times] of many) total += BigInt(times) * choose(BigInt(s), 2);
  return total;
}
