import { mulUp } from '../../../base/exact/outward.js';
import type { FactorGraph } from '../graph/factor-graph.js';
import { closedWeight } from '../graph/push.js';
import { type GraphWalk, nodesOf, walkGraph } from '../graph/walk.js';
import { type GraphOrModel, isModel } from '../model/model-graph.js';
import { type AttractiveTies, attractiveTies } from './attractive-ties.js';
import { correlationSums, type IsingComponent } from './ising-correlations.js';

export const attractiveBoundText = 'ties that pull together by their correlations';

/** Limit for one component: enough for households of ten over any number of weeks, not for a town. */
const cost = { width: 13, rows: 2 ** 22 };
/** Limit on the number of distinct components whose results are reused. */
const mostShapes = 20_000;

/**
 * Upper bound on the leakage of each record if all ties are attractive (attractive-bound.proof.md). Infinite for components that
 * are too wide, and for forests, where the informed bound is never larger.
 */
export function attractiveBound(
  graph: FactorGraph,
  recordCosts: Float64Array,
  walked: GraphWalk = walkGraph(graph),
): Float64Array {
  if (!graph.pairwise) throw new RangeError('only ties between two pull together');
  const leaks = new Float64Array(graph.records).fill(Number.POSITIVE_INFINITY);
  const local = new Uint32Array(graph.nodes);
  const solved = new Map<string, Float64Array | undefined>();
  for (let c = 0; c < walked.components; c++) {
    if (!walked.looped[c]) continue;
    const nodes = nodesOf(walked, c);
    const piece = pieceOf(graph, nodes, recordCosts, local);
    const shape = nodes.length > 64 ? undefined : JSON.stringify(piece);
    const known = shape !== undefined && solved.has(shape);
    const sums = known ? solved.get(shape) : correlationSums(piece, cost);
    if (shape !== undefined && !known && solved.size < mostShapes) solved.set(shape, sums);
    if (sums) for (let k = 0; k < nodes.length; k++) if (nodes[k]! < graph.records) leaks[nodes[k]!] = sums[k]!;
  }
  return leaks;
}

/** Component with its own numbering; hidden types have no cost. */
function pieceOf(graph: FactorGraph, nodes: Uint32Array, recordCosts: Float64Array, local: Uint32Array): IsingComponent {
  for (let k = 0; k < nodes.length; k++) local[nodes[k]!] = k;
  const pulls: IsingComponent['ties'][number][] = [];
  for (const [k, u] of nodes.entries())
    for (let x = graph.nodeStart[u]!; x < graph.nodeStart[u + 1]!; x++) {
      const w = local[graph.neighbour[x]!]!;
      if (k < w) pulls.push({ ends: [k, w], disagreement: closedWeight(graph.logOdds[graph.incidence[x]!]!) });
    }
  return { costs: Array.from(nodes, (u) => (u < graph.records ? recordCosts[u]! : 0)), ties: pulls };
}

/** Bound for attractive ties, infinite for records it does not cover. */
export function attractiveBoundOf(
  subject: GraphOrModel,
  pull: 'alike' | undefined,
): ((recordCosts: Float64Array) => Float64Array) | undefined {
  let pulls: Partial<AttractiveTies> | undefined;
  if (isModel(subject)) pulls = attractiveTies(subject);
  else if (pull && subject.pairwise) pulls = { graph: subject };
  if (!pulls?.graph) return undefined;
  const { graph, coveredNodes } = pulls;
  const walked = walkGraph(graph);
  const whereCovered = (leaks: Float64Array) =>
    coveredNodes ? leaks.map((leak, i) => (coveredNodes[i] ? leak : Number.POSITIVE_INFINITY)) : leaks;
  // The bound is linear: if records spend one cost or nothing, the result for cost 1 is computed once.
  let unit: { readonly who: Float64Array; readonly leaks: Float64Array } | undefined;
  return (recordCosts) => {
    const most = recordCosts.reduce((m, e) => Math.max(m, e), 0);
    if (recordCosts.some((e) => e !== most && e !== 0)) return whereCovered(attractiveBound(graph, recordCosts, walked));
    const who = recordCosts.map((e) => (e > 0 ? 1 : 0));
    if (!unit || who.some((one, i) => one !== unit!.who[i]))
      unit = { who, leaks: whereCovered(attractiveBound(graph, who, walked)) };
    return unit.leaks.map((leak) => (leak === Number.POSITIVE_INFINITY ? leak : mulUp(leak, most)));
  };
}
