/** Counts of value pairs of tied records. `directed`: the first end is of another kind than the second (parent and child). */
export interface PairTable {
  readonly values: readonly string[];
  readonly directed: boolean;
  /** One count per cell, see `pairCell`; noisy counts may be negative. */
  readonly counts: readonly number[];
}

export const pairCellCount = (values: number, directed: boolean): number =>
  directed ? values * values : (values * (values + 1)) / 2;

/** Cell of two values. If undirected, (a, b) and (b, a) are one cell. */
export function pairCell(a: number, b: number, values: number, directed: boolean): number {
  if (directed) return a * values + b;
  const [low, high] = a < b ? [a, b] : [b, a];
  return low * values - (low * (low - 1)) / 2 + (high - low);
}

export function countTiedPairs(
  pairs: Iterable<readonly [number | undefined, number | undefined]>,
  values: number,
  directed: boolean,
): number[] {
  const counts = new Array<number>(pairCellCount(values, directed)).fill(0);
  for (const [a, b] of pairs) if (a !== undefined && b !== undefined) counts[pairCell(a, b, values, directed)]!++;
  return counts;
}

/** Number of occurrences of each value at either end. */
function endCounts({ values, directed, counts }: PairTable): number[] {
  const k = values.length;
  const total = new Array<number>(k).fill(0);
  for (let a = 0; a < k; a++)
    for (let b = directed ? 0 : a; b < k; b++) {
      const n = Math.max(0, counts[pairCell(a, b, k, directed)]!);
      total[a]! += n;
      total[b]! += n;
    }
  return total;
}

export interface PooledTable {
  readonly table: PairTable;
  /** Values too rare even when pooled: pairs with them are left out. */
  readonly unjudged: readonly string[];
  /** Most cells that were merged into one. */
  readonly merged: number;
}

/** Values rarer than `share` are pooled, or left out if the pool is still rarer, so that no odds ratio depends on a handful of pairs. */
export function poolRare(table: PairTable, share: number): PooledTable {
  const { values, directed, counts } = table;
  const k = values.length;
  const seen = endCounts(table);
  const all = seen.reduce((a, b) => a + b, 0);
  const rare = seen.flatMap((n, a) => (n < share * all ? [a] : []));
  const poolRest = rare.length > 1 && rare.reduce((sum, a) => sum + seen[a]!, 0) >= share * all;
  const kept = values.flatMap((_, a) => (rare.includes(a) ? [] : [a]));
  const rareNames = rare.map((a) => values[a]!);
  const names = [...kept.map((a) => values[a]!), ...(poolRest ? [rareNames.join(' or ')] : [])];
  const poolPlace = poolRest ? kept.length : undefined;
  const place = values.map((_, a) => (rare.includes(a) ? poolPlace : kept.indexOf(a)));
  const pooled = new Array<number>(pairCellCount(names.length, directed)).fill(0);
  for (let a = 0; a < k; a++)
    for (let b = directed ? 0 : a; b < k; b++) {
      const [x, y] = [place[a], place[b]];
      if (x !== undefined && y !== undefined)
        pooled[pairCell(x, y, names.length, directed)]! += counts[pairCell(a, b, k, directed)]!;
    }
  return {
    table: { values: names, directed, counts: pooled },
    unjudged: poolRest ? [] : rareNames,
    merged: poolRest ? pairCellCount(rare.length, directed) : 1,
  };
}
