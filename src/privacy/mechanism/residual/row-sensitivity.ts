import type { Sensitivity } from '../sensitivity.js';
import { largestChange } from './largest-change.js';
import { coefficientsOf, type LayoutPart, type ResidualLayout } from './layout.js';

/** Change of one row: replaced by any other or by none, added or removed alone, or moved along some axes and no others. */
export type RowChange = 'replaced' | 'removed' | { readonly along: readonly number[] };

/** Sensitivity of the noised vector to one row. */
export interface RowSensitivity {
  /** Squared change, by the set of axes (as bits) on which the row's place changes. */
  readonly squares: readonly bigint[];
  /** Squared norm when a row is added or removed. */
  readonly alone: bigint;
}

/**
 * Sensitivity of a part to one row in cell u, which adds r(u) = sum over T of c_T (all cells that agree with u outside T).
 * Squared distances depend only on the axes on which the cells differ: exact whole numbers.
 */
export function rowSensitivity(sizes: readonly number[], part: LayoutPart): RowSensitivity {
  const coefficients = coefficientsOf(sizes, part);
  const own = part.axes.map((axis) => BigInt(sizes[axis]!));
  const product = (differing: number): bigint => {
    let sum = 0n;
    for (const [s, a] of coefficients.entries()) {
      if (a === 0n) continue;
      for (const [t, b] of coefficients.entries()) if (b !== 0n && !(differing & ~(s | t))) sum += a * b * shared(own, s & t);
    }
    return sum;
  };
  const alone = product(0);
  return { alone, squares: coefficients.map((_, differing) => 2n * (alone - product(differing))) };
}
const shared = (own: readonly bigint[], set: number): bigint => own.reduce((n, m, k) => ((set >> k) & 1 ? n * m : n), 1n);

/** Sensitivity of the whole vector to one row, over all its old and new values. */
export function layoutSensitivity(layout: ResidualLayout, change: RowChange): Sensitivity {
  const { sizes, parts } = layout;
  const known = new Map<string, RowSensitivity>();
  const moves = parts.map((part): RowSensitivity => {
    const text = `${part.axes.map((axis) => sizes[axis]!).join()} ${part.scale} ${part.centred}`;
    const found = known.get(text) ?? rowSensitivity(sizes, part);
    known.set(text, found);
    return found;
  });
  const alone = moves.reduce((sum, m) => sum + m.alone, 0n);
  const first = (k: number, m: bigint): bigint => {
    const { axes, scale, centred } = parts[k]!;
    // Whole numbers are no larger than their squares.
    if (centred) return m;
    return axes.length === 0 ? 0n : 2n * scale;
  };
  if (typeof change === 'object') {
    const sets = Array.from({ length: (1 << change.along.length) - 1 }, (_, k) =>
      change.along.filter((_, bit) => ((k + 1) >> bit) & 1),
    );
    // Of one part what the worst set of the axes does to it, of all together what one set does.
    const by = sets.map((set) =>
      moves.map(
        ({ squares }, k) => squares[parts[k]!.axes.reduce((bits, axis, i) => (set.includes(axis) ? bits | (1 << i) : bits), 0)]!,
      ),
    );
    return {
      l1: moves.reduce((sum, _, k) => sum + by.map((list) => (list[k] === 0n ? 0n : first(k, list[k]!))).reduce(larger, 0n), 0n),
      l2squared: by.map((list) => list.reduce((sum, x) => sum + x, 0n)).reduce(larger, 0n),
    };
  }
  const removed: Sensitivity = {
    l1: moves.reduce((sum, m, k) => sum + (parts[k]!.centred ? m.alone : parts[k]!.scale), 0n),
    l2squared: alone,
  };
  if (change === 'removed') return removed;
  const l1 = moves.reduce((sum, { squares }, k) => sum + first(k, squares.reduce(larger)), 0n);
  const l2squared = largestChange(
    layout,
    moves.map(({ squares }) => squares),
  );
  return { l1: larger(l1, removed.l1), l2squared: larger(l2squared, removed.l2squared) };
}
const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b);
