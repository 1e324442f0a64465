import { Fault } from '../../../base/errors.js';
import { leastRoot } from '../../audit/least-root.js';

/**
 * Exact loss of one Laplace histogram per column on a small joint distribution (tabular-loss.proof.md). Worst outputs are corners, one
 * subset of levels per column, so the search contracts a tensor whose axes are subsets, or single values known to an informed adversary.
 */
export interface TabularLoss {
  readonly loss: number;
  /** The costs of the other columns were too large for doubles and were lowered: the loss is at least this. */
  readonly atLeast?: true;
  readonly worst?: { readonly column: number; readonly pair: readonly [number, number] };
}

const largestTensor = 2 ** 24;
/** Likelihoods of all other columns together stay below e^600, within a double. */
const largestEvidence = 600;

/** Size of the largest tensor for the exact loss of columns with these numbers of levels. */
export const tensorSize = (sizes: readonly number[]): number =>
  Math.max(0, ...sizes.map((v, i) => sizes.reduce((p, w, j) => p * (j === i ? v : 2 ** w - 1), 1)));

export function tabularLoss(
  weights: ArrayLike<number>,
  sizes: readonly number[],
  costs: readonly number[],
  adversary: 'informed' | 'uninformed',
): TabularLoss {
  let best: TabularLoss = { loss: 0 };
  // More noise on other columns never raises the loss, so lower costs give a lower bound.
  const most = largestEvidence / Math.max(1, sizes.length - 1);
  const lowered = costs.map((cost) => Math.min(cost, most));
  sizes.forEach((size, i) => {
    const tensor = contractOthers({ weights, sizes, costs: lowered }, i, adversary === 'informed');
    const width = tensor.values.length / size;
    for (let a = 0; a < size; a++)
      for (let b = 0; b < size; b++) {
        if (a === b) continue;
        let top = 0;
        for (let s = 0; s < width; s++) {
          const pa = tensor.totals[a * width + s]!;
          const pb = tensor.totals[b * width + s]!;
          // impossible under a or b given what is known: nothing to compare
          if (!(pa > 0 && pb > 0)) continue;
          const ratio = (tensor.values[a * width + s]! / pa) * (pb / tensor.values[b * width + s]!);
          if (ratio > top) top = ratio;
        }
        const loss = top > 0 ? costs[i]! + Math.log(top) : 0;
        if (loss > best.loss) best = { loss, worst: { column: i, pair: [a, b] } };
      }
  });
  return costs.some((cost) => cost > most) ? { ...best, atLeast: true } : best;
}

/** Axis i first and kept; every other axis j becomes its 2^v - 1 subsets (and its v known values). `totals` is the same without evidence. */
function contractOthers(
  { weights, sizes, costs }: { weights: ArrayLike<number>; sizes: readonly number[]; costs: readonly number[] },
  i: number,
  informed: boolean,
) {
  let values = bringToFront(weights, sizes, i);
  let totals = values;
  let left = sizes[i]!;
  const others = sizes.flatMap((v, j) => (j === i ? [] : [[v, costs[j]!] as const]));
  let rest = values.length / left;
  for (const [v, cost] of others) {
    rest /= v;
    const wide = (1 << v) - 1 + (informed ? v : 0);
    if (left * wide * rest > largestTensor)
      throw new Fault(
        'MODEL_TOO_LARGE',
        'The exact loss of this survey needs too many outputs.',
        'Audit fewer columns at a time.',
        { details: { size: left * wide * rest, limit: largestTensor } },
      );
    const axis = { left, v, rest, informed };
    values = replaceAxis(values, axis, Math.expm1(cost));
    totals = replaceAxis(totals, axis, 0);
    left *= wide;
  }
  return { values, totals };
}

function bringToFront(weights: ArrayLike<number>, sizes: readonly number[], i: number): Float64Array {
  const after = sizes.slice(i + 1).reduce((p, v) => p * v, 1);
  const before = sizes.slice(0, i).reduce((p, v) => p * v, 1);
  const size = sizes[i]!;
  const out = new Float64Array(weights.length);
  for (let b = 0; b < before; b++)
    for (let v = 0; v < size; v++)
      for (let a = 0; a < after; a++) out[(v * before + b) * after + a] = weights[(b * size + v) * after + a]!;
  return out;
}

/** [left][v][rest] -> [left][subsets (+ values)][rest]; the entry of subset S is sum_x T_x + lift sum_{x in S} T_x. */
function replaceAxis(
  tensor: Float64Array,
  { left, v, rest, informed }: { left: number; v: number; rest: number; informed: boolean },
  lift: number,
): Float64Array {
  const subsets = (1 << v) - 1;
  const wide = subsets + (informed ? v : 0);
  const out = new Float64Array(left * wide * rest);
  for (let l = 0; l < left; l++)
    for (let r = 0; r < rest; r++) {
      const at = l * v * rest + r;
      let total = 0;
      for (let x = 0; x < v; x++) total += tensor[at + x * rest]!;
      const to = l * wide * rest + r;
      for (let s = 0; s < subsets; s++) {
        let inside = 0;
        for (let x = 0; x < v; x++) if ((s >> x) & 1) inside += tensor[at + x * rest]!;
        out[to + s * rest] = total + lift * inside;
      }
      if (informed) for (let x = 0; x < v; x++) out[to + (subsets + x) * rest] = tensor[at + x * rest]!;
    }
  return out;
}

/** The least common Laplace scale whose exact loss is at most epsilon; at most composition, 2n/epsilon. */
export function leastTabularScale(
  weights: ArrayLike<number>,
  sizes: readonly number[],
  epsilon: number,
  adversary: 'informed' | 'uninformed',
): number {
  const excess = (scale: number): number => {
    const costs = sizes.map(() => 2 / scale);
    return Math.log(tabularLoss(weights, sizes, costs, adversary).loss / epsilon);
  };
  return leastRoot(excess, ((2 * sizes.length) / epsilon) * (1 + 1e-9));
}
