import { contraction } from './graph/push.js';
import { type GraphOrModel, graphOf } from './model/model-graph.js';

export interface Hub {
  readonly record: number;
  readonly ties: number;
  /**
   * Factor by which a small privacy loss that arrives over one tie leaves over all the others; from 1 on, it need not die out.
   */
  readonly passesOn: number;
}

/** Records that pass on most: they keep leakage large however small the base. */
export function hubs(subject: GraphOrModel, most = 5): Hub[] {
  const graph = graphOf(subject);
  const list: Hub[] = [];
  for (let u = 0; u < graph.records; u++) {
    const from = graph.nodeStart[u]!;
    const to = graph.nodeStart[u + 1]!;
    if (to - from < 2) continue;
    let sum = 0;
    let weakest = 1;
    for (let x = from; x < to; x++) {
      const t = contraction(graph.logOdds[graph.incidence[x]!]!);
      sum += t;
      weakest = Math.min(weakest, t);
    }
    const hub = { record: u, ties: to - from, passesOn: sum - weakest };
    if (list.length < most || hub.passesOn > list.at(-1)!.passesOn) {
      list.push(hub);
      list.sort((a, b) => b.passesOn - a.passesOn);
      list.length = Math.min(list.length, most);
    }
  }
  return list;
}
