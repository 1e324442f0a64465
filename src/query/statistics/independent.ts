import { chiSquareTail } from './chi-square.js';
import { applied, dot, eigen, type Matrix, square } from './matrix.js';

export interface Independence {
  /** Null where the noise left no rows. */
  readonly statistic: number | null;
  readonly freedom: number;
  readonly chance: number;
  /** Cramer's V, less what noise and sampling add to it. */
  readonly strength: number;
}

/** The noise of every cell: its variance, and whether it strays farther now and then than a normal one would. */
export interface CellNoise {
  readonly variance: number;
  readonly laplace: boolean;
}

/**
 * The chi-square test of a table that noise was added to (independent.proof.md): departures from what the margins say, in units of how far sampling and noise
 * together make them stray. `factor`: of sampling, beside a simple random sample.
 */
export function independence(counts: readonly (readonly number[])[], noise: CellNoise, factor: number): Independence {
  const { variance } = noise;
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
  const inverse = inverseOf(spread);
  const statistic = dot(departures, applied(inverse, departures));
  const chance = tailOf(statistic, freedom, noise.laplace ? 3 * variance ** 2 * fourths(counts, left, right, inverse) : 0);
  const chi = (floor: number) =>
    counts.reduce(
      (s, row, i) => s + sums(row.map((x, j) => (x - total * p[i]! * q[j]!) ** 2 / Math.max(floor, total * p[i]! * q[j]!))),
      0,
    );
  const plain = chi(1);
  const added = freedom * factor + variance * sums(p.flatMap((x) => q.map((y) => 1 / Math.max(1, total * x * y))));
  const strength = Math.sqrt(Math.max(0, plain - added) / (total * Math.min(rows - 1, columns - 1)));
  return { statistic, freedom, chance, strength: Math.min(1, strength) };
}

function inverseOf(spread: Matrix): Matrix {
  const { values, vectors } = eigen(spread);
  const most = Math.max(...values);
  return spread.map((_, i) =>
    Float64Array.from(spread, (__, j) =>
      values.reduce((sum, value, k) => (value > 1e-12 * most ? sum + (vectors[i]![k]! * vectors[j]![k]!) / value : sum), 0),
    ),
  );
}

/** How much each cell's noise makes of the statistic by itself, squared and added up. */
function fourths(
  counts: readonly (readonly number[])[],
  left: readonly (readonly number[])[],
  right: readonly (readonly number[])[],
  inverse: Matrix,
): number {
  let sum = 0;
  for (let i = 0; i < counts.length; i++)
    for (let j = 0; j < counts[0]!.length; j++) {
      const own = left.flatMap((u) => right.map((w) => u[i]! * w[j]!));
      sum += dot(own, applied(inverse, own)) ** 2;
    }
  return sum;
}

/** Of a variable with the mean of chi-square and so much more variance: the gamma variable with both (independent.proof.md, 3). */
function tailOf(statistic: number, freedom: number, more: number): number {
  const wider = (2 * freedom + more) / (2 * freedom);
  return chiSquareTail(freedom / wider, statistic / wider);
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
