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
function placeIn(sorted: Uint32Array | Float64Array, x: number, from: number, to: number): number {
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
class Partners {
  readonly #graph: Graph;
  readonly #degree: Uint32Array;
  /** Common neighbours with each partner, as far as they were counted. */
  readonly #shared: Uint32Array;
  readonly #met: Uint32Array;
  readonly #adjacent: Uint8Array;
  /** Degree a partner needs to be visited at each neighbour; non-decreasing from one to the next. */
  readonly #needed: Float64Array;

  constructor(g: Graph) {
    this.#graph = g;
    this.#degree = Uint32Array.from({ length: g.nodes }, (_, v) => degreeOf(g, v));
    this.#shared = new Uint32Array(g.nodes);
    this.#met = new Uint32Array(g.nodes);
    this.#adjacent = new Uint8Array(g.nodes);
    this.#needed = new Float64Array(this.#degree.at(-1) ?? 0);
  }

  offerAll(search: PairSearch): void {
    for (let i = this.#graph.nodes - 1; i >= 0; i--) {
      const met = this.#met.subarray(0, this.#meet(i, search));
      if (met.length === 0) continue;
      const late = this.#late(i, met, search);
      if (late.length > 0) this.#complete(i, late);
      this.#offer(i, met, search);
    }
  }

  /** Counts the common neighbours of i with those that could be useful; the number of partners met. */
  #meet(i: number, search: PairSearch): number {
    const { offsets, targets } = this.#graph;
    const [degree, shared, met, needed] = [this.#degree, this.#shared, this.#met, this.#needed];
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
    return size;
  }

  /** Partners that were skipped at some neighbours but may still matter. */
  #late(i: number, met: Uint32Array, search: PairSearch): readonly number[] {
    const d = this.#degree[i]!;
    const late: number[] = [];
    for (const j of met) {
      const ties = this.#degree[j]!;
      const passed = ties > this.#needed[d - 1]! ? 0 : d - this.#firstPassed(ties, d);
      if (passed > 0 && search.known(Math.min(d, this.#shared[j]! + passed)) < d + ties) late.push(j);
    }
    return late;
  }

  /** Index of the first neighbour at which a partner with so many ties was skipped. */
  #firstPassed(ties: number, d: number): number {
    return placeIn(this.#needed, ties, 0, d);
  }

  /** Completes their counts: by search or by scan, whichever is less work. */
  #complete(i: number, late: readonly number[]): void {
    const { offsets, targets } = this.#graph;
    const [degree, shared, needed] = [this.#degree, this.#shared, this.#needed];
    const [start, d] = [offsets[i]!, degree[i]!];
    let [bySearch, byScan, first] = [0, 0, d];
    for (const j of late) {
      const passed = this.#firstPassed(degree[j]!, d);
      first = Math.min(first, passed);
      bySearch += (d - passed) * Math.log2(2 + degree[j]!);
    }
    for (let k = first; k < d; k++) byScan += degree[targets[start + k]!]!;
    if (bySearch <= byScan) {
      for (const j of late)
        for (let k = this.#firstPassed(degree[j]!, d), from = offsets[j]!; k < d; k++) {
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
  }

  /** A partner that was skipped and is not late has too low a count, and is useless either way. */
  #offer(i: number, met: Uint32Array, search: PairSearch): void {
    const { offsets, targets, forward } = this.#graph;
    const [degree, shared, adjacent] = [this.#degree, this.#shared, this.#adjacent];
    for (let e = forward[i]!; e < offsets[i + 1]!; e++) adjacent[targets[e]!] = 1;
    for (const j of met) {
      search.offer(shared[j]!, degree[i]! + degree[j]! - 2 * adjacent[j]!);
      shared[j] = 0;
    }
    for (let e = forward[i]!; e < offsets[i + 1]!; e++) adjacent[targets[e]!] = 0;
  }
}

/** The most common neighbours of any pair. */
export function maxCommonNeighbours(g: Graph): number {
  let most = 0;
  new Partners(g).offerAll({
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
  new Partners(g).offerAll({
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
