import { mulUp } from '../exact/outward.js';
import { assemble, type FactorGraph } from './factor-graph.js';

/**
 * How the members of a group are tied.
 * `pairs`: every two members by a factor of D (a clique). `together`: one factor in which changing all others at once multiplies odds by at most
 * e^D. `hidden`: members are independent given a hidden type of the group, each tied to it by D.
 */
export type GroupTie = 'pairs' | 'together' | 'hidden';

/**
 * Above this a clique is kept as one factor with the sum of its ties' D, which the product of the pairs satisfies: the one-shot bound, all that
 * is left to gain from so many ties.
 */
export const largestClique = 48;

/** group[j] names record j's group, or `noGroup`. */
export const noGroup = 0xffffffff;

export function fromGroups(group: Uint32Array, logOdds: number, tie: GroupTie): FactorGraph {
  const records = group.length;
  const lists = membersOf(group);
  const start: number[] = [0];
  const sized = sizeUp(lists, tie);
  const member = new Uint32Array(sized);
  const odds = new Float64Array(sized);
  let nodes = records;
  let size = 0;
  const put = (u: number, d: number) => {
    member[size] = u;
    odds[size++] = d;
  };
  const pair = (u: number, w: number) => {
    put(u, logOdds);
    put(w, logOdds);
    start.push(size);
  };
  for (const list of lists) {
    if (tie === 'hidden') {
      const type = nodes++;
      for (const u of list) pair(u, type);
    } else if (tie === 'pairs' && list.length <= largestClique) {
      for (let a = 0; a < list.length; a++) for (let b = a + 1; b < list.length; b++) pair(list[a]!, list[b]!);
    } else {
      const d = tie === 'pairs' ? times(list.length - 1, logOdds) : logOdds;
      for (const u of list) put(u, d);
      start.push(size);
    }
  }
  return assemble(records, nodes, Uint32Array.from(start), member, odds);
}

const times = (k: number, d: number) => (k === 0 || d === 0 ? 0 : mulUp(k, d));

const sizeUp = (lists: readonly Uint32Array[], tie: GroupTie): number => {
  let total = 0;
  for (const { length: k } of lists) total += tie === 'hidden' ? 2 * k : tie === 'pairs' && k <= largestClique ? k * (k - 1) : k;
  return total;
};

/** Members of every group of at least two. */
function membersOf(group: Uint32Array): Uint32Array[] {
  const index = new Map<number, number>();
  const counts: number[] = [];
  const slot = new Uint32Array(group.length);
  for (let j = 0; j < group.length; j++) {
    if (group[j] === noGroup) continue;
    let k = index.get(group[j]!);
    if (k === undefined) {
      k = counts.length;
      index.set(group[j]!, k);
      counts.push(0);
    }
    slot[j] = k;
    counts[k]!++;
  }
  const lists = counts.map((c) => new Uint32Array(c));
  const filled = new Uint32Array(counts.length);
  for (let j = 0; j < group.length; j++) if (group[j] !== noGroup) lists[slot[j]!]![filled[slot[j]!]!++] = j;
  return lists.filter((l) => l.length > 1);
}
