import { closedWeight, openWeight, pushThrough } from './push.js';
import { type Pusher, TangentTables } from './tangents.js';
import type { GraphWalk } from './walk.js';

/** Sums of positive numbers rounded up: two roundings of half a unit each are more than undone (informed.proof.md, "Rounding"). */
export const roundedUp = 1 + 2 ** -51;

/**
 * Exact bounds on factor forests by one pass each way: e_u + sum over the factors of u of push(B(f,u), D(f,u)). The result is
 * by position in the walk; components with loops are skipped.
 */
export function forestPass(w: GraphWalk, costs: Float64Array): Float64Array {
  const { parent, childEnd, looped, factorStart, componentStart, commonOdds } = w;
  const [parentOdds, childOdds] = commonOdds === undefined ? [w.parentOdds, w.childOdds] : [];
  const total = new Float64Array(costs.length);
  for (let x = 0; x < total.length; x++) total[x] = costs[w.order[x]!]!;
  /** Message of each walked factor to the node that introduced it. */
  const sent = new Float64Array(parent.length);
  const through = pusher(2 * parent.length);
  for (let c = w.components - 1; c >= 0; c--) {
    if (looped[c]) continue;
    const begin = factorStart[c]!;
    for (let f = factorStart[c + 1]! - 1; f >= begin; f--) {
      let loss = 0;
      for (let x = f === begin ? componentStart[c]! + 1 : childEnd[f - 1]!; x < childEnd[f]!; x++)
        loss = (loss + total[x]!) * roundedUp;
      const message = through(loss, commonOdds ?? parentOdds![f]!);
      sent[f] = message;
      total[parent[f]!] = (total[parent[f]!]! + message) * roundedUp;
    }
  }
  for (let c = 0; c < w.components; c++) {
    if (looped[c]) continue;
    const begin = factorStart[c]!;
    for (let f = begin; f < factorStart[c + 1]!; f++) {
      const from = f === begin ? componentStart[c]! + 1 : childEnd[f - 1]!;
      const to = childEnd[f]!;
      // The parent's whole sum without what this factor sent it.
      const beyond = Math.max(0, (total[parent[f]!]! - sent[f]!) * roundedUp);
      // Until the end of this loop the total of a child is what lies below it.
      let all = beyond;
      if (to - from > 1) for (let x = from; x < to; x++) all = (all + total[x]!) * roundedUp;
      for (let x = from; x < to; x++) {
        const loss = to - from === 1 ? beyond : Math.max(0, (all - total[x]!) * roundedUp);
        total[x] = (total[x]! + through(loss, commonOdds ?? childOdds![x]!)) * roundedUp;
      }
    }
  }
  return total;
}

/** `push` that remembers the last D: most graphs have few different ones. */
function pusher(calls: number): (loss: number, logOdds: number) => number {
  const tables = new TangentTables(calls);
  let last = -1;
  let table: Pusher | undefined;
  let shut = 0;
  let passing = 0;
  return (loss, logOdds) => {
    if (!(loss > 0) || logOdds === 0) return 0;
    if (logOdds !== last) {
      last = logOdds;
      table = tables.of(logOdds);
      if (!table) {
        shut = closedWeight(logOdds);
        passing = openWeight(logOdds);
      }
    }
    return table ? table(loss) : pushThrough(loss, logOdds, shut, passing);
  };
}
