/** Public initial centroids, independent of the data. In units of the half box: all coordinates lie in [-1, 1]. */
export type Centroids = readonly (readonly number[])[];

const primes = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71];
/** The n-th number of the van der Corput sequence, which covers [0, 1) evenly. */
export function vanDerCorput(n: number, base: number): number {
  let x = 0;
  let digit = 1 / base;
  for (let k = n; k > 0; k = Math.floor(k / base)) {
    x += (k % base) * digit;
    digit /= base;
  }
  return x;
}

/** Well separated points of the box [-1, 1]^d: farthest-first over a low-discrepancy sequence. `turn` varies the start. */
export function packedCentroids(clusters: number, dimensions: number, turn = 0): number[][] {
  const pool = Array.from({ length: Math.max(64, 24 * clusters) }, (_, k) =>
    Array.from(
      { length: dimensions },
      (_, c) =>
        2 * ((vanDerCorput(k + 1 + 97 * turn, primes[c % primes.length]!) + 0.37 * Math.floor(c / primes.length)) % 1) - 1,
    ).map((x) => 0.9 * x),
  );
  let next = pool[0]!;
  const chosen = [next];
  const distance = pool.map(() => Number.POSITIVE_INFINITY);
  while (chosen.length < clusters) {
    for (const [k, p] of pool.entries()) distance[k] = Math.min(distance[k]!, squaredDistance(p, next));
    next = pool[distance.indexOf(Math.max(...distance))]!;
    chosen.push(next);
  }
  return chosen.map((c) => [...c]);
}

/** Of the point that begins at `i` in a list and the one that begins at `j` in another. */
export function squaredDistance(a: ArrayLike<number>, b: ArrayLike<number>, d = a.length, i = 0, j = 0): number {
  let sum = 0;
  for (let c = 0; c < d; c++) sum += (a[i + c]! - b[j + c]!) ** 2;
  return sum;
}

/** Index of the centroid nearest to the point that begins at `from`; `flat` lists the coordinates of all centroids. */
export function nearestCentroid(flat: Float64Array, d: number, points: Float64Array, from = 0): number {
  let nearest = 0;
  let least = Number.POSITIVE_INFINITY;
  for (let k = 0, at = 0; at < flat.length; k++, at += d) {
    let squares = 0;
    for (let c = 0; c < d && squares < least; c++) squares += (points[from + c]! - flat[at + c]!) ** 2;
    if (squares < least) {
      least = squares;
      nearest = k;
    }
  }
  return nearest;
}

/** For each point its nearest centroid, and the squared distance. */
export function nearestCentroids(centres: Centroids, d: number, points: Float64Array): { best: Int32Array; gap: Float64Array } {
  const flat = Float64Array.from(centres.flat());
  const count = points.length / d;
  const [best, gap] = [new Int32Array(count), new Float64Array(count)];
  for (let i = 0; i < count; i++) {
    best[i] = nearestCentroid(flat, d, points, i * d);
    gap[i] = squaredDistance(points, flat, d, i * d, best[i]! * d);
  }
  return { best, gap };
}
