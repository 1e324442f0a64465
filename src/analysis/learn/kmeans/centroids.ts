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
  const chosen = [pool[0]!];
  const gap = pool.map((p) => squared(p, chosen[0]!));
  while (chosen.length < clusters) {
    let far = 0;
    for (let k = 1; k < pool.length; k++) if (gap[k]! > gap[far]!) far = k;
    chosen.push(pool[far]!);
    pool.forEach((p, k) => {
      gap[k] = Math.min(gap[k]!, squared(p, pool[far]!));
    });
  }
  return chosen.map((c) => [...c]);
}

function squared(a: readonly number[], b: readonly number[]): number {
  let s = 0;
  for (let c = 0; c < a.length; c++) s += (a[c]! - b[c]!) ** 2;
  return s;
}
