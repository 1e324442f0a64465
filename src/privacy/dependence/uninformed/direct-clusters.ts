import { subUp } from '../../../base/exact/outward.js';
import type { FactorGraph } from '../graph/factor-graph.js';
import { contraction } from '../graph/push.js';
import { type ClusterDistribution, convolve, DistributionList, tailDistribution } from './clusters.js';

/** Limit on work for exact distributions; the rest is bounded by the strongest tie. */
const mostWork = 2e8;

/**
 * Cluster distributions for ties of direct reach (assumptions in direct.ts): the record, and each used neighbour independently
 * with probability tanh(D/4) (percolation.proof.md).
 */
export function directDistributions(graph: FactorGraph, used?: Uint8Array): ClusterDistribution[] {
  if (!graph.pairwise) throw new RangeError('direct reach is for ties between two records');
  const distributions = new DistributionList();
  const seen = new Set<string>();
  let work = 0;
  for (let u = 0; u < graph.records; u++) {
    const odds: number[] = [];
    for (let x = graph.nodeStart[u]!; x < graph.nodeStart[u + 1]!; x++)
      if (!used || used[graph.neighbour[x]!] === 1) odds.push(graph.logOdds[graph.incidence[x]!]!);
    odds.sort((a, b) => b - a);
    work += odds.length ** 2;
    const common = graph.commonOdds !== undefined || work > mostWork;
    const key = common ? `${odds.length} times ${odds[0]}` : odds.join();
    if (seen.has(key)) continue;
    seen.add(key);
    let distribution: Float64Array = Float64Array.of(0, 1);
    for (const d of odds) {
      const open = contraction(common ? odds[0]! : d);
      distribution = convolve(distribution, Float64Array.of(subUp(1, open), open));
    }
    distributions.add(tailDistribution(distribution));
  }
  return distributions.list;
}
