import type { FactorGraph } from '../graph/factor-graph.js';
import { roundedUp } from '../graph/forest.js';
import { tangents } from '../graph/tangents.js';

/**
 * Upper bound on the worst leakage alone (informed.proof.md, "The worst record alone"). The k-th iterate from above depends only
 * on records within k ties, so only few records need several iterates.
 */
export interface FromAboveOptions {
  readonly costs: Float64Array;
  readonly caps: Float64Array;
  /** Push through incidence p, rounded up. */
  readonly pushed: (p: number, loss: number) => number;
  /** D of a tie to the twin of each record. */
  readonly twin?: number;
  /** Upper bounds on the true messages; the caps when absent. */
  readonly above?: ((p: number) => number) | undefined;
  /** Upper bound on the leakage of a node. */
  readonly known: (u: number) => number;
  /** Nodes with the largest of these bounds, and one for all others. */
  readonly ranked?: { readonly nodes: Uint32Array; readonly beyond: number } | undefined;
  /** Relative improvement below which no further step is taken. */
  readonly gain: number;
  /** Limit on pushes per incidence. */
  readonly pushes?: number;
}

/** Steps, and pushes in units of incidences, after which all messages together are cheaper. */
const mostSteps = 12;
const mostPushes = 1;
/** Replaces 0, which marks values that are not computed yet. */
const least = 2 ** -1000;

/** Upper bound on the largest leakage of all nodes; undefined if it takes too long. */
export function worstFromAbove(graph: FactorGraph, options: FromAboveOptions): number | undefined {
  const { member, nodes, records, nodeStart, incidence, commonOdds } = graph;
  const logOdds = commonOdds === undefined ? graph.logOdds : undefined;
  const { costs, caps, pushed, twin = 0, above, known, ranked, gain, pushes: most = mostPushes } = options;
  const toTwin = tangents(twin);
  const totals: Float64Array[] = [];
  let pushes = 0;
  const headroom = (u: number): number => (caps[u]! - costs[u]!) * roundedUp;
  /** Push through incidence p after `step` iterations. */
  const through = (step: number, p: number): number => {
    const cap = headroom(member[p]!);
    pushes++;
    // A tie never passes on more than D.
    if (step === 0) return above ? pushed(p, Math.min(above(p), cap)) : Math.min(commonOdds ?? logOdds![p]!, cap);
    const offered = (total(step - 1, member[p ^ 1]!) - through(step - 1, p ^ 1)) * roundedUp;
    return pushed(p, Math.max(0, Math.min(offered, cap)));
  };
  /** Total of a node: its own cost and all messages to it. */
  const total = (step: number, u: number): number => {
    totals[step] ??= new Float64Array(nodes);
    const found = totals[step]![u]!;
    if (found > 0) return found;
    let sum = costs[u]!;
    for (let x = nodeStart[u]!; x < nodeStart[u + 1]!; x++) sum = (sum + through(step, incidence[x]!)) * roundedUp;
    if (twin > 0 && u < records) sum = (sum + toTwin(Math.min(sum, headroom(u)))) * roundedUp;
    totals[step]![u] = Math.max(sum, least);
    return totals[step]![u]!;
  };
  const allowed = most * member.length;
  /** Increases the number of steps for u until it leaks at most `enough`, or more steps do not help. */
  const closer = (u: number, enough: number): number => {
    let bound = known(u);
    for (let step = 0; step < mostSteps && bound > enough && pushes < allowed; step++) {
      const next = Math.min(bound, total(step, u));
      const settled = step > 1 && next >= bound * (1 - gain);
      bound = next;
      if (settled) return bound;
    }
    return bound > enough ? Number.POSITIVE_INFINITY : bound;
  };
  const worstAmong = (count: number, at: (k: number) => number, atLeast: number): number => {
    let first = at(0);
    for (let k = 1; k < count; k++) if (known(at(k)) > known(first)) first = at(k);
    let worst = count > 0 && known(first) > atLeast ? Math.max(atLeast, closer(first, atLeast)) : atLeast;
    for (let k = 0; k < count && worst < Number.POSITIVE_INFINITY; k++)
      if (known(at(k)) > worst) worst = Math.max(worst, closer(at(k), worst));
    return worst;
  };
  let worst = ranked ? worstAmong(ranked.nodes.length, (k) => ranked.nodes[k]!, 0) : 0;
  if (!ranked || worst < ranked.beyond) worst = worstAmong(nodes, (u) => u, worst);
  return worst < Number.POSITIVE_INFINITY ? worst : undefined;
}
