import { levelCount, type PairTables } from '../../../privacy/dependence/pairwise/pair-tables.js';

export interface DependencyForest {
  /** Parent of each column, or -1 at a root. */
  readonly parent: Int32Array;
  readonly edges: readonly { readonly parent: number; readonly child: number; readonly gain: number }[];
}

/** n times the mutual information of two columns, in nats (a log-likelihood gain). */
export function informationGain(pairs: PairTables, i: number, j: number): number {
  const cells = pairs.start[pairs.levels.length]!;
  let total = 0;
  let rows = 0;
  for (let a = 0; a < pairs.levels[i]!; a++) rows += levelCount(pairs, i, a);
  for (let a = 0; a < pairs.levels[i]!; a++) {
    const na = levelCount(pairs, i, a);
    for (let b = 0; b < pairs.levels[j]!; b++) {
      const both = pairs.counts[(pairs.start[i]! + a) * cells + pairs.start[j]! + b]!;
      if (both > 0) total += both * Math.log((both * rows) / (na * levelCount(pairs, j, b)));
    }
  }
  return total;
}

/**
 * The maximum-likelihood forest of Chow and Liu 1968 by Prim's algorithm, keeping edges whose gain exceeds the BIC penalty log(n)/2
 * (r-1)(s-1). A forest is a picture of a survey, not a guarantee about it.
 */
export function chowLiu(pairs: PairTables): DependencyForest {
  const n = pairs.levels.length;
  let rows = 0;
  for (let a = 0; a < (pairs.levels[0] ?? 0); a++) rows += levelCount(pairs, 0, a);
  const weight = Math.log(Math.max(rows, 2)) / 2;
  const parent = new Int32Array(n).fill(-1);
  const gain = new Float64Array(n);
  const inside = new Uint8Array(n);
  const edges: { parent: number; child: number; gain: number }[] = [];
  for (let added = 0; added < n; added++) {
    let next = -1;
    for (let x = 0; x < n; x++) if (!inside[x] && (next === -1 || gain[x]! > gain[next]!)) next = x;
    inside[next] = 1;
    if (gain[next]! > 0) edges.push({ parent: parent[next]!, child: next, gain: gain[next]! });
    else parent[next] = -1;
    for (let x = 0; x < n; x++) {
      if (inside[x]) continue;
      const worth = informationGain(pairs, next, x) - weight * (pairs.levels[next]! - 1) * (pairs.levels[x]! - 1);
      if (worth > gain[x]!) {
        gain[x] = worth;
        parent[x] = next;
      }
    }
  }
  return { parent, edges };
}
