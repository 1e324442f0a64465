import { type PairTable, pairCell } from './pair-table.js';

/**
 * Hierarchical model for few pairs (shared-strength.proof.md): a log-linear distribution of end effects, agreement, a latent scale
 * and one exception per cell. Exceptions share one distribution whose width is learned: this is the assumption.
 */
export interface SharedStrength {
  /** Largest odds ratio: posterior median, and posterior quantile at `confidence`. */
  readonly middle: number;
  readonly high: number;
}

/** Prior standard deviations. */
const priorDeviations = { end: 5, agree: 2, grade: 2, width: 1 };
const [warmUp, kept, leaps] = [600, 2400, 10];
/** Most values for which the model is fitted: each would have too few pairs. */
export const mostValues = 25;

/** `noise` is the variance of the noise in every count, 0 for exact ones. */
export function sharedStrength(table: PairTable, confidence: number, noise = 0): SharedStrength {
  const model = posteriorOf(table, noise);
  const maxima = Float64Array.from(sample(model), (at) => model.largest(at)).sort();
  const quantile = (share: number) => Math.exp(maxima[Math.min(maxima.length - 1, Math.ceil(share * maxima.length))]!);
  return { middle: quantile(0.5), high: quantile(confidence) };
}

interface Posterior {
  readonly start: Float64Array;
  /** Approximate step size of each parameter. */
  readonly stride: Float64Array;
  /** Log density at a point; the gradient is written into `slopes`. */
  density(at: Float64Array, slopes: Float64Array): number;
  largest(at: Float64Array): number;
}

function posteriorOf({ values, directed, counts }: PairTable, noise: number): Posterior {
  const k = values.length;
  const ends = directed ? 2 * k : k;
  const [agree, grade, width] = [ends, ends + 1, ends + 2];
  const exceptions = k === 2 ? 0 : counts.length;
  const first = ends + 3;
  // Positions on a latent scale: values far from each other on it are less associated.
  const place = first + exceptions;
  const places = k === 2 ? 0 : ends;
  const cells = Array.from(cellsOf(k, directed), ([a, b]) => ({
    a,
    b: directed ? k + b : b,
    x: a,
    y: b,
    cell: pairCell(a, b, k, directed),
    twice: directed || a === b ? 1 : 2,
  }));
  // Typed arrays, because the density is evaluated some thirty thousand times.
  const count = cells.length;
  const [ends1, ends2] = [Uint32Array.from(cells, ({ a }) => a), Uint32Array.from(cells, ({ b }) => b)];
  const exception = Uint32Array.from(cells, ({ cell }) => (exceptions ? first + cell : 0));
  const alike = Uint8Array.from(cells, ({ x, y }) => (x === y ? 1 : 0));
  const twice = Float64Array.from(cells, (cell) => cell.twice);
  // Noise of variance V: a count of y + V with mean m + V has the right mean and variance.
  const seen = Float64Array.from(cells, ({ cell }) => Math.max(0, counts[cell]! + noise));
  const total = Math.max(
    1,
    counts.reduce((sum, n) => sum + n, 0),
  );
  const centre = Math.log(total) / 2 - Math.log(k);
  const start = new Float64Array(place + places);
  start.fill(centre, 0, ends);
  start[width] = Math.log(0.3);
  start[grade] = 0.3;
  for (let p = 0; p < places; p++) start[place + p] = (2 * (p % k)) / (k - 1) - 1;
  const stride = new Float64Array(start.length).fill(1);
  stride.fill(Math.sqrt(k / (total + noise)), 0, ends);
  stride[agree] = stride[grade] = Math.sqrt(Math.min(4, (4 * k) / total));
  // Prior of each parameter; the width has its own distribution. Exceptions are in units of their width.
  const means = new Float64Array(start.length).fill(centre, 0, ends);
  const deviations = new Float64Array(start.length).fill(1).fill(priorDeviations.end, 0, ends);
  deviations[agree] = priorDeviations.agree;
  deviations[grade] = priorDeviations.grade;
  deviations[width] = 0;
  const tie = (at: Float64Array, { x, y, a, b, cell }: (typeof cells)[number]) =>
    (x === y ? at[agree]! : 0) +
    (places ? at[grade]! * at[place + a]! * at[place + b]! + Math.exp(at[width]!) * at[first + cell]! : 0);
  return {
    start,
    stride,
    density(at, slopes) {
      slopes.fill(0);
      let log = 0;
      for (let p = 0; p < at.length; p++) {
        const deviation = deviations[p]!;
        if (deviation === 0) continue;
        const z = (at[p]! - means[p]!) / deviation;
        log -= z * z * 0.5;
        slopes[p]! -= z / deviation;
      }
      const w = Math.exp(at[width]!);
      // Half-normal prior of the width, on the log scale.
      log += at[width]! - (w / priorDeviations.width) ** 2 / 2;
      slopes[width]! += 1 - (w / priorDeviations.width) ** 2;
      for (let c = 0; c < count; c++) {
        const a = ends1[c]!;
        const b = ends2[c]!;
        const own = exception[c]!;
        const same = alike[c] === 1;
        const graded = places ? at[grade]! * at[place + a]! * at[place + b]! + w * at[own]! : 0;
        const mean = twice[c]! * Math.exp(at[a]! + at[b]! + ((same ? at[agree]! : 0) + graded));
        log += seen[c]! * Math.log(mean + noise) - mean;
        const slope = (seen[c]! / (mean + noise) - 1) * mean;
        slopes[a]! += slope;
        slopes[b]! += slope;
        if (same) slopes[agree]! += slope;
        if (!places) continue;
        slopes[grade]! += slope * at[place + a]! * at[place + b]!;
        slopes[place + a]! += slope * at[grade]! * at[place + b]!;
        slopes[place + b]! += slope * at[grade]! * at[place + a]!;
        slopes[own]! += slope * w;
        slopes[width]! += slope * w * at[own]!;
      }
      return log;
    },
    largest(at) {
      const ties = Array.from({ length: k }, () => new Float64Array(k));
      for (const cell of cells) {
        const strength = tie(at, cell);
        ties[cell.x]![cell.y] = strength;
        if (!directed) ties[cell.y]![cell.x] = strength;
      }
      return largestMinor(ties);
    },
  };
}

/** Largest |t(a,u) + t(b,v) - t(a,v) - t(b,u)|: for two rows, the range of their difference. */
function largestMinor(ties: readonly Float64Array[]): number {
  let most = 0;
  for (let a = 0; a < ties.length; a++)
    for (let b = 0; b < a; b++) {
      let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
      for (let u = 0; u < ties.length; u++) {
        const difference = ties[a]![u]! - ties[b]![u]!;
        low = Math.min(low, difference);
        high = Math.max(high, difference);
      }
      most = Math.max(most, high - low);
    }
  return most;
}

function* cellsOf(k: number, directed: boolean): Iterable<readonly [number, number]> {
  for (let a = 0; a < k; a++) for (let b = directed ? 0 : a; b < k; b++) yield [a, b];
}

/** Hamiltonian Monte Carlo with a fixed seed: equal counts give equal results. Not a source of privacy noise. */
function* sample({ start, stride, density }: Posterior): Iterable<Float64Array> {
  const { next, normal } = stream();
  const n = start.length;
  let at = start.slice();
  let slopes = new Float64Array(n);
  let log = density(at, slopes);
  let step = 0.3;
  for (let round = 0; round < warmUp + kept; round++) {
    const move = new Float64Array(n);
    for (let p = 0; p < n; p++) move[p] = normal();
    const energy = log - squares(move) / 2;
    const there = at.slice();
    const slopesThere = slopes.slice();
    const length = step * (0.8 + 0.4 * next());
    let logThere = log;
    for (let leap = 0; leap < leaps; leap++) {
      for (let p = 0; p < n; p++) {
        move[p]! += 0.5 * length * stride[p]! * slopesThere[p]!;
        there[p]! += length * stride[p]! * move[p]!;
      }
      logThere = density(there, slopesThere);
      for (let p = 0; p < n; p++) move[p]! += 0.5 * length * stride[p]! * slopesThere[p]!;
    }
    const taken = Math.exp(Math.min(0, logThere - squares(move) / 2 - energy));
    const chance = Number.isFinite(taken) ? taken : 0;
    if (next() < chance) [at, slopes, log] = [there, slopesThere, logThere];
    if (round < warmUp) step *= Math.exp((chance - 0.8) / Math.sqrt(1 + round / 10));
    else yield at;
  }
}

function squares(list: Float64Array): number {
  let sum = 0;
  for (let p = 0; p < list.length; p++) sum += list[p]! * list[p]!;
  return sum;
}

function stream() {
  let state = 20261116;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  const normal = () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
  return { next, normal };
}
