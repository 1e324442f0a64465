import type { BeliefPropagation } from './belief-propagation.js';
import type { NoisyMarginal } from './fit.js';
import { isWithin } from './junction-tree.js';
import { addTo, type MarginalIndex, marginalIndex, sumInto } from './marginal.js';
import { type NoiseCovariance, noiseCovariance } from './noise-covariance.js';
import { type CurvaturePair, minimiseLbfgs } from './quasi-newton.js';

export interface Descent {
  /** Number of times all marginals of the model were computed. */
  readonly iterations: number;
  /** Half the sum of squares over measured cells, in units of their noise. */
  readonly loss: number;
  /** Bound on how far the loss is above that of any distribution (fit.proof.md). */
  readonly gap: number;
}

interface Problem {
  readonly sizes: readonly number[];
  readonly measured: readonly NoisyMarginal[];
  readonly total: number;
  readonly columns: readonly (readonly number[])[];
  /** Start of the descent (first parameters of all factors); holds its end afterwards. */
  readonly values: readonly Float64Array[];
  readonly spread: BeliefPropagation;
  readonly iterations?: number;
  readonly within?: number;
  readonly signal?: AbortSignal;
}

/**
 * Weight of relative entropy in the first and last proximal step: one row's entropy counts like so many standard deviations of the
 * noisiest table.
 */
const firstForce = 3;
const lastForce = 1;

/**
 * Proximal steps: each minimises the loss plus `force` times the relative entropy to the previous distribution, through the smooth
 * unconstrained dual (fit.proof.md). The loss never rises. `undefined` if no row is possible; beliefs are left as those of `values`.
 */
export function proximalDescent(problem: Problem): Descent | undefined {
  const { total, values, spread, iterations = 1000, within = 0.1 } = problem;
  const own = measuredParts(problem);
  const cells = own.reduce((n, { counts }) => n + counts.length, 0);
  const widest = Math.max(...own.map(({ noise }) => noise.sd));
  let force = firstForce / widest;
  const empty = () => values.map((v) => new Float64Array(v.length));
  const margins = empty();
  const shifts = new Float64Array(cells);
  const dual = dualOf(problem, own, margins);
  const look = (point: Float64Array, gradient: Float64Array, curvature: Float64Array): number =>
    dual(force, point, gradient, curvature);
  const near = (gradient: Float64Array): boolean => {
    let squares = 0;
    for (const { from, to, noise } of own) for (let i = from; i < to; i++) squares += (gradient[i]! / noise.sd) ** 2;
    return squares <= cells * (within / 2) ** 2;
  };
  const enough = (within ** 2 / 2) * cells;
  let done = 1;
  if (spread.run(values, total) === Number.NEGATIVE_INFINITY) return undefined;
  let now = lossOf(own, spread, margins);
  const before = empty();
  const past: CurvaturePair[] = [];
  while (cells > 0 && done < iterations) {
    shifts.fill(0);
    done += minimiseLbfgs(shifts, look, { enough: near, most: iterations - done, past });
    for (const [k, v] of before.entries()) v.set(values[k]!);
    for (const part of own) lift(part, shifts.subarray(part.from, part.to), values[part.k]!);
    done++;
    spread.run(values, total);
    const then = lossOf(own, spread, margins);
    const fell = now - then;
    // Only an interrupted step can raise the loss.
    if (fell < 0) for (const [k, v] of values.entries()) v.set(before[k]!);
    else now = then;
    if (fell <= enough && force * widest <= lastForce) break;
    const next = Math.max(force / 3, lastForce / widest);
    for (const step of past) step.product = curvatureWithoutForce(step, own, force - next);
    force = next;
  }
  spread.run(values, total);
  const loss = lossOf(own, spread, margins);
  const gap = gapOf(problem, own);
  spread.run(values, total);
  return { iterations: done, loss, gap };
}

/** Value of the smooth dual at a point, with its gradient and the diagonal of its curvature; `margins` is scratch. */
function dualOf({ total, values, spread, signal }: Problem, own: readonly MeasuredPart[], margins: readonly Float64Array[]) {
  const sum = values.map((v) => new Float64Array(v.length));
  return (force: number, point: Float64Array, gradient: Float64Array, curvature: Float64Array): number => {
    signal?.throwIfAborted();
    for (const [k, v] of sum.entries()) v.set(values[k]!);
    for (const part of own) lift(part, point.subarray(part.from, part.to), sum[part.k]!);
    let value = total * spread.run(sum, total);
    for (const [k, v] of margins.entries()) spread.margin(k, v);
    for (const part of own) {
      const { from, to, counts, noise, buffer } = part;
      const into = gradient.subarray(from, to);
      readMargin(part, margins, into);
      noise.spread(point.subarray(from, to), buffer);
      const back = force * noise.sd ** 2;
      for (let i = 0; i < counts.length; i++) {
        const pulled = force * buffer[i]!;
        curvature[from + i] = into[i]! + back;
        value += point[from + i]! * (pulled / 2 - counts[i]!);
        into[i]! += pulled - counts[i]!;
      }
    }
    return value;
  };
}

/** How far the loss may be above that of any distribution; `sums` of the parts are those of `values`. Overwrites the beliefs. */
function gapOf({ total, values, spread }: Problem, own: readonly MeasuredPart[]): number {
  const slope = values.map((v) => new Float64Array(v.length));
  let here = 0;
  for (const part of own) {
    const { counts, sums, noise, off, buffer } = part;
    for (let i = 0; i < counts.length; i++) off[i] = sums[i]! - counts[i]!;
    noise.inverse(off, buffer);
    for (let i = 0; i < counts.length; i++) here += buffer[i]! * sums[i]!;
    lift(part, buffer, slope[part.k]!);
  }
  return Math.max(0, here - total * spread.least(slope));
}

/** Updates a curvature pair for a force that is smaller by `less`; returns the new product of its two vectors. */
function curvatureWithoutForce({ moved, turned }: CurvaturePair, own: readonly MeasuredPart[], less: number): number {
  let product = 0;
  for (const { from, to, noise, buffer } of own) {
    noise.spread(moved.subarray(from, to), buffer);
    for (let i = from; i < to; i++) {
      turned[i]! -= less * buffer[i - from]!;
      product += turned[i]! * moved[i]!;
    }
  }
  return product;
}

interface MeasuredPart {
  readonly k: number;
  readonly places: MarginalIndex | undefined;
  readonly from: number;
  readonly to: number;
  readonly counts: Float64Array;
  readonly noise: NoiseCovariance;
  /** Marginal of the model when `readMargin` last ran, and two buffers of the same length. */
  readonly sums: Float64Array;
  readonly off: Float64Array;
  readonly buffer: Float64Array;
}

/** Position of every measured table in the one list of all their cells, and in the factor that holds it. */
function measuredParts({ sizes, measured, columns }: Problem): readonly MeasuredPart[] {
  let to = 0;
  return measured.map((own) => {
    const k = columns.findIndex((outer) => isWithin(own.columns, outer));
    const from = to;
    to += own.counts.length;
    const places = columns[k]!.length === own.columns.length ? undefined : marginalIndex(sizes, columns[k]!, own.columns);
    const [sums, off, buffer] = [0, 1, 2].map(() => new Float64Array(to - from)) as [Float64Array, Float64Array, Float64Array];
    return { k, places, from, to, counts: own.counts, noise: noiseCovariance(sizes, own), sums, off, buffer };
  });
}

function lift({ places }: MeasuredPart, small: Float64Array, large: Float64Array): void {
  if (places) addTo(places, small, large);
  else for (let i = 0; i < large.length; i++) large[i]! += small[i]!;
}

function readMargin({ k, places }: MeasuredPart, margins: readonly Float64Array[], into: Float64Array): void {
  if (places) sumInto(places, margins[k]!, into);
  else into.set(margins[k]!);
}

function lossOf(own: readonly MeasuredPart[], spread: BeliefPropagation, margins: readonly Float64Array[]): number {
  for (const [k, v] of margins.entries()) spread.margin(k, v);
  let loss = 0;
  for (const part of own) {
    const { sums, counts, noise, off, buffer } = part;
    readMargin(part, margins, sums);
    for (let i = 0; i < counts.length; i++) off[i] = sums[i]! - counts[i]!;
    noise.inverse(off, buffer);
    for (let i = 0; i < counts.length; i++) loss += off[i]! * buffer[i]!;
  }
  return loss / 2;
}
