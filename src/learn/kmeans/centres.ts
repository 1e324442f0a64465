/** Public starting centres and the public half of Lloyd's algorithm: nothing here sees the data except through noisy numbers. */
export type Centres = readonly (readonly number[])[];

const primes = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71];
/** The n-th number of van der Corput's sequence: spreads evenly over [0, 1). */
function vanDerCorput(n: number, base: number): number {
  let x = 0;
  let digit = 1 / base;
  for (let k = n; k > 0; k = Math.floor(k / base)) {
    x += (k % base) * digit;
    digit /= base;
  }
  return x;
}

/** Well separated points of the box [-1, 1]^d: farthest-first over an even sequence. `turn` gives different starts. */
export function packedCentres(clusters: number, dimensions: number, turn = 0): number[][] {
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

export function nearest(centres: Centres, point: readonly number[]): number {
  let best = 0;
  let least = Number.POSITIVE_INFINITY;
  centres.forEach((centre, k) => {
    const gap = squared(centre, point);
    if (gap < least) {
      least = gap;
      best = k;
    }
  });
  return best;
}

/** Lloyd's algorithm on weighted public points (noisy grid cells): post-processing, so restarts are free. */
export function weightedLloyd(
  points: Centres,
  weights: readonly number[],
  start: Centres,
  rounds = 40,
): { centres: number[][]; cost: number } {
  const d = points[0]?.length ?? 0;
  let centres = start.map((c) => [...c]);
  let cost = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round++) {
    const sums = centres.map(() => new Array<number>(d).fill(0));
    const mass = new Array<number>(centres.length).fill(0);
    let total = 0;
    points.forEach((p, i) => {
      const w = weights[i]!;
      if (w <= 0) return;
      const k = nearest(centres, p);
      total += w * squared(centres[k]!, p);
      mass[k]! += w;
      for (let c = 0; c < d; c++) sums[k]![c]! += w * p[c]!;
    });
    if (total >= cost * (1 - 1e-9)) return { centres, cost: Math.min(cost, total) };
    cost = total;
    centres = centres.map((centre, k) => (mass[k]! > 0 ? sums[k]!.map((s) => s / mass[k]!) : centre));
  }
  return { centres, cost };
}

/** Weighted k-means++ style seeding with a fixed sequence, so that the result is a function of the noisy cells alone. */
export function seededCentres(points: Centres, weights: readonly number[], clusters: number, turn: number): number[][] {
  const draw = (k: number) => vanDerCorput(k + 1 + 31 * turn, 2 + (turn % 5));
  const pick = (mass: readonly number[], u: number): number => {
    const total = mass.reduce((a, b) => a + b, 0);
    let left = u * total;
    for (let i = 0; i < mass.length; i++) {
      left -= mass[i]!;
      if (left < 0) return i;
    }
    return mass.length - 1;
  };
  const positive = weights.map((w) => Math.max(0, w));
  const chosen = [points[pick(positive, draw(0))]!];
  for (let k = 1; k < clusters; k++)
    chosen.push(
      points[
        pick(
          points.map((p, i) => positive[i]! * Math.min(...chosen.map((c) => squared(c, p)))),
          draw(k),
        )
      ]!,
    );
  return chosen.map((c) => [...c]);
}
