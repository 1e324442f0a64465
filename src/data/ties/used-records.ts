import { hmacSha256, sha256 } from '../../base/platform/hash.js';
import type { FactorGraph } from '../../privacy/dependence/graph/factor-graph.js';
import { noGroup } from '../../privacy/dependence/graph/group-graph.js';
import { contraction } from '../../privacy/dependence/graph/push.js';
import { type Mark, usedMark } from '../../privacy/mechanism/record-class.js';

/** Limit on the used neighbours of a record over these ties: `most` if it is used itself, `most + spare` if it is not. */
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
 * An unused record has cost 0 of its own, and one tie adds at most t e (t the contraction of the strongest
 * tie): 1/t more used neighbours are safe before it leaks as much as a used one. Several relations share them.
 */
export function spareTies(graph: FactorGraph, relations: number): number {
  const strongest = graph.logOdds.reduce((m, d) => Math.max(m, d), 0);
  return strongest === 0 ? graph.records : Math.floor(1 / (relations * contraction(strongest)));
}

/** Records, how they are named, and what limits their use. */
export interface UseLimits {
  readonly records: number;
  readonly nameOf: (record: number) => string | undefined;
  readonly limits: readonly TieLimit[];
  readonly groups?: readonly GroupLimit[];
}

/**
 * Records that releases may use within the limits on used neighbours and group members: a function of ties and names alone, so as
 * public as they are (used-records.proof.md). Greedy: fewest ties of the busiest neighbour first, then by a keyed hash of names.
 */
export function usedRecords({ records, nameOf, limits, groups = [] }: UseLimits, key: string): Uint8Array {
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
    else waiting.push({ record: u, hash: hmacSha256(key, name) });
  }
  waiting.sort((a, b) => busiest[a.record]! - busiest[b.record]! || (a.hash < b.hash ? -1 : 1));
  const taken = limits.map(() => new Uint32Array(records));
  const admitted = new Uint8Array(records);
  for (const { record } of waiting) {
    const admissible =
      inside.every(({ group, most, taken: members }) => group[record] === noGroup || (members.get(group[record]!) ?? 0) < most) &&
      limits.every(
        ({ graph, most, spare }, k) =>
          taken[k]![record]! <= most &&
          neighbours(graph, record).every((w) => taken[k]![w]! < (admitted[w] ? most : most + spare)),
      );
    used[record] = admitted[record] = admissible ? 1 : 0;
    if (!admissible) continue;
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

/** Identifier of one choice: costs recorded under it were paid by the used records alone. */
export const markOf = (leftOut: Iterable<string>): Mark => usedMark(sha256(JSON.stringify([...leftOut].sort())).slice(0, 32));
