import { addUp, divUp, mulUp } from '../../../base/exact/outward.js';
import type { FactorGraph } from './factor-graph.js';
import { push } from './push.js';

/**
 * Upper bound on leakage if every two of these nodes are tied by at most D: after removals only the number of nodes left matters,
 * so the recursion is one line per size (informed.proof.md, "Cliques").
 */
export function cliqueLeaks(costs: readonly number[], logOdds: number): number[] {
  const order = costs.map((_, k) => k).sort((a, b) => costs[b]! - costs[a]!);
  const descending = order.map((k) => costs[k]!);
  return costs.map((own, i) => {
    const others = [...descending];
    others.splice(order.indexOf(i), 1);
    let r = 0;
    let top = 0;
    for (const [k, e] of others.entries()) {
      const m = k + 1;
      top = addUp(top, e);
      const one = Math.min(addUp(divUp(top, m), r), top);
      r = Math.min(mulUp(m, push(one, logOdds)), push(top, logOdds === 0 ? 0 : mulUp(m, logOdds)));
    }
    return addUp(own, r);
  });
}

/** The largest D of a component in which every two nodes are tied directly and only in pairs; undefined otherwise. */
export function cliqueOdds(graph: FactorGraph, nodes: Uint32Array): number | undefined {
  const size = nodes.length;
  let worst = 0;
  for (const u of nodes) {
    if (u >= graph.records || graph.nodeStart[u + 1]! - graph.nodeStart[u]! !== size - 1) return undefined;
    const met = new Set<number>();
    for (let x = graph.nodeStart[u]!; x < graph.nodeStart[u + 1]!; x++) {
      const p = graph.incidence[x]!;
      const f = graph.factorOf[p]!;
      const begin = graph.start[f]!;
      if (graph.start[f + 1]! - begin !== 2) return undefined;
      met.add(graph.member[p === begin ? begin + 1 : begin]!);
      worst = Math.max(worst, graph.logOdds[p]!);
    }
    if (met.size !== size - 1) return undefined;
  }
  return worst;
}
