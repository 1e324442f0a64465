import type { NodePair } from '../query/ladders.js';
import { degreeOf, type Graph } from './csr.js';

/** Sensitivity of the triangle count of this graph to one edge, present or not. Exact, so it must never be released. */

/**
 * Relevant numbers of a pair: its common neighbours, and its reach (sum of both degrees, without each other). The search keeps pairs
 * that no other pair dominates, and skips those that cannot be.
 */
interface PairSearch {
  /** Reach up to which pairs with at most so many common neighbours are useless; non-increasing in `common`. */
  known(common: number): number;
  offer(common: number, reach: number): void;
}

/** Index of the first entry of the sorted list that is not below x. */
function placeIn(sorted: Uint32Array, x: number, from: number, to: number): number {
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (sorted[middle]! < x) from = middle + 1;
    else to = middle;
  }
  return from;
}

/**
 * Offers every pair that shares a neighbour and could be useful, busiest nodes first. A partner of i first found with r neighbours
 * left has at most r in common: below what is known for r it is skipped, so most pairs of a hub are never visited.
 */
function searchPairs(g: Graph, search: PairSearch): void {
  const { offsets, targets, forward } = g;
  const degree = Uint32Array.from({ length: g.nodes }, (_, v) => degreeOf(g, v));
  const shared = new Uint32Array(g.nodes);
  const met = new Uint32Array(g.nodes);
  const adjacent = new Uint8Array(g.nodes);
  // Degree a partner needs to be visited at each neighbour; non-decreasing from one to the next.
  const needed = new Float64Array(degree.at(-1) ?? 0);

  /**
   * Completes the counts of partners of i that were skipped at some neighbours but may still matter: by search or by scan, whichever is
   * less work.
   */
  const complete = (i: number, late: readonly number[]): void => {
    const [start, d] = [offsets[i]!, degree[i]!];
    let [bySearch, byScan, first] = [0, 0, d];
    for (const j of late) {
      const passed = firstPassed(degree[j]!, d);
      first = Math.min(first, passed);
      bySearch += (d - passed) * Math.log2(2 + degree[j]!);
    }
    for (let k = first; k < d; k++) byScan += degree[targets[start + k]!]!;
    if (bySearch <= byScan) {
      for (const j of late)
        for (let k = firstPassed(degree[j]!, d), from = offsets[j]!; k < d; k++) {
          const u = targets[start + k]!;
          from = placeIn(targets, u, from, offsets[j + 1]!);
          if (from < offsets[j + 1]! && targets[from] === u) shared[j]!++;
        }
      return;
    }
    const isLate = new Set(late);
    for (let k = first; k < d; k++) {
      const u = targets[start + k]!;
      for (let f = offsets[u + 1]! - 1; f >= offsets[u]! && targets[f]! > i; f--) {
        const j = targets[f]!;
        if (degree[j]! <= needed[k]! && isLate.has(j)) shared[j]!++;
      }
    }
  };
  /** Index of the first neighbour at which a partner with so many ties was skipped. */
  const firstPassed = (ties: number, d: number): number => {
    let [from, to] = [0, d];
    while (from < to) {
      const middle = (from + to) >>> 1;
      if (needed[middle]! < ties) from = middle + 1;
      else to = middle;
    }
    return from;
  };

  for (let i = g.nodes - 1; i >= 0; i--) {
    const [start, d] = [offsets[i]!, degree[i]!];
    let size = 0;
    for (let k = 0; k < d; k++) {
      const u = targets[start + k]!;
      const need = search.known(d - k) - d;
      needed[k] = need;
      for (let f = offsets[u + 1]! - 1; f >= offsets[u]!; f--) {
        const j = targets[f]!;
        if (j <= i || degree[j]! <= need) break;
        if (shared[j]!++ === 0) met[size++] = j;
      }
    }
    if (size === 0) continue;
    const late: number[] = [];
    for (let s = 0; s < size; s++) {
      const j = met[s]!;
      const passed = degree[j]! > needed[d - 1]! ? 0 : d - firstPassed(degree[j]!, d);
      if (passed > 0 && search.known(Math.min(d, shared[j]! + passed)) < d + degree[j]!) late.push(j);
    }
    if (late.length > 0) complete(i, late);
    for (let e = forward[i]!; e < offsets[i + 1]!; e++) adjacent[targets[e]!] = 1;
    // A partner that was skipped and is not late has too low a count, and is useless either way.
    for (let s = 0; s < size; s++) {
      const j = met[s]!;
      search.offer(shared[j]!, d + degree[j]! - 2 * adjacent[j]!);
      shared[j] = 0;
    }
    for (let e = forward[i]!; e < offsets[i + 1]!; e++) adjacent[targets[e]!] = 0;
  }
}

/** The most common neighbours of any pair. */
export function maxCommonNeighbours(g: Graph): number {
  let most = 0;
  searchPairs(g, {
    known: (common) => (common > most ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY),
    offer: (common) => {
      if (common > most) most = common;
    },
  });
  return most;
}

/**
 * For every number of common neighbours from one, the most nodes adjacent to exactly one of such a pair; only those relevant to the
 * triangle ladder.
 */
export function commonNeighbourPairs(g: Graph): readonly NodePair[] {
  // farthest[c]: the largest reach of a pair with at least c common neighbours.
  const farthest = new Float64Array((g.nodes === 0 ? 0 : degreeOf(g, g.nodes - 1)) + 2).fill(-1);
  searchPairs(g, {
    known: (common) => farthest[common]!,
    offer: (common, reach) => {
      for (let c = common; c > 0 && farthest[c]! < reach; c--) farthest[c] = reach;
    },
  });
  const kept: NodePair[] = [];
  for (let common = farthest.length - 2; common > 0; common--)
    if (farthest[common]! > farthest[common + 1]!) kept.push({ common, single: farthest[common]! - 2 * common });
  return kept;
}
