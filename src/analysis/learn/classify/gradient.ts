import type { Examples } from './examples.js';
import type { Loss } from './loss.js';

/** J(w) = (1/records) sum of loss(y w.x) + (regularisation / 2) |w|^2 with x = whole-number row / radius, so |x| <= 1. */
export interface Objective {
  readonly examples: Examples;
  readonly loss: Loss;
  /** A public number: rows when a row is the secret, persons when a person is. */
  readonly records: number;
  readonly radius: number;
  readonly regularisation: number;
  /** A fixed linear term, added as linear.w / records (objective perturbation). */
  readonly linear?: Float64Array;
}

/** y w.x of row i. */
export function margin({ entry, value, label, slots }: Examples, radius: number, w: Float64Array, i: number): number {
  let dot = 0;
  for (let at = i * slots, end = at + slots; at < end; at++) dot += w[entry[at]!]! * value[at]!;
  return (label[i]! * dot) / radius;
}

/** Adds rows `from` to `to`, each times its factor. */
export function addRows(
  { slots, entry, value }: Examples,
  factor: (row: number) => number,
  total: Float64Array,
  { from, to }: { readonly from: number; readonly to: number },
): void {
  for (let i = from; i < to; i++) {
    const own = factor(i);
    if (own !== 0) for (let at = i * slots, end = at + slots; at < end; at++) total[entry[at]!]! += own * value[at]!;
  }
}

const blockRows = 1024;
/** Blockwise sums, so that rounding errors grow with the blocks and not with the rows. */
export function gradient(objective: Objective, w: Float64Array): Float64Array {
  const { examples, loss, records, radius, regularisation, linear } = objective;
  const { count, label, width } = examples;
  const total = new Float64Array(width);
  const block = new Float64Array(width);
  for (let from = 0; from < count; from += blockRows) {
    block.fill(0);
    addRows(examples, (i) => loss.slope(margin(examples, radius, w, i)) * label[i]!, block, {
      from,
      to: Math.min(count, from + blockRows),
    });
    for (let j = 0; j < width; j++) total[j]! += block[j]!;
  }
  for (let j = 0; j < width; j++)
    total[j] = total[j]! / (records * radius) + regularisation * w[j]! + (linear ? linear[j]! / records : 0);
  return total;
}

export const length = (w: ArrayLike<number>): number => {
  let s = 0;
  for (let j = 0; j < w.length; j++) s += w[j]! * w[j]!;
  return Math.sqrt(s);
};

const half = 2 ** -53;
/**
 * Upper bound on the length of the rounding error of `gradient`, for weights of length `size` and `perRecord` rows per record
 * (output.proof.md).
 */
export function gradientError(objective: {
  readonly rows: number;
  readonly perRecord: number;
  readonly slots: number;
  readonly curvature: number;
  readonly regularisation: number;
  readonly size: number;
  /** Length of the linear term, divided by the records. */
  readonly tilt?: number;
}): number {
  const { rows, perRecord, slots, curvature, regularisation, size, tilt = 0 } = objective;
  const margins = curvature * (slots + 4) * half * size;
  const slopes = 2 ** -46;
  const sums = (blockRows + rows / blockRows + 8) * half;
  return 1.01 * (perRecord * (margins + slopes + sums) + 8 * half * (perRecord + regularisation * size + tilt));
}

/** An upper bound of the true gradient's length at w. */
export function gradientAtMost(objective: Objective, w: Float64Array, g = gradient(objective, w)): number {
  const { examples, records, loss, regularisation } = objective;
  const error = gradientError({
    rows: examples.count,
    perRecord: examples.count / records,
    slots: examples.slots,
    curvature: loss.curvature,
    regularisation,
    size: 1.01 * length(w),
    ...(objective.linear && { tilt: (1.01 * length(objective.linear)) / records }),
  });
  return 1.01 * length(g) + error;
}
