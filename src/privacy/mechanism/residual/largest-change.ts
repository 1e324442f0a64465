import { integerRoot } from '../../noise/discrete-gaussian.js';
import type { ResidualLayout } from './layout.js';

/** Axes up to which every set of axes is looked at. */
export const mostAxesTried = 16;

/**
 * Largest sum over parts of squares[part][changed axes of the part] over every set of axes; an upper bound if there are too many
 * axes to enumerate (residual.proof.md, "The worst change").
 */
export function largestChange({ sizes, parts }: ResidualLayout, squares: readonly (readonly bigint[])[]): bigint {
  const used = [...new Set(parts.flatMap(({ axes }) => axes))].sort((a, b) => a - b);
  if (used.length <= mostAxesTried)
    return byEnumeration(
      used,
      parts.map(({ axes }) => axes),
      squares,
    );
  return smaller(
    squares.reduce((sum, list) => sum + list.reduce(larger), 0n),
    byTangent(
      sizes.length,
      parts.map(({ axes }) => axes),
      squares,
    ),
  );
}

/** Largest change over all sets of axes, by enumeration: contributions of subsets are summed by a zeta transform. */
function byEnumeration(
  used: readonly number[],
  axes: readonly (readonly number[])[],
  squares: readonly (readonly bigint[])[],
): bigint {
  const place = new Map(used.map((axis, k) => [axis, k]));
  const sums = new Array<bigint>(1 << used.length).fill(0n);
  for (const [p, own] of axes.entries()) {
    const bits = own.map((axis) => 1 << place.get(axis)!);
    const change = [...squares[p]!];
    for (let k = 0; k < own.length; k++)
      for (let set = 0; set < change.length; set++) if ((set >> k) & 1) change[set]! -= change[set ^ (1 << k)]!;
    for (const [set, x] of change.entries()) sums[bits.reduce((m, bit, k) => ((set >> k) & 1 ? m | bit : m), 0)]! += x;
  }
  for (let k = 0; k < used.length; k++)
    for (let set = 0; set < sums.length; set++) if ((set >> k) & 1) sums[set]! += sums[set ^ (1 << k)]!;
  return sums.reduce(larger);
}

/**
 * Upper bound: tables of one and two axes jointly, others separately. With x_i = 1 for changed axes, the first are sum a_i x_i -
 * sum w_ij x_i x_j, bounded by whole products y_i y_j and tangents (residual.proof.md).
 */
function byTangent(count: number, axes: readonly (readonly number[])[], squares: readonly (readonly bigint[])[]): bigint {
  let alone = 0n;
  const linear = new Array<bigint>(count).fill(0n);
  const joint = Array.from({ length: count }, () => new Array<bigint>(count).fill(0n));
  for (const [p, own] of axes.entries()) {
    const list = squares[p]!;
    const [i, j] = own;
    if (own.length > 2) alone += list.reduce(larger);
    else if (own.length === 1) linear[i!]! += list[1]!;
    else if (own.length === 2) {
      linear[i!]! += list[1]!;
      linear[j!]! += list[2]!;
      const both = list[1]! + list[2]! - list[3]!;
      joint[i!]![j!]! += both;
      joint[j!]![i!]! += both;
    }
  }
  const y = nearRankOne(joint);
  const twice = linear.map((a, i) => {
    const missing = joint[i]!.reduce((sum, w, j) => (j === i ? sum : sum + larger(0n, y[i]! * y[j]! - w)), 0n);
    return 2n * a + y[i]! * y[i]! + missing;
  });
  const at = (t: bigint): bigint => t * t + twice.reduce((sum, a, i) => sum + larger(0n, a - 2n * t * y[i]!), 0n);
  const t = lowest(at, twice, y);
  return alone + (at(t) + 1n) / 2n;
}

/** Any whole numbers will do; those whose products are near the given ones do well. */
function nearRankOne(joint: readonly (readonly bigint[])[]): readonly bigint[] {
  const w = joint.map((row) => Float64Array.from(row, Number));
  let y = w.map((row) => Math.sqrt(row.reduce((a, b) => a + b, 0) / Math.max(1, row.length - 1)));
  for (let round = 0; round < 30; round++) {
    const squares = y.reduce((sum, x) => sum + x * x, 0);
    const next = w.map((row, i) => {
      const rest = squares - y[i]! ** 2;
      return rest > 0 ? row.reduce((sum, x, j) => sum + x * y[j]!, 0) / rest : 0;
    });
    // Half a step: the whole one may jump to and fro.
    y = next.map((x, i) => (x + y[i]!) / 2);
  }
  return y.map((x) => (Number.isFinite(x) && x > 0 ? BigInt(Math.floor(x)) : 0n));
}

/** Convex in t, and only ever a better or a worse bound: near the lowest point is enough. */
function lowest(at: (t: bigint) => bigint, twice: readonly bigint[], y: readonly bigint[]): bigint {
  let low = 0n;
  let high = twice.reduce((most, a, i) => (y[i]! > 0n ? larger(most, a / (2n * y[i]!) + 1n) : most), 0n);
  high = larger(high, integerRoot(twice.reduce((sum, a) => sum + larger(0n, a), 0n)));
  while (high - low > 2n) {
    const third = (high - low) / 3n;
    const [a, b] = [low + third, high - third];
    if (at(a) <= at(b)) high = b;
    else low = a;
  }
  return [low, low + 1n, high].reduce((best, t) => (at(t) < at(best) ? t : best));
}

const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b);
const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b);
