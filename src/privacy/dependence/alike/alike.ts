import type { FactorGraph } from '../graph/factor-graph.js';
import { closed } from '../graph/push.js';
import { nodesOf, type Walk, walk } from '../graph/walk.js';
import { correlationSums, type Pulled } from './correlations.js';

/** Name of this bound in plans. */
export const alikeWords = 'ties that pull together by their correlations';

/** Limit for one component: enough for households of ten over any number of weeks, not for a town. */
const cost = { width: 13, rows: 2 ** 22 };
/** Limit on the number of distinct components whose results are reused. */
const mostShapes = 20_000;

/**
 * Upper bound on the leakage of each record if all ties are attractive (attractive-bound.proof.md). Infinite for components that
 * are too wide, and for forests, where the informed bound is never larger.
 */
export function alike(graph: FactorGraph, profile: Float64Array, walked: Walk = walk(graph)): Float64Array {
  if (!graph.pairwise) throw new RangeError('only ties between two pull together');
  const leaks = new Float64Array(graph.records).fill(Number.POSITIVE_INFINITY);
  const local = new Uint32Array(graph.nodes);
  const solved = new Map<string, Float64Array | undefined>();
  for (let c = 0; c < walked.components; c++) {
    if (!walked.looped[c]) continue;
    const nodes = nodesOf(walked, c);
    const piece = pieceOf(graph, nodes, profile, local);
    const shape = nodes.length > 64 ? undefined : JSON.stringify(piece);
    const known = shape !== undefined && solved.has(shape);
    const sums = known ? solved.get(shape) : correlationSums(piece, cost);
    if (shape !== undefined && !known && solved.size < mostShapes) solved.set(shape, sums);
    if (sums) for (let k = 0; k < nodes.length; k++) if (nodes[k]! < graph.records) leaks[nodes[k]!] = sums[k]!;
  }
  return leaks;
}

/** Component with its own numbering; hidden types have no cost. */
function pieceOf(graph: FactorGraph, nodes: Uint32Array, profile: Float64Array, local: Uint32Array): Pulled {
  for (let k = 0; k < nodes.length; k++) local[nodes[k]!] = k;
  const pulls: Pulled['pulls'][number][] = [];
  for (const [k, u] of nodes.entries())
    for (let x = graph.nodeStart[u]!; x < graph.nodeStart[u + 1]!; x++) {
      const w = local[graph.neighbour[x]!]!;
      if (k < w) pulls.push({ ends: [k, w], apart: closed(graph.logOdds[graph.incidence[x]!]!) });
    }
  return { effects: Array.from(nodes, (u) => (u < graph.records ? profile[u]! : 0)), pulls };
}
