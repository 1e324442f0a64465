import { mulDown } from '../../../base/exact/outward.js';

/** Tie of a component with its own numbering 0 .. size-1. */
export interface IsingTie {
  readonly ends: readonly [number, number];
  /** e^(-D/2), rounded down: weight of disagreement, relative to 1 for agreement. */
  readonly disagreement: number;
}

/**
 * Bag of a tree decomposition: an eliminated record and its neighbours at that time, in elimination order, so a parent comes
 * later. Bit k of a row of its table is the value of nodes[k]; nodes[0] is eliminated.
 */
export interface Bag {
  readonly nodes: readonly number[];
  /** Bag that holds all nodes but the first; absent for the last bag of a component. */
  readonly parent?: number;
  /** Indices of nodes[1], nodes[2], … in the parent's nodes. */
  readonly places: readonly number[];
  readonly ties: readonly { readonly bits: number; readonly disagreement: number }[];
}

export interface EliminationLimit {
  /** Records in one bag. */
  readonly width: number;
  /** Rows of all tables together. */
  readonly rows: number;
}

/** Eliminates a record with the fewest neighbours repeatedly. Undefined if the tables would exceed the limit. */
export function eliminate(size: number, pulls: readonly IsingTie[], cost: EliminationLimit): Bag[] | undefined {
  const near = Array.from({ length: size }, () => new Set<number>());
  const own = Array.from({ length: size }, () => new Map<number, number>());
  for (const { ends, disagreement } of pulls) {
    const [u, w] = ends;
    near[u]!.add(w);
    near[w]!.add(u);
    const both = mulDown(disagreement, own[u]!.get(w) ?? 1);
    own[u]!.set(w, both);
    own[w]!.set(u, both);
  }
  const queue = new Degrees(near.map((all) => all.size));
  const order: { node: number; met: number[]; ties: Map<number, number> }[] = [];
  const turn = new Int32Array(size);
  let rows = 0;
  for (let k = 0; k < size; k++) {
    const node = queue.least();
    const met = [...near[node]!];
    rows += 2 ** (met.length + 1);
    if (met.length >= cost.width || rows > cost.rows) return undefined;
    for (const u of met) {
      near[u]!.delete(node);
      for (const w of met) if (u !== w) near[u]!.add(w);
      queue.change(u, near[u]!.size);
    }
    turn[node] = k;
    order.push({ node, met, ties: own[node]! });
  }
  return order.map(({ node, met, ties }) => {
    const parent = met.length === 0 ? undefined : Math.min(...met.map((u) => turn[u]!));
    const there = parent === undefined ? [] : [order[parent]!.node, ...order[parent]!.met];
    // A tie belongs to the bag in which the first of its ends is eliminated.
    const held = met.flatMap((u, k) => (ties.has(u) ? [{ bits: 1 | (2 << k), disagreement: ties.get(u)! }] : []));
    return {
      nodes: [node, ...met],
      ...(parent !== undefined && { parent }),
      places: met.map((u) => there.indexOf(u)),
      ties: held,
    };
  });
}

/** Records by their number of neighbours. */
class Degrees {
  readonly #buckets: Set<number>[] = [];
  readonly #degree: number[];
  constructor(degree: number[]) {
    this.#degree = degree;
    for (const [u, d] of degree.entries()) this.#bucket(d).add(u);
  }
  #bucket(degree: number): Set<number> {
    this.#buckets[degree] ??= new Set();
    return this.#buckets[degree];
  }
  least(): number {
    for (const bucket of this.#buckets)
      for (const u of bucket ?? []) {
        bucket.delete(u);
        return u;
      }
    throw new RangeError('nobody is left');
  }
  change(u: number, degree: number): void {
    this.#bucket(this.#degree[u]!).delete(u);
    this.#degree[u] = degree;
    this.#bucket(degree).add(u);
  }
}
