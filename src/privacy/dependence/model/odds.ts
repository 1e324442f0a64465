import { addUp, logUp, mulUp } from '../../../base/exact/outward.js';

/**
 * Log odds ratio D(f,i) of a factor (informed.proof.md), rounded up; x/0 = Infinity, 0/0 ignored. One pass for each two values
 * finds the largest quotient in both directions.
 */
export function logOddsRatio(table: Float64Array, shape: readonly number[], axis: number): number {
  const size = shape[axis]!;
  const inner = shape.slice(axis + 1).reduce((p, k) => p * k, 1);
  const axes = { table, size, inner, outer: table.length / (inner * size) };
  let worst = 0;
  for (let a = 0; a < size; a++)
    for (let b = a + 1; b < size; b++) {
      worst = Math.max(worst, pairOdds(axes, a, b));
      if (worst === Number.POSITIVE_INFINITY) return worst;
    }
  return worst;
}

/** Table with the axes before and after one of them joined. */
interface TableAxes {
  readonly table: Float64Array;
  readonly outer: number;
  readonly size: number;
  readonly inner: number;
}

function pairOdds(axes: TableAxes, a: number, b: number): number {
  const { table, outer, size, inner } = axes;
  let up = 0;
  let down = 0;
  let onlyA = false;
  let onlyB = false;
  let both = false;
  for (let o = 0; o < outer; o++) {
    const rowA = (o * size + a) * inner;
    const rowB = (o * size + b) * inner;
    for (let k = 0; k < inner; k++) {
      const x = table[rowA + k]!;
      const y = table[rowB + k]!;
      if (x > 0 && y > 0) {
        both = true;
        up = Math.max(up, x / y);
        down = Math.max(down, y / x);
      } else if (x > 0) onlyA = true;
      else if (y > 0) onlyB = true;
    }
  }
  // f(a,u) > 0 = f(b,u) makes the quotient infinite as soon as b is possible anywhere, and likewise the other way round.
  if ((onlyA && (both || onlyB)) || (onlyB && both)) return Number.POSITIVE_INFINITY;
  if (!both) return 0;
  if (up * down === 1 && exactlyProportional(axes, a, b)) return 0;
  // Each quotient is off by at most one part in 2^53.
  return Math.max(0, logUp(mulUp(mulUp(up || Number.MIN_VALUE, down || Number.MIN_VALUE), 1 + 2 ** -51)));
}

/** Rows that are equal, or one the other times a power of two, carry no tie at all; anything else is worth the rounding. */
function exactlyProportional({ table, outer, size, inner }: TableAxes, a: number, b: number): boolean {
  let factor = 0;
  for (let o = 0; o < outer; o++)
    for (let k = 0; k < inner; k++) {
      const x = table[(o * size + a) * inner + k]!;
      const y = table[(o * size + b) * inner + k]!;
      if (x === 0 && y === 0) continue;
      if (factor === 0) factor = x / y;
      if (y * factor !== x || !Number.isInteger(Math.log2(factor))) return false;
    }
  return true;
}

/** log of a declared odds ratio, rounded up. */
export const logOdds = (oddsRatio: number): number => (oddsRatio === 1 ? 0 : logUp(oddsRatio));

/** D of a table whose entries are each off by a relative error of at most `relative` (Infinity: unknown). */
export const loosened = (logOdds: number, relative: number): number =>
  relative === Number.POSITIVE_INFINITY ? relative : addUp(logOdds, mulUp(4.1, relative));
