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

/** Positions of the parameters in one list: end effects, agreement, scale, width, exceptions per cell, places on the scale. */
interface Layout {
  readonly ends: number;
  readonly agree: number;
  readonly grade: number;
  readonly width: number;
  readonly exceptions: number;
  /** Positions on a latent scale, one per end: values far from each other on it are less associated. Two values have none. */
  readonly place: number;
  readonly graded: boolean;
  readonly length: number;
}

function layoutOf(values: number, directed: boolean, cells: number): Layout {
  const ends = directed ? 2 * values : values;
  const graded = values > 2;
  const exceptions = ends + 3;
  const place = exceptions + (graded ? cells : 0);
  return { ends, agree: ends, grade: ends + 1, width: ends + 2, exceptions, place, graded, length: place + (graded ? ends : 0) };
}

function posteriorOf(table: PairTable, noise: number): Posterior {
  const { values, directed, counts } = table;
  const k = values.length;
  const layout = layoutOf(k, directed, counts.length);
  const { ends, agree, grade, width, place, length } = layout;
  const total = Math.max(
    1,
    counts.reduce((sum, n) => sum + n, 0),
  );
  const centre = Math.log(total) / 2 - Math.log(k);
  const start = new Float64Array(length).fill(centre, 0, ends);
  start[width] = Math.log(0.3);
  start[grade] = 0.3;
  for (let p = place; p < length; p++) start[p] = (2 * ((p - place) % k)) / (k - 1) - 1;
  const stride = new Float64Array(length).fill(1).fill(Math.sqrt(k / (total + noise)), 0, ends);
  stride[agree] = stride[grade] = Math.sqrt(Math.min(4, (4 * k) / total));
  const prior = logPrior(layout, centre);
  const cells = countedCells(table, layout);
  const likelihood = logLikelihood(cells, table, layout, noise);
  return {
    start,
    stride,
    density(at, slopes) {
      slopes.fill(0);
      return likelihood(at, slopes, prior(at, slopes));
    },
    largest(at) {
      const ties = Array.from({ length: k }, () => new Float64Array(k));
      for (const { a, b, x, y, exception } of cells) {
        const graded = layout.graded ? at[grade]! * at[place + a]! * at[place + b]! + Math.exp(at[width]!) * at[exception]! : 0;
        ties[x]![y] = (x === y ? at[agree]! : 0) + graded;
        if (!directed) ties[y]![x] = ties[x]![y]!;
      }
      return largestMinor(ties);
    },
  };
}

/** A function that adds a log density at a point to `log`, and its gradient to `slopes`. */
type AddDensity = (at: Float64Array, slopes: Float64Array, log?: number) => number;

/** Priors of the parameters; the width has its own distribution. Exceptions are in units of their width. */
function logPrior({ ends, agree, grade, width, length }: Layout, centre: number): AddDensity {
  const means = new Float64Array(length).fill(centre, 0, ends);
  const deviations = new Float64Array(length).fill(1).fill(priorDeviations.end, 0, ends);
  deviations[agree] = priorDeviations.agree;
  deviations[grade] = priorDeviations.grade;
  return (at, slopes, from = 0) => {
    let log = from;
    for (let p = 0; p < length; p++) {
      if (p === width) continue;
      const z = (at[p]! - means[p]!) / deviations[p]!;
      log -= z * z * 0.5;
      slopes[p]! -= z / deviations[p]!;
    }
    // Half-normal prior of the width, on the log scale.
    const w = Math.exp(at[width]!);
    slopes[width]! += 1 - (w / priorDeviations.width) ** 2;
    return log + (at[width]! - (w / priorDeviations.width) ** 2 / 2);
  };
}

interface CountedCell {
  /** The values of a cell, and the parameters of its ends and of its exception. */
  readonly x: number;
  readonly y: number;
  readonly a: number;
  readonly b: number;
  readonly exception: number;
  readonly count: number;
}

function countedCells({ values, directed, counts }: PairTable, { exceptions, graded }: Layout): readonly CountedCell[] {
  const k = values.length;
  return Array.from(cellsOf(k, directed), ([x, y]) => {
    const cell = pairCell(x, y, k, directed);
    return { x, y, a: x, b: directed ? k + y : y, exception: graded ? exceptions + cell : 0, count: counts[cell]! };
  });
}

/** Poisson counts. Noise of variance V: a count of y + V with mean m + V has the right mean and variance. */
function logLikelihood(cells: readonly CountedCell[], { directed }: PairTable, layout: Layout, noise: number): AddDensity {
  const { agree, grade, width, place, graded } = layout;
  // Typed arrays, because the density is evaluated some thirty thousand times.
  const [ends1, ends2] = [Uint32Array.from(cells, ({ a }) => a), Uint32Array.from(cells, ({ b }) => b)];
  const exception = Uint32Array.from(cells, (cell) => cell.exception);
  const alike = Uint8Array.from(cells, ({ x, y }) => (x === y ? 1 : 0));
  const twice = Float64Array.from(cells, ({ x, y }) => (directed || x === y ? 1 : 2));
  const seen = Float64Array.from(cells, ({ count }) => Math.max(0, count + noise));
  return (at, slopes, from = 0) => {
    let log = from;
    const w = Math.exp(at[width]!);
    for (let c = 0; c < seen.length; c++) {
      const a = ends1[c]!;
      const b = ends2[c]!;
      const own = exception[c]!;
      const same = alike[c] === 1;
      const exceptional = graded ? at[grade]! * at[place + a]! * at[place + b]! + w * at[own]! : 0;
      const mean = twice[c]! * Math.exp(at[a]! + at[b]! + ((same ? at[agree]! : 0) + exceptional));
      log += seen[c]! * Math.log(mean + noise) - mean;
      const slope = (seen[c]! / (mean + noise) - 1) * mean;
      slopes[a]! += slope;
      slopes[b]! += slope;
      if (same) slopes[agree]! += slope;
      if (!graded) continue;
      slopes[grade]! += slope * at[place + a]! * at[place + b]!;
      slopes[place + a]! += slope * at[grade]! * at[place + b]!;
      slopes[place + b]! += slope * at[grade]! * at[place + a]!;
      slopes[own]! += slope * w;
      slopes[width]! += slope * w * at[own]!;
    }
    return log;
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
