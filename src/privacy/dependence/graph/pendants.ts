import { logUp } from '../../../base/exact/outward.js';
import { assemble, type FactorGraph } from './factor-graph.js';

/**
 * Graph in which every record has a new neighbour without other ties, tied as strongly as the strongest declared tie (odds ratio
 * 2 if there is none).
 */
export function withPendants(graph: FactorGraph): FactorGraph {
  const { records, nodes, factors, member, logOdds, start } = graph;
  const strongest = logOdds.length === 0 ? logUp(2) : logOdds.reduce((m, d) => Math.max(m, d), 0);
  const size = member.length;
  const members = new Uint32Array(size + 2 * records);
  const odds = new Float64Array(size + 2 * records).fill(strongest, size);
  odds.set(logOdds);
  // The new records follow the old ones, hidden types come last.
  for (let p = 0; p < size; p++) members[p] = member[p]! < records ? member[p]! : member[p]! + records;
  const starts = new Uint32Array(factors + records + 1);
  starts.set(start);
  for (let u = 0; u < records; u++) {
    const at = size + 2 * u;
    members[at] = u;
    members[at + 1] = u + records;
    starts[factors + u + 1] = at + 2;
  }
  return assemble(2 * records, nodes + records, starts, members, odds);
}
