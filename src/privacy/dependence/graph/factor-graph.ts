import { Fault } from '../../../base/errors.js';
import { addUp } from '../../../base/exact/outward.js';
import { commonValue, endsOf, orderedEnds, pairGraph } from './pair-graph.js';

/**
 * Ties of up to millions of records. A factor is a set of records, an incidence a record's place in it; only D(f,u) matters to
 * the theorem. Nodes from `records` on are hidden types: no cost, unknown to anybody.
 */
export interface FactorGraph {
  readonly records: number;
  readonly nodes: number;
  readonly factors: number;
  /** Incidences of factor f are start[f] .. start[f+1]. */
  readonly start: Uint32Array;
  /** The node of an incidence, and D(factor, node): Infinity for copies. */
  readonly member: Uint32Array;
  readonly logOdds: Float64Array;
  readonly factorOf: Uint32Array;
  /** Incidences of node u are incidence[nodeStart[u] .. nodeStart[u+1]]. */
  readonly nodeStart: Uint32Array;
  readonly incidence: Uint32Array;
  /** Every factor joins exactly two nodes: the other end of incidence p is p ^ 1. */
  readonly pairwise: boolean;
  /** In pairwise graphs, the node at the other end of each entry of `incidence`; empty otherwise. */
  readonly neighbour: Uint32Array;
  /** The D of every incidence when they are all equal (and there is one). */
  readonly commonOdds: number | undefined;
}

const most = 2 ** 31;

/** True for graphs whose bounds are computed to two or three digits, and by tables. */
export const isLarge = ({ member }: FactorGraph): boolean => member.length >= manyIncidences;
export const manyIncidences = 40_000;

/** Assembles a graph from factor starts, members and D per incidence, all owned by the graph from here on. */
export function assemble({
  records,
  nodes,
  start,
  member,
  logOdds,
}: Pick<FactorGraph, 'records' | 'nodes' | 'start' | 'member' | 'logOdds'>): FactorGraph {
  const factors = start.length - 1;
  const incidences = member.length;
  refuseBeyond(incidences, nodes);
  const factorOf = new Uint32Array(incidences);
  const nodeStart = new Uint32Array(nodes + 1);
  let pairwise = true;
  for (let f = 0; f < factors; f++) {
    if (start[f + 1]! - start[f]! !== 2) pairwise = false;
    for (let p = start[f]!; p < start[f + 1]!; p++) factorOf[p] = f;
  }
  for (let p = 0; p < incidences; p++) {
    if (!(member[p]! < nodes)) throw new RangeError('a tie names a record that is not there');
    checked(logOdds[p]!);
    nodeStart[member[p]! + 1]!++;
  }
  for (let u = 0; u < nodes; u++) nodeStart[u + 1]! += nodeStart[u]!;
  const next = nodeStart.slice(0, nodes);
  const incidence = new Uint32Array(incidences);
  for (let p = 0; p < incidences; p++) incidence[next[member[p]!]!++] = p;
  const neighbour = new Uint32Array(pairwise ? incidences : 0);
  for (let k = 0; k < neighbour.length; k++) neighbour[k] = member[incidence[k]! ^ 1]!;
  const commonOdds = commonValue(logOdds);
  return { records, nodes, factors, start, member, logOdds, factorOf, nodeStart, incidence, pairwise, neighbour, commonOdds };
}

function refuseBeyond(incidences: number, nodes: number): void {
  if (incidences >= most || nodes >= most)
    throw new Fault('MODEL_TOO_LARGE', 'The tie graph is too large.', 'Declare fewer ties, or groups instead of their pairs.', {
      details: { incidences, limit: most },
    });
}

export const untied = (records: number): FactorGraph =>
  assemble({ records, nodes: records, start: new Uint32Array(1), member: new Uint32Array(0), logOdds: new Float64Array(0) });

/**
 * Graph of pairwise ties with one D or one per pair. Of a repeated pair the larger D counts, ties to oneself are dropped. Ties
 * are sorted by lesser, then greater end, so the listing order does not matter.
 */
export function fromPairs(records: number, left: Uint32Array, right: Uint32Array, logOdds: number | Float64Array): FactorGraph {
  const pairs = left.length;
  if (right.length !== pairs || (typeof logOdds !== 'number' && logOdds.length !== pairs))
    throw new RangeError('a tie list has columns of different lengths');
  const { begin, greater, odds } = byLesserEnd(records, left, right, typeof logOdds === 'number' ? undefined : logOdds);
  let size = 0;
  for (let u = 0; u < records; u++) {
    const [from, to] = [begin[u]!, begin[u + 1]!];
    sortTies(greater, odds, from, to);
    // The ends that differ move to the front; begin[u] is where those of u start from here on.
    begin[u] = size;
    for (let k = from; k < to; k++) {
      if (size > begin[u]! && greater[size - 1] === greater[k]) {
        if (odds && odds[k]! > odds[size - 1]!) odds[size - 1] = odds[k]!;
        continue;
      }
      greater[size] = greater[k]!;
      if (odds) odds[size] = odds[k]!;
      size++;
    }
  }
  begin[records] = size;
  refuseBeyond(2 * size, records);
  const ends = orderedEnds(records, begin.subarray(0, records + 1), greater.subarray(0, size));
  if (!odds) return pairGraph(records, ends, checked(logOdds as number));
  const each = new Float64Array(2 * size);
  for (let k = 0; k < size; k++) each[2 * k] = each[2 * k + 1] = checked(odds[k]!);
  return pairGraph(records, ends, each);
}

function checked(logOdds: number): number {
  if (!(logOdds >= 0)) throw new RangeError('a log odds ratio is negative or not a number');
  return logOdds;
}

/** The greater ends of the pairs of lesser end u, in no order, are greater[begin[u] .. begin[u+1]]. */
function byLesserEnd(records: number, left: Uint32Array, right: Uint32Array, logOdds: Float64Array | undefined) {
  const begin = new Uint32Array(records + 2);
  for (let k = 0; k < left.length; k++) {
    const [a, b] = [left[k]!, right[k]!];
    if (a >= records || b >= records) throw new RangeError('a tie names a record that is not there');
    if (a !== b) begin[(a < b ? a : b) + 2]!++;
  }
  for (let u = 2; u < begin.length; u++) begin[u]! += begin[u - 1]!;
  // While pairs are put down, begin[u + 1] is where the next one of u goes; at the end it is where those of u + 1 start.
  const kept = begin[records + 1]!;
  const greater = new Uint32Array(kept);
  const odds = logOdds && new Float64Array(kept);
  for (let k = 0; k < left.length; k++) {
    const [a, b] = [left[k]!, right[k]!];
    if (a === b) continue;
    const at = begin[(a < b ? a : b) + 1]!++;
    greater[at] = a < b ? b : a;
    if (odds) odds[at] = logOdds[k]!;
  }
  return { begin, greater, odds };
}

/** Most records have a few ties, which are sorted where they stand. */
const fewTies = 24;

function sortTies(greater: Uint32Array, odds: Float64Array | undefined, from: number, to: number): void {
  if (to - from > fewTies) {
    const ends = greater.slice(from, to);
    if (!odds) {
      greater.set(ends.sort(), from);
      return;
    }
    const strengths = odds.slice(from, to);
    const order = Uint32Array.from({ length: to - from }, (_, k) => k).sort((a, b) => ends[a]! - ends[b]!);
    for (let k = 0; k < order.length; k++) {
      greater[from + k] = ends[order[k]!]!;
      odds[from + k] = strengths[order[k]!]!;
    }
    return;
  }
  for (let k = from + 1; k < to; k++) {
    const [end, strength] = [greater[k]!, odds?.[k] ?? 0];
    let at = k;
    for (; at > from && greater[at - 1]! > end; at--) {
      greater[at] = greater[at - 1]!;
      if (odds) odds[at] = odds[at - 1]!;
    }
    greater[at] = end;
    if (odds) odds[at] = strength;
  }
}

/** Stable. */
export function countingSort(keys: number, items: Uint32Array, keyOf: (item: number) => number) {
  const begin = new Uint32Array(keys + 1);
  for (const item of items) begin[keyOf(item) + 1]!++;
  for (let u = 0; u < keys; u++) begin[u + 1]! += begin[u]!;
  const next = begin.slice(0, keys);
  const order = new Uint32Array(items.length);
  for (const item of items) order[next[keyOf(item)]!++] = item;
  return { order, begin };
}

/** A small graph by hand: factors as member lists, each with one D for all members or one per member. */
export interface FactorSpec {
  readonly members: readonly number[];
  readonly logOdds: number | readonly number[];
}
export function fromFactors(records: number, factors: readonly FactorSpec[], hidden = 0): FactorGraph {
  const kept = factors.filter((f) => f.members.length > 1);
  const start = new Uint32Array(kept.length + 1);
  for (const [f, { members }] of kept.entries()) start[f + 1] = start[f]! + members.length;
  const member = Uint32Array.from(kept.flatMap((f) => f.members));
  const odds = Float64Array.from(
    kept.flatMap((f) => (typeof f.logOdds === 'number' ? f.members.map(() => f.logOdds as number) : f.logOdds)),
  );
  return assemble({ records, nodes: records + hidden, start, member, logOdds: odds });
}

/** A Map has no more entries than this. */
const mostPairs = 2 ** 24 - 1;

/**
 * Union of several kinds of ties over the same records. Two factors on the same two records become one whose D is the sum: at
 * most the sum of the two pushes.
 */
export function combine(graphs: readonly FactorGraph[]): FactorGraph {
  const [first, ...others] = graphs;
  if (!first) throw new RangeError('nothing to combine');
  if (others.length === 0) return first;
  if (others.some((g) => g.records !== first.records)) throw new RangeError('graphs over different records');
  const incidences = graphs.reduce((s, g) => s + g.member.length, 0);
  if (incidences / 2 > mostPairs)
    throw new Fault(
      'MODEL_TOO_LARGE',
      `Ties of several kinds are joined up to ${mostPairs} pairs, and the declared ones have more.`,
      'Declare fewer ties, or one kind of them.',
      { details: { pairs: incidences / 2, limit: mostPairs } },
    );
  const factors = graphs.reduce((s, g) => s + g.factors, 0);
  const start = new Uint32Array(factors + 1);
  const member = new Uint32Array(incidences);
  const odds = new Float64Array(incidences);
  const pairAt = new Map<number, number>();
  let nodes = first.records;
  let size = 0;
  let f = 0;
  for (const g of graphs) {
    const shift = nodes - g.records;
    for (let k = 0; k < g.factors; k++) {
      const from = g.start[k]!;
      const to = g.start[k + 1]!;
      if (to - from === 2 && g.member[from]! < g.records && g.member[from + 1]! < g.records) {
        const a = Math.min(g.member[from]!, g.member[from + 1]!);
        const key = a * g.records + g.member[from]! + g.member[from + 1]! - a;
        const at = pairAt.get(key);
        if (at !== undefined) {
          odds[at] = odds[at + 1] = addUp(odds[at]!, g.logOdds[from]!);
          continue;
        }
        pairAt.set(key, size);
      }
      for (let p = from; p < to; p++) {
        const u = g.member[p]!;
        member[size] = u < g.records ? u : u + shift;
        odds[size++] = g.logOdds[p]!;
      }
      start[++f] = size;
    }
    nodes += g.nodes - g.records;
  }
  return assemble({
    records: first.records,
    nodes,
    start: start.slice(0, f + 1),
    member: member.slice(0, size),
    logOdds: odds.slice(0, size),
  });
}

/** The same ties with every D replaced; for what-if questions. */
export function withOdds(graph: FactorGraph, change: (logOdds: number) => number): FactorGraph {
  const ends = endsOf(graph);
  const { commonOdds } = graph;
  if (ends) return pairGraph(graph.records, ends, commonOdds === undefined ? graph.logOdds.map(change) : change(commonOdds));
  const logOdds = graph.logOdds.map(change);
  return { ...graph, logOdds, commonOdds: commonValue(logOdds) };
}
