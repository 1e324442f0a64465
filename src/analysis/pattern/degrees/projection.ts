/**
 * Degrees after projection: a tie is kept while both ends have fewer than `theta`, in an order independent of other ties (Day et al.
 * 2016). Rewiring one person then moves at most 2 theta other degrees by one.
 */
export function projectedDegrees(people: number, ties: readonly (readonly [number, number])[], theta: number): Uint32Array {
  const degree = new Uint32Array(people);
  for (const [a, b] of ties)
    if (a !== b && degree[a]! < theta && degree[b]! < theta) {
      degree[a]!++;
      degree[b]!++;
    }
  return degree;
}

/** Number of people with 0, 1, … last ties; everybody above is counted at the last. */
export function degreeCounts(degrees: Iterable<number>, people: number, last: number): number[] {
  const counts = new Array<number>(last + 1).fill(0);
  let seen = 0;
  for (const d of degrees) {
    counts[Math.min(d, last)]!++;
    seen++;
  }
  counts[0]! += people - seen;
  return counts;
}
