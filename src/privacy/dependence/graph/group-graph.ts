import { mulUp } from '../../../base/exact/outward.js';
import { assemble, type FactorGraph } from './factor-graph.js';
import { graphBytes, type MemoryLimit, unlimitedMemory } from './memory-limit.js';

/**
 * Tie of a group's members. `pairs`: every two by D (a clique). `together`: one factor, where changing all others moves odds by
 * at most e^D. `hidden`: independent given a hidden type, to which each is tied by D.
 */
export type GroupTie = 'pairs' | 'together' | 'hidden';

/** Size above which a clique is kept as one factor with the sum of its ties' D: the one-shot bound, which is then the best. */
const largestClique = 48;

/** group[j] names record j's group, or `noGroup`. */
export const noGroup = 0xffffffff;

export function fromGroups(
  group: Uint32Array,
  logOdds: number,
  tie: GroupTie,
  memory: MemoryLimit = unlimitedMemory,
): FactorGraph {
  const records = group.length;
  const { members, begin, groups } = membersOf(group);
  const size = sizeUp(begin, groups, tie);
  memory.require(24 * records + graphBytes(records + size.hidden, size.incidences));
  const start = new Uint32Array(size.factors + 1);
  const member = new Uint32Array(size.incidences);
  const odds = new Float64Array(size.incidences);
  let nodes = records;
  let factor = 0;
  let at = 0;
  const put = (u: number, d: number) => {
    member[at] = u;
    odds[at++] = d;
  };
  const pair = (u: number, w: number) => {
    put(u, logOdds);
    put(w, logOdds);
    start[++factor] = at;
  };
  for (let g = 0; g < groups; g++) {
    const from = begin[g]!;
    const to = begin[g + 1]!;
    if (to - from < 2) continue;
    if (tie === 'hidden') {
      const type = nodes++;
      for (let a = from; a < to; a++) pair(members[a]!, type);
    } else if (tie === 'pairs' && to - from <= largestClique) {
      for (let a = from; a < to; a++) for (let b = a + 1; b < to; b++) pair(members[a]!, members[b]!);
    } else {
      const d = tie === 'pairs' ? times(to - from - 1, logOdds) : logOdds;
      for (let a = from; a < to; a++) put(members[a]!, d);
      start[++factor] = at;
    }
  }
  return assemble({ records, nodes, start, member, logOdds: odds });
}

const times = (k: number, d: number) => (k === 0 || d === 0 ? 0 : mulUp(k, d));

/** Size of the resulting graph. Groups of one record have no ties. */
function sizeUp(begin: Uint32Array, groups: number, tie: GroupTie) {
  let [incidences, factors, hidden] = [0, 0, 0];
  for (let g = 0; g < groups; g++) {
    const k = begin[g + 1]! - begin[g]!;
    if (k < 2) continue;
    let pairs = 0;
    if (tie === 'hidden') pairs = k;
    else if (tie === 'pairs' && k <= largestClique) pairs = (k * (k - 1)) / 2;
    incidences += pairs > 0 ? 2 * pairs : k;
    factors += Math.max(1, pairs);
    if (tie === 'hidden') hidden++;
  }
  return { incidences, factors, hidden };
}

/** Members of group g are members[begin[g] .. begin[g+1]]; groups come in the order of their first members. */
function membersOf(group: Uint32Array) {
  const names = 1 + group.reduce((most, g) => (g === noGroup ? most : Math.max(most, g)), 0);
  const place = new Uint32Array(names).fill(noGroup);
  let groups = 0;
  let grouped = 0;
  for (const g of group) {
    if (g === noGroup) continue;
    if (place[g] === noGroup) place[g] = groups++;
    grouped++;
  }
  const begin = new Uint32Array(groups + 1);
  for (const g of group) if (g !== noGroup) begin[place[g]! + 1]!++;
  for (let g = 0; g < groups; g++) begin[g + 1]! += begin[g]!;
  const next = begin.slice(0, groups);
  const members = new Uint32Array(grouped);
  for (let j = 0; j < group.length; j++) if (group[j] !== noGroup) members[next[place[group[j]!]!]!++] = j;
  return { members, begin, groups };
}
