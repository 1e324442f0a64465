import { logUp } from '../../../base/exact/outward.js';
import { assemble, type FactorGraph } from './factor-graph.js';

/** Graph with a copy of itself, in which every record is tied to its twin. */
export const withTwins = (graph: FactorGraph): FactorGraph => withNeighbours(graph, 2);

/** Graph in which every record has a new neighbour without other ties. */
export const withPendants = (graph: FactorGraph): FactorGraph => withNeighbours(graph, 1);

/** New ties are as strong as the strongest declared one, of odds ratio 2 if there is none. */
function withNeighbours({ records, nodes, factors, member, logOdds, start }: FactorGraph, copies: 1 | 2): FactorGraph {
  const strongest = logOdds.length === 0 ? logUp(2) : logOdds.reduce((m, d) => Math.max(m, d), 0);
  const size = member.length;
  const members = new Uint32Array(copies * size + 2 * records);
  const odds = new Float64Array(members.length).fill(strongest);
  const starts = new Uint32Array(copies * factors + records + 1);
  for (let copy = 0; copy < copies; copy++) {
    odds.set(logOdds, copy * size);
    // Records of a copy, or the new ones, follow the records; hidden types of all copies come last.
    const hidden = records + copy * (nodes - records);
    for (let p = 0; p < size; p++) members[copy * size + p] = member[p]! + (member[p]! < records ? copy * records : hidden);
    for (let f = 0; f <= factors; f++) starts[copy * factors + f] = copy * size + start[f]!;
  }
  for (let u = 0; u < records; u++) {
    const at = copies * size + 2 * u;
    members[at] = u;
    members[at + 1] = u + records;
    starts[copies * factors + u + 1] = at + 2;
  }
  return assemble({
    records: 2 * records,
    nodes: 2 * records + copies * (nodes - records),
    start: starts,
    member: members,
    logOdds: odds,
  });
}
