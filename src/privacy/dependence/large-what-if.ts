import { addUp, logUp } from '../../base/exact/outward.js';
import type { BoundsKey } from './bounds-cache.js';
import { type FactorGraph, withOdds } from './graph/factor-graph.js';
import { push } from './graph/push.js';
import { propagate } from './informed/belief-propagation.js';
import { type GraphLayout, layoutGraph, withLayoutOdds } from './informed/graph-layout.js';
import { type InformedOptions, informedBound, nodeCosts, totalLogOdds } from './informed/informed.js';
import { isLargeGraph, pushOf } from './informed/sweep.js';
import { worstFromAbove } from './informed/worst-from-above.js';
import type { LeakageCalculator } from './leakage.js';
import { directBound } from './uninformed/direct.js';
import type { WhatIfLeakages } from './what-if.js';

/** Precision and work limit for what-ifs: two digits suffice for undeclared ties, and caps apply beyond the limit. */
const rough = { loose: 5e-3, hardWork: 6e7, part: 1e-2 } as const;

/** Relative improvement below which no further step is taken. */
const roughly = 1.5e-2;

/** Leakage under stronger or further ties, without building a graph for them (informed.proof.md, "Twins" and "Pendants"). */
export function largeWhatIf({ graph, reach, used }: BoundsKey, base: number, known?: LeakageCalculator): WhatIfLeakages {
  const spent = Float64Array.from({ length: graph.records }, (_, u) => (used && !used[u] ? 0 : base));
  const tie = graph.commonOdds ?? graph.logOdds.reduce((m, d) => Math.max(m, d), 0);
  const [two, four] = [logUp(2), logUp(4)];
  const doubled = (d: number) => addUp(d, two);
  const fourfold = (d: number) => addUp(d, four);
  if (reach === 'direct') {
    const at = (change: (d: number) => number) => mostOf(directBound(withOdds(graph, change), spent));
    const own = directBound(graph, spent);
    // A twin passes on its own cost over the new tie, a new neighbour the base.
    const more = own.map((leak, u) => addUp(leak, push(used ? base : spent[u]!, tie)));
    return { twice: at(doubled), fourTimes: at(fourfold), oneMore: Math.max(mostOf(more), addUp(base, push(base, tie))) };
  }
  const laid = known?.laid ?? layoutGraph(graph);
  const common = known?.common?.();
  const worst = (on: GraphLayout, recordCosts: Float64Array, only: Pick<InformedOptions, 'worst'> = {}) => {
    const start = known?.start();
    return informedBound(on.graph, recordCosts, on, { ...(start && { start }), work: rough, ...only }).leaks;
  };
  // Large components on their own, without further arrays of the size of the graph.
  const behind = common?.others && spent.subarray(graph.nodes - common.others.graph.nodes);
  const once = { gain: roughly, work: rough };
  const at = (change: (d: number) => number): number => {
    if (!common) return mostOf(worst(withLayoutOdds(laid, change), spent, { worst: roughly }));
    const changed = common.withOdds(change);
    const others = changed.others
      ? mostOf(informedBound(changed.others.graph, behind!, changed.others, { work: rough }).leaks)
      : 0;
    return Math.max(changed.worstOnce(base, once), others);
  };
  const twinned = (): number => {
    if (!common) return withTwin(laid, spent, tie);
    return Math.max(common.worstOnce(base, { ...once, twin: tie }), common.others ? withTwin(common.others, behind!, tie) : 0);
  };
  const [twins, twice, fourTimes] = [twinned(), at(doubled), at(fourfold)];
  common?.release();
  return {
    twice,
    fourTimes,
    // Twins of unused records would be unused too; a new neighbour would not.
    oneMore: used
      ? Math.max(
          twins,
          withPendant(graph, spent, base, tie, (recordCosts) => worst(laid, recordCosts)),
        )
      : twins,
  };
}

/** Worst leakage if every record is tied to a twin in a copy of the graph; by symmetry one copy suffices. */
function withTwin(laid: GraphLayout, spent: Float64Array, tie: number): number {
  const { graph } = laid;
  const { effects: costs, whole } = nodeCosts(laid, spent);
  const caps = whole.map((sum) => addUp(sum, sum));
  const ceilings = caps.map((cap, u) => Math.min(cap, addUp(costs[u]!, addUp(totalLogOdds(graph, u), tie))));
  const quick =
    isLargeGraph(graph) &&
    worstFromAbove(graph, { costs, caps, pushed: pushOf(graph), twin: tie, gain: roughly, known: (u) => ceilings[u]! });
  if (quick) return quick;
  const { leaks } = propagate(graph, costs, caps, { ...rough, twin: tie });
  let most = 0;
  for (let u = 0; u < graph.records; u++) most = Math.max(most, Math.min(leaks[u]!, ceilings[u]!));
  return most;
}

/**
 * Leakage if everybody had a new neighbour with the base as its cost and no other tie: averaged out, it adds to the cost of its
 * neighbour.
 */
function withPendant(
  { records }: FactorGraph,
  spent: Float64Array,
  base: number,
  tie: number,
  leaksOf: (recordCosts: Float64Array) => Float64Array,
): number {
  const brought = push(base, tie);
  const leaks = leaksOf(spent.map((e) => addUp(e, brought)));
  let most = 0;
  for (let u = 0; u < records; u++) {
    const behind = (leaks[u]! - brought) * (1 + 2 ** -40);
    most = Math.max(most, leaks[u]!, addUp(base, push(Math.max(0, behind), tie)));
  }
  return most;
}

const mostOf = (leaks: Float64Array): number => leaks.reduce((m, x) => Math.max(m, x), 0);
