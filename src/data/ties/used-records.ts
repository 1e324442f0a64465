import { createHash, createHmac } from 'node:crypto';
import type { FactorGraph } from '../../privacy/dependence/graph/factor-graph.js';
import { noGroup } from '../../privacy/dependence/graph/group-graph.js';
import { contraction } from '../../privacy/dependence/graph/push.js';
import { type Mark, usedMark } from '../../privacy/mechanism/record-class.js';

/** How many used neighbours a record may have over these ties: `most` when it is used itself, `most + spare` when it is left out. */
export interface TieLimit {
  readonly graph: FactorGraph;
  readonly most: number;
  readonly spare: number;
}

/** At most `most` members of a group are used. Rows without a name cannot be left out by it: they are used, and take the places first. */
export interface GroupLimit {
  /** The group of every record, or `noGroup`. */
  readonly group: Uint32Array;
  readonly most: number;
}

/**
 * A record that is left out spends nothing of its own, e, and one tie brings at most t e (t the contraction of the strongest tie): it has room for 1/t more
 * used neighbours before it gains as much as a used one. Over several relations the room is shared.
 */
export function spareTies(graph: FactorGraph, relations: number): number {
  const strongest = graph.logOdds.reduce((m, d) => Math.max(m, d), 0);
  return strongest === 0 ? graph.records : Math.floor(1 / (relations * contraction(strongest)));
}

/**
 * Which records releases may use so that nobody has more used neighbours, and no group more used members, than the limits allow. Looks at the ties and the names and at
 * nothing else, so the choice is as public as the ties are (used-records.proof.md). Greedy: first those whose busiest neighbour has fewest ties, so that
 * a place beside a hub goes to a record only when it would lose nothing elsewhere; equals in the order of a keyed hash of their names.
 */
export function usedRecords(
  records: number,
  limits: readonly TieLimit[],
  nameOf: (record: number) => string | undefined,
  key: string,
  groups: readonly GroupLimit[] = [],
): Uint8Array {
  const used = new Uint8Array(records).fill(1);
  const busiest = new Uint32Array(records);
  for (const { graph } of limits)
    for (let u = 0; u < records; u++) {
      const degree = graph.nodeStart[u + 1]! - graph.nodeStart[u]!;
      for (const w of neighbours(graph, u)) if (degree > busiest[w]!) busiest[w] = degree;
    }
  const inside = groups.map(({ group, most }) => ({ group, most, taken: new Map<number, number>(), size: sizesOf(group) }));
  for (const { group, most, size } of inside)
    for (let u = 0; u < records; u++) {
      const members = size.get(group[u]!) ?? 0;
      if (members > most) busiest[u] = Math.max(busiest[u]!, members - 1);
    }
  const take = (u: number) => {
    for (const { group, taken } of inside) if (group[u] !== noGroup) taken.set(group[u]!, (taken.get(group[u]!) ?? 0) + 1);
  };
  const waiting: { record: number; hash: string }[] = [];
  for (let u = 0; u < records; u++) {
    const name = busiest[u]! > 0 ? nameOf(u) : undefined;
    if (name === undefined) take(u);
    else waiting.push({ record: u, hash: createHmac('sha256', key).update(name).digest('hex') });
  }
  waiting.sort((a, b) => busiest[a.record]! - busiest[b.record]! || (a.hash < b.hash ? -1 : 1));
  const taken = limits.map(() => new Uint32Array(records));
  const admitted = new Uint8Array(records);
  for (const { record } of waiting) {
    const room =
      inside.every(({ group, most, taken: members }) => group[record] === noGroup || (members.get(group[record]!) ?? 0) < most) &&
      limits.every(
        ({ graph, most, spare }, k) =>
          taken[k]![record]! <= most &&
          neighbours(graph, record).every((w) => taken[k]![w]! < (admitted[w] ? most : most + spare)),
      );
    used[record] = admitted[record] = room ? 1 : 0;
    if (!room) continue;
    take(record);
    limits.forEach(({ graph }, k) => {
      for (const w of neighbours(graph, record)) taken[k]![w]!++;
    });
  }
  return used;
}

function sizesOf(group: Uint32Array): Map<number, number> {
  const size = new Map<number, number>();
  for (const g of group) if (g !== noGroup) size.set(g, (size.get(g) ?? 0) + 1);
  return size;
}

const neighbours = (graph: FactorGraph, u: number): Uint32Array =>
  graph.neighbour.subarray(graph.nodeStart[u]!, graph.nodeStart[u + 1]!);

/** One text for one choice: costs booked under it were paid by the used records alone. */
export const markOf = (leftOut: Iterable<string>): Mark =>
  usedMark(
    createHash('sha256')
      .update(JSON.stringify([...leftOut].sort()))
      .digest('hex')
      .slice(0, 32),
  );
