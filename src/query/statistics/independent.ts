import { chiSquareTail } from './chi-square.js';
import { dot, eigen, square } from './matrix.js';

export interface Independence {
  /** Null where the noise left no rows. */
  readonly statistic: number | null;
  readonly freedom: number;
  readonly chance: number;
  /** Cramer's V, less what noise and sampling add to it. */
  readonly strength: number;
}

/**
 * The chi-square test of a table that noise was added to (independent.proof.md): departures from what the margins say, in units of how far sampling and noise
 * together make them stray. `variance`: of the noise of a cell; `factor`: of sampling, beside a simple random sample.
 */
export function independence(counts: readonly (readonly number[])[], variance: number, factor: number): Independence {
  const [rows, columns] = [counts.length, counts[0]!.length];
  const freedom = (rows - 1) * (columns - 1);
  const total = counts.flat().reduce((a, b) => a + b, 0);
  if (!(total > 0)) return { statistic: null, freedom, chance: 1, strength: 0 };
  const sums = (list: readonly number[]) => list.reduce((a, b) => a + b, 0);
  const p = parts(counts.map(sums));
  const q = parts(range(columns).map((j) => sums(counts.map((row) => row[j]!))));
  const [left, right] = [contrasts(p), contrasts(q)];
  // Contrasts that margins do not enter: of each row's counts less its part of all, and so for columns.
  const departures = left.flatMap((u) => right.map((w) => sums(counts.map((row, i) => u[i]! * dot(row, w)))));
  const spread = square(freedom);
  left.forEach((u, a) => {
    right.forEach((w, b) => {
      left.forEach((v, c) => {
        right.forEach((x, d) => {
          const sampling = total * factor * weighted(u, v, p) * weighted(w, x, q);
          spread[a * (columns - 1) + b]![c * (columns - 1) + d] = sampling + variance * dot(u, v) * dot(w, x);
        });
      });
    });
  });
  const { values, vectors } = eigen(spread);
  const most = Math.max(...values);
  const statistic = values.reduce((sum, value, k) => {
    const along = departures.reduce((s, x, i) => s + x * vectors[i]![k]!, 0);
    return value > 1e-12 * most ? sum + along ** 2 / value : sum;
  }, 0);
  const chi = (floor: number) =>
    counts.reduce(
      (s, row, i) => s + sums(row.map((x, j) => (x - total * p[i]! * q[j]!) ** 2 / Math.max(floor, total * p[i]! * q[j]!))),
      0,
    );
  const plain = chi(1);
  const added = freedom * factor + variance * sums(p.flatMap((x) => q.map((y) => 1 / Math.max(1, total * x * y))));
  const strength = Math.sqrt(Math.max(0, plain - added) / (total * Math.min(rows - 1, columns - 1)));
  return { statistic, freedom, chance: chiSquareTail(freedom, statistic), strength: Math.min(1, strength) };
}

const range = (n: number): readonly number[] => Array.from({ length: n }, (_, i) => i);
const weighted = (u: readonly number[], v: readonly number[], p: readonly number[]): number =>
  u.reduce((sum, x, i) => sum + x * v[i]! * p[i]!, 0);

/** Margins as parts of one, none below a thousandth. */
function parts(margin: readonly number[]): readonly number[] {
  const total = margin.reduce((a, b) => a + b, 0);
  const kept = margin.map((x) => Math.max(1e-3, x / total));
  const all = kept.reduce((a, b) => a + b, 0);
  return kept.map((x) => x / all);
}

/** One less than there are: whether a row is in level k, less the part of all that is. */
const contrasts = (p: readonly number[]): readonly (readonly number[])[] =>
  p.slice(1).map((part, k) => p.map((_, i) => (i === k + 1 ? 1 : 0) - part));
