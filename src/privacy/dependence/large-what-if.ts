import { addUp, logUp } from '../../base/exact/outward.js';
import type { BoundsKey } from './bounds-cache.js';
import { withOdds } from './graph/factor-graph.js';
import { push } from './graph/push.js';
import { propagate } from './informed/belief-propagation.js';
import { type GraphLayout, layoutGraph, withLayoutOdds } from './informed/graph-layout.js';
import { ceilingOf, informedBound, largestOf, nodeCosts, totalLogOdds, type WarmStart } from './informed/informed.js';
import { isLargeGraph, pushOf, releaseScratch } from './informed/sweep.js';
import { costsOf } from './informed/uniform-bound.js';
import { worstFromAbove } from './informed/worst-from-above.js';
import type { LeakageCalculator } from './leakage.js';
import { directBound } from './uninformed/direct.js';
import type { WhatIfLeakage } from './what-if.js';

/** Precision and work limit for what-ifs: two digits suffice for undeclared ties, and caps apply beyond the limit. */
const rough = { loose: 5e-3, hardWork: 6e7, part: 1e-2 } as const;

/** Relative improvement below which no further step is taken. */
const roughly = 1.5e-2;

/** Leakage under stronger or further ties, without building a graph for them (informed.proof.md, "Twins" and "Pendants"). */
export function largeWhatIf({ graph, reach, used }: BoundsKey, base: number, known?: LeakageCalculator): WhatIfLeakage {
  const spent = costsOf(graph.records, used, base);
  const tie = graph.commonOdds ?? largestOf(graph.logOdds);
  const times = (k: number) => {
    const more = logUp(k);
    return (d: number) => addUp(d, more);
  };
  if (reach === 'direct') {
    const at = (change: (d: number) => number) => largestOf(directBound(withOdds(graph, change), spent));
    // A twin passes on its own cost over the new tie, a new neighbour the base.
    const twins = directBound(graph, spent).map((leak, u) => addUp(leak, push(used ? base : spent[u]!, tie)));
    const oneMoreTie = Math.max(largestOf(twins), addUp(base, push(base, tie)));
    return { oddsTimes2: at(times(2)), oddsTimes4: at(times(4)), oneMoreTie };
  }
  const laid = known?.laid ?? layoutGraph(graph);
  const at = (change: (d: number) => number): number => {
    const changed = withLayoutOdds(laid, change);
    return largestOf(informedBound(changed.graph, spent, changed, { work: rough, worst: roughly }).leaks);
  };
  const twins = withTwin(laid, spent, tie);
  releaseScratch(graph);
  const [oddsTimes2, oddsTimes4] = [at(times(2)), at(times(4))];
  // Twins of unused records would be unused too; a new neighbour would not.
  const oneMoreTie = used ? Math.max(twins, withPendant(laid, spent, { base, tie, start: known?.start() })) : twins;
  if (laid.rest) releaseScratch(laid.rest.graph);
  return { oddsTimes2, oddsTimes4, oneMoreTie };
}

/** Worst leakage if every record is tied to a twin in a copy of the graph; by symmetry one copy suffices. */
function withTwin(laid: GraphLayout, spent: Float64Array, twin: number): number {
  const { graph } = laid;
  const { costs, whole } = nodeCosts(laid, spent);
  const caps = whole.map((sum) => addUp(sum, sum));
  const ceilings = caps.map((cap, u) => ceilingOf(costs[u]!, cap, addUp(totalLogOdds(graph, u), twin)));
  const question = { costs, caps, pushed: pushOf(graph), twin, gain: roughly, known: (u: number) => ceilings[u]! };
  const quick = isLargeGraph(graph) ? worstFromAbove(graph, question) : undefined;
  if (quick !== undefined) return quick;
  const { leaks } = propagate(graph, costs, caps, { ...rough, twin });
  return largestOf(leaks.subarray(0, graph.records).map((leak, u) => Math.min(leak, ceilings[u]!)));
}

/**
 * Leakage if everybody had a new neighbour with the base as its cost and no other tie: averaged out, it adds to the cost of its
 * neighbour.
 */
function withPendant(
  laid: GraphLayout,
  spent: Float64Array,
  { base, tie, start }: { readonly base: number; readonly tie: number; readonly start: WarmStart | undefined },
): number {
  const brought = push(base, tie);
  const costs = spent.map((e) => addUp(e, brought));
  const { leaks } = informedBound(laid.graph, costs, laid, { start, work: rough });
  return leaks.reduce((most, leak) => {
    const behind = (leak - brought) * (1 + 2 ** -40);
    return Math.max(most, leak, addUp(base, push(Math.max(0, behind), tie)));
  }, 0);
}
