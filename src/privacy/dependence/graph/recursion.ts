import { addUp } from '../../../base/exact/outward.js';
import type { FactorGraph } from './factor-graph.js';
import { push } from './push.js';

/** Components up to this many nodes are solved by the recursion itself. */
export const largestRecursion = 14;
/** Limit on pushes for one component. */
const workLimit = 400_000;

/** One component with its own numbering 0 .. size-1. */
export interface GraphComponent {
  readonly size: number;
  readonly costs: readonly number[];
  /** Each factor: members as a bit mask, and D per member. */
  readonly factors: readonly ComponentFactor[];
}
export interface ComponentFactor {
  readonly mask: number;
  readonly members: readonly number[];
  readonly logOdds: readonly number[];
}

/** Cuts a component out of a graph; `local` is scratch of graph.nodes entries. */
export function componentOf(graph: FactorGraph, nodes: Uint32Array, costs: Float64Array, local: Uint32Array): GraphComponent {
  for (let k = 0; k < nodes.length; k++) local[nodes[k]!] = k;
  const factors: ComponentFactor[] = [];
  for (let k = 0; k < nodes.length; k++) {
    const u = nodes[k]!;
    for (let x = graph.nodeStart[u]!; x < graph.nodeStart[u + 1]!; x++) {
      const p = graph.incidence[x]!;
      const f = graph.factorOf[p]!;
      if (graph.start[f] !== p) continue;
      const members: number[] = [];
      const logOdds: number[] = [];
      let mask = 0;
      for (let q = p; q < graph.start[f + 1]!; q++) {
        const w = local[graph.member[q]!]!;
        members.push(w);
        logOdds.push(graph.logOdds[q]!);
        mask |= 1 << w;
      }
      factors.push({ mask, members, logOdds });
    }
  }
  return { size: nodes.length, costs: Array.from(nodes, (u) => costs[u]!), factors };
}

/**
 * Upper bound e_i + R(i, {i}) on the leakage of every node of a small component, by the recursion of informed.proof.md in both
 * its forms. Undefined if it would take too long.
 */
export function recursion(piece: GraphComponent): number[] | undefined {
  const { size, costs, factors } = piece;
  const byNode: { mask: number; rest: number; logOdds: number }[][] = Array.from({ length: size }, () => []);
  const near = new Array<number>(size).fill(0);
  for (const { mask, members, logOdds } of factors)
    for (const [k, u] of members.entries()) {
      byNode[u]!.push({ mask, rest: mask & ~(1 << u), logOdds: logOdds[k]! });
      near[u]! |= mask & ~(1 << u);
    }
  const memo = new Map<number, number>();
  const sums = new Map<number, number>();
  let work = 0;

  const sumOf = (mask: number): number => {
    const known = sums.get(mask);
    if (known !== undefined) return known;
    let total = 0;
    for (let left = mask; left !== 0; left &= left - 1) total = addUp(total, costs[31 - Math.clz32(left & -left)]!);
    sums.set(mask, total);
    return total;
  };
  const R = (u: number, gone: number): number => {
    const key = gone * 32 + u;
    const known = memo.get(key);
    if (known !== undefined) return known;
    let separately = 0;
    let odds = 0;
    let around = 0;
    for (const { mask, rest, logOdds } of byNode[u]!) {
      const left = rest & ~gone;
      if (left === 0) continue;
      work++;
      around |= left;
      odds = addUp(odds, logOdds);
      const cap = sumOf(reach(near, left, gone));
      let loss = 0;
      for (let bits = left; bits !== 0 && loss < cap && work <= workLimit; bits &= bits - 1) {
        const w = 31 - Math.clz32(bits & -bits);
        loss = addUp(loss, addUp(costs[w]!, R(w, gone | mask)));
      }
      separately = addUp(separately, push(Math.min(loss, cap), logOdds));
    }
    const best = Math.min(separately, push(sumOf(reach(near, around, gone)), odds));
    memo.set(key, best);
    return best;
  };
  const leaks: number[] = [];
  for (let i = 0; i < size; i++) leaks.push(addUp(costs[i]!, R(i, 1 << i)));
  return work > workLimit ? undefined : leaks;
}

/** Nodes reached from `from` without those that are gone; all sets are bit masks. */
function reach(near: readonly number[], from: number, gone: number): number {
  let seen = from & ~gone;
  for (let edge = seen; edge !== 0; ) {
    const u = 31 - Math.clz32(edge & -edge);
    edge &= edge - 1;
    const fresh = near[u]! & ~gone & ~seen;
    seen |= fresh;
    edge |= fresh;
  }
  return seen;
}

/** Key of a component: equal keys have equal leakage, so thousands of equal households are solved once. */
export const componentShape = (piece: GraphComponent): string =>
  `${piece.costs.join()}|${piece.factors.map((f) => `${f.members.join()}:${f.logOdds.join()}`).join('|')}`;

/** Limit on recorded shapes: with all components different, recording is useless. */
const mostShapes = 20_000;

/** The recursion for components of one graph by their nodes; equal ones are solved once. */
export function cachedRecursion(graph: FactorGraph, costs: Float64Array) {
  const solved = new Map<string, readonly number[] | undefined>();
  let local: Uint32Array | undefined;
  return (nodes: Uint32Array): readonly number[] | undefined => {
    local ??= new Uint32Array(graph.nodes);
    const piece = componentOf(graph, nodes, costs, local);
    const shape = componentShape(piece);
    if (solved.has(shape)) return solved.get(shape);
    const found = recursion(piece);
    if (solved.size < mostShapes) solved.set(shape, found);
    return found;
  };
}
