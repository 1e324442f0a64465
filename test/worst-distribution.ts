/**
 * Independent attacker: searches the distribution within declared odds ratios under which noise discloses most about one record.
 * Binary records, pair factors exp(J s s') with |J| <= D/4, any tilt per record (known: infinite tilt); the release is a sum.
 */
export interface TieList {
  readonly records: number;
  readonly pairs: readonly (readonly [number, number])[];
  readonly logOdds: number;
}
export interface TieDistribution {
  readonly couplings: Float64Array;
  readonly tilts: Float64Array;
}

/** P(sum = k | x_target = 0) and P(sum = k | x_target = 1), by enumeration. */
function sumsGiven(
  { records, pairs }: TieList,
  { couplings, tilts }: TieDistribution,
  target: number,
): [Float64Array, Float64Array] {
  const sums: [Float64Array, Float64Array] = [new Float64Array(records + 1), new Float64Array(records + 1)];
  const states = 1 << records;
  let largest = Number.NEGATIVE_INFINITY;
  const energies = new Float64Array(states);
  for (let s = 0; s < states; s++) {
    let energy = 0;
    for (let u = 0; u < records; u++) if ((s >> u) & 1 && u !== target) energy += tilts[u]!;
    for (let e = 0; e < pairs.length; e++) {
      const [a, b] = pairs[e]!;
      energy += ((s >> a) ^ (s >> b)) & 1 ? -couplings[e]! : couplings[e]!;
    }
    energies[s] = energy;
    if (energy > largest) largest = energy;
  }
  for (let s = 0; s < states; s++) {
    let sum = 0;
    for (let left = s; left !== 0; left &= left - 1) sum++;
    sums[(s >> target) & 1]![sum]! += Math.exp(energies[s]! - largest);
  }
  for (const distribution of sums) {
    const total = distribution.reduce((t, p) => t + p, 0);
    for (let k = 0; k < distribution.length; k++) distribution[k]! /= total;
  }
  return sums;
}

/** delta at epsilon between two laws of a sum under Gaussian noise of deviation sigma; the larger direction. */
export function gaussianDelta([p, q]: readonly [Float64Array, Float64Array], sigma: number, epsilon: number): number {
  const step = sigma / 12;
  const factor = Math.exp(epsilon);
  let [up, down] = [0, 0];
  for (let x = -8 * sigma; x < p.length - 1 + 8 * sigma; x += step) {
    let [a, b] = [0, 0];
    for (let k = 0; k < p.length; k++) {
      const density = Math.exp(-((x - k) ** 2) / (2 * sigma * sigma));
      a += p[k]! * density;
      b += q[k]! * density;
    }
    up += Math.max(0, a - factor * b);
    down += Math.max(0, b - factor * a);
  }
  return (Math.max(up, down) * step) / (sigma * Math.sqrt(2 * Math.PI));
}

/** The largest |log ratio| between two laws of a sum under discrete Laplace noise; it is largest at or beyond an atom. */
export function laplaceLoss([p, q]: readonly [Float64Array, Float64Array], scale: number): number {
  let worst = 0;
  for (let x = 0; x < p.length; x++) {
    let [a, b] = [0, 0];
    for (let k = 0; k < p.length; k++) {
      const density = Math.exp(-Math.abs(x - k) / scale);
      a += p[k]! * density;
      b += q[k]! * density;
    }
    worst = Math.max(worst, Math.abs(Math.log(a / b)));
  }
  return worst;
}

export type UnitRandom = () => number;
/** Small and repeatable; for tests only. */
export function unitRandom(seed: number): UnitRandom {
  let state = (seed * 2654435761) >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state >>>= 0;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state / 2 ** 32;
  };
}

/** The largest harm found in `tries` laws: climbs from where all ties pull together, with restarts. */
export function climb(
  ties: TieList,
  harm: (sums: [Float64Array, Float64Array]) => number,
  tries: number,
  random: UnitRandom,
): number {
  const most = ties.logOdds / 4;
  const fresh = (): TieDistribution & { target: number } => ({
    couplings: Float64Array.from(ties.pairs, () => (random() < 0.85 ? most : most * (2 * random() - 1))),
    tilts: Float64Array.from({ length: ties.records }, () => (random() < 0.5 ? 0 : 6 * (random() - 0.5))),
    target: Math.floor(random() * ties.records),
  });
  let best = 0;
  let here = fresh();
  let height = -1;
  let stale = 0;
  for (let k = 0; k < tries; k++) {
    const next = height < 0 ? here : nudge(here, most, random);
    const at = harm(sumsGiven(ties, next, next.target));
    if (at > height) {
      stale = 0;
      height = at;
      here = { ...next, target: next.target };
    } else stale++;
    best = Math.max(best, at);
    if (stale > 60) {
      here = fresh();
      height = -1;
      stale = 0;
    }
  }
  return best;
}

function nudge(
  distribution: TieDistribution & { readonly target: number },
  most: number,
  random: UnitRandom,
): TieDistribution & { target: number } {
  const couplings = distribution.couplings.slice();
  const tilts = distribution.tilts.slice();
  const roll = random();
  if (roll < 0.15 && couplings.length > 0) couplings[Math.floor(random() * couplings.length)] = random() < 0.7 ? most : -most;
  else if (roll < 0.3) {
    const shift = 2 * (random() - 0.5);
    for (let u = 0; u < tilts.length; u++) tilts[u]! += shift;
  } else tilts[Math.floor(random() * tilts.length)]! += random() < 0.1 ? 60 * (random() - 0.5) : 3 * (random() - 0.5);
  return { couplings, tilts, target: roll > 0.95 ? Math.floor(random() * tilts.length) : distribution.target };
}
