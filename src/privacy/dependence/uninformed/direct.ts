import { addUp } from '../../../base/exact/outward.js';
import type { FactorGraph } from '../graph/factor-graph.js';
import { roundedUp } from '../graph/forest.js';
import { push } from '../graph/push.js';

/** Assumptions of `reach: direct`, printed wherever it is used. */
export const directAssumption = {
  independent:
    "What lies beyond a record's own ties is independent of it; and given the record and everything beyond, its ties are independent of one another.",
  any: "What lies beyond a record's own ties is independent of it.",
} as const;

/**
 * Upper bound on leakage to an uninformed attacker under direct reach: e_i + sum over factors of push(costs in the factor, D); if
 * the ties of a record may depend on each other, e_i + the costs of all its neighbours.
 */
export function directBound(
  graph: FactorGraph,
  recordCosts: Float64Array,
  ties: keyof typeof directAssumption = 'independent',
): Float64Array {
  const leaks = new Float64Array(graph.records);
  // Most ties are alike.
  let [lastLoss, lastOdds, lastPush] = [0, 0, 0];
  const pushed = (loss: number, odds: number): number => {
    if (loss === lastLoss && odds === lastOdds) return lastPush;
    lastPush = push(loss, odds);
    lastLoss = loss;
    lastOdds = odds;
    return lastPush;
  };
  for (let u = 0; u < graph.records; u++) {
    let leak = recordCosts[u]!;
    let separately = 0;
    for (let x = graph.nodeStart[u]!; x < graph.nodeStart[u + 1]!; x++) {
      const p = graph.incidence[x]!;
      const f = graph.factorOf[p]!;
      let loss = 0;
      for (let q = graph.start[f]!; q < graph.start[f + 1]!; q++) {
        const w = graph.member[q]!;
        if (q === p) continue;
        if (w >= graph.records) throw new RangeError('a hidden type reaches beyond its own tie');
        loss = (loss + recordCosts[w]!) * roundedUp;
      }
      if (loss > 0) separately = addUp(separately, ties === 'independent' ? pushed(loss, graph.logOdds[p]!) : loss);
    }
    leak = addUp(leak, separately);
    leaks[u] = leak;
  }
  return leaks;
}
