import { dot, type SymmetricMatrix, zeroMatrix } from './matrix.js';

/** Noise of every cell: its variance, and whether it is Laplace noise, with heavier tails than a normal variable. */
export interface CellNoise {
  readonly variance: number;
  readonly laplace: boolean;
}

/** Departures of a table from independence given its margins, and their covariance (independence-test.proof.md, 1 and 2). */
export interface Departures {
  readonly total: number;
  /** Margins as fractions of the total. */
  readonly p: readonly number[];
  readonly q: readonly number[];
  readonly left: readonly (readonly number[])[];
  readonly right: readonly (readonly number[])[];
  readonly values: readonly number[];
  readonly spread: SymmetricMatrix;
}

const sum = (list: readonly number[]): number => list.reduce((a, b) => a + b, 0);

/** Undefined where no rows are left. */
export function departuresOf(counts: readonly (readonly number[])[], variance: number, factor: number): Departures | undefined {
  const total = sum(counts.map(sum));
  if (!(total > 0)) return undefined;
  const p = parts(counts.map(sum));
  const q = parts(counts[0]!.map((_, j) => sum(counts.map((row) => row[j]!))));
  const [left, right] = [contrasts(p), contrasts(q)];
  // Contrasts that are zero under independence: of each row's counts minus its share of the total, and likewise for columns.
  const values = left.flatMap((u) => right.map((w) => sum(counts.map((row, i) => u[i]! * dot(row, w)))));
  const products = (list: readonly (readonly number[])[], of: readonly number[]) =>
    list.map((u) => list.map((v) => ({ sampled: u.reduce((s, x, i) => s + x * v[i]! * of[i]!, 0), noised: dot(u, v) })));
  const [rows, columns] = [products(left, p), products(right, q)];
  const width = right.length;
  const spread = zeroMatrix(left.length * width);
  rows.forEach((own, a) => {
    own.forEach((x, c) => {
      columns.forEach((other, b) => {
        other.forEach((y, d) => {
          spread[a * width + b]![c * width + d] = total * factor * x.sampled * y.sampled + variance * x.noised * y.noised;
        });
      });
    });
  });
  return { total, p, q, left, right, values, spread };
}

/** Fractions of a margin, at least a thousandth each. */
function parts(margin: readonly number[]): readonly number[] {
  const total = sum(margin);
  const kept = margin.map((x) => Math.max(1e-3, x / total));
  const all = sum(kept);
  return kept.map((x) => x / all);
}

/** Contrasts of a margin, one fewer than its levels: the indicator of level k minus its fraction. */
const contrasts = (p: readonly number[]): readonly (readonly number[])[] =>
  p.slice(1).map((part, k) => p.map((_, i) => (i === k + 1 ? 1 : 0) - part));
