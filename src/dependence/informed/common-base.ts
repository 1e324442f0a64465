import { addUp, mulUp } from '../../exact/outward.js';
import type { FactorGraph } from '../graph/factor-graph.js';
import { roundedUp } from '../graph/forest.js';
import { atLast, listedEnds, pairGraph } from '../graph/pair-graph.js';
import { push } from '../graph/push.js';
import { informed, oddsOf, type Start, startOn } from './informed.js';
import { type Layout, layout } from './layout.js';
import { manyMessages, pushing } from './sweep.js';
import { worstFromAbove } from './worst-from-above.js';

/** The worst leak where every used record of a large graph spends one base. */
export interface CommonBase {
  /** Rounded up; undefined where the whole graph has to be looked at. */
  worst(base: number, gain: number): number | undefined;
  /** Messages of a small base, worked out once. */
  start(): Start;
}

/**
 * Made once for a graph whose large components with loops are its first nodes; undefined for others. Leaks of a small base, times a number, bound those of
 * larger ones (informed.proof.md, "The worst record alone"): only records that may be the worst are looked at, and who that is hardly changes from base to base.
 */
export function commonBase(laid: Layout, used: Uint8Array | undefined, small: number): CommonBase | undefined {
  const { rest } = laid;
  if (!rest || rest.nodes || !manyMessages(rest.graph) || !laid.graph.pairwise) return undefined;
  const { graph } = rest;
  const others = othersThan(laid, used);
  const spenders = spendersOf(laid, used);
  const effectOf = (u: number, base: number): number => (used && !used[u] ? 0 : base);
  const effects = (base: number) => Float64Array.from({ length: graph.nodes }, (_, u) => effectOf(u, base));
  const caps = (base: number) => Float64Array.from({ length: graph.nodes }, (_, u) => mulUp(spenders[u]!, base));
  const start = atLast(() => startOn(graph, effects(small), caps(small), small));
  const largest = atLast(() => largestOf(start().leaks));
  /** What group and odds let a record leak, the one-shot cap included. */
  const ceiling = (u: number, base: number): number => {
    const own = effectOf(u, base);
    const odds = oddsOf(graph, u);
    const whole = mulUp(spenders[u]!, base);
    return Math.min(whole, addUp(own, Math.min(odds, push((whole - own) * roundedUp, odds))));
  };
  const pushed = atLast(() => pushing(graph));
  const worst = (base: number, gain: number): number | undefined => {
    if (!(base >= small && base < small * 2 ** 60) || !start().certain) return undefined;
    const found = start();
    const scale = (base / small) * (1 + 2 ** -50);
    const looped = worstFromAbove(graph, {
      effects: effects(base),
      caps: caps(base),
      pushed: pushed(),
      twin: 0,
      gain,
      known: (u) => Math.min(found.leaks[u]! * scale, ceiling(u, base)),
      above: (p) => found.messages[p]! * scale,
      ranked: { nodes: largest().nodes, beyond: largest().beyond * scale * roundedUp },
    });
    return looped === undefined ? undefined : Math.max(looped, others?.(base) ?? 0);
  };
  return { worst, start };
}

/** The nodes whose leaks are largest, and a bound for those of all others. */
interface Ranked {
  readonly nodes: Uint32Array;
  readonly beyond: number;
}

/** So many records are listed as candidates for the worst, if as many come close to it. */
const mostRanked = 4096;

function largestOf(leaks: Float64Array): Ranked {
  const most = leaks.reduce((m, x) => Math.max(m, x), 0);
  for (const part of [0.5, 0.7, 0.85, 0.95]) {
    const nodes: number[] = [];
    for (let u = 0; u < leaks.length && nodes.length <= mostRanked; u++) if (leaks[u]! > part * most) nodes.push(u);
    if (nodes.length > mostRanked) continue;
    return { nodes: Uint32Array.from(nodes.sort((a, b) => leaks[b]! - leaks[a]!)), beyond: part * most * roundedUp };
  }
  return { nodes: new Uint32Array(0), beyond: most };
}

/** How many used records the component of each node has. */
function spendersOf({ walk, rest }: Layout, used: Uint8Array | undefined): Uint32Array {
  const counts = new Uint32Array(rest!.graph.nodes);
  for (let c = 0; c < walk.components; c++) {
    const nodes = walk.order.subarray(walk.componentStart[c]!, walk.componentStart[c + 1]!);
    if (nodes[0]! >= counts.length) continue;
    let count = 0;
    for (const u of nodes) if (!used || used[u]) count++;
    for (const u of nodes) counts[u] = count;
  }
  return counts;
}

/** The worst leak of the components behind the first ones. */
function othersThan({ graph, rest }: Layout, used: Uint8Array | undefined): ((base: number) => number) | undefined {
  const first = rest!.graph.nodes;
  if (first === graph.nodes) return undefined;
  const tied = rest!.graph.member.length;
  const made: FactorGraph = pairGraph(
    graph.nodes - first,
    listedEnds(
      graph.nodes - first,
      graph.member.subarray(tied).map((u) => u - first),
    ),
    graph.commonOdds ?? graph.logOdds.slice(tied),
  );
  const laid = layout(made);
  const mask = used?.subarray(first);
  return (base) => {
    const spent = Float64Array.from({ length: made.records }, (_, u) => (mask && !mask[u] ? 0 : base));
    return informed(made, spent, laid).leaks.reduce((m, x) => Math.max(m, x), 0);
  };
}
