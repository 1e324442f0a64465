import { chiSquareTail } from './chi-square.js';
import { type CellNoise, departuresOf } from './departures.js';
import { dot, eigenDecomposition, multiplyVector, type SymmetricMatrix } from './matrix.js';
import { simulatedPValue } from './simulated-tables.js';

export interface Independence {
  /** Null where the noise left no rows. */
  readonly statistic: number | null;
  readonly degrees: number;
  readonly chance: number;
  /** Cramer's V, corrected for noise and sampling. */
  readonly cramersV: number;
}

/**
 * Chi-square test of a noisy table (independence-test.proof.md): departures from independence, scaled by their covariance under
 * sampling and noise. `factor`: ratio of the sampling variance to that of a simple random sample.
 */
export function independenceTest(counts: readonly (readonly number[])[], noise: CellNoise, factor: number): Independence {
  const { variance } = noise;
  const [rows, columns] = [counts.length, counts[0]!.length];
  const freedom = (rows - 1) * (columns - 1);
  const found = departuresOf(counts, variance, factor);
  if (!found) return { statistic: null, degrees: freedom, chance: 1, cramersV: 0 };
  const { total, p, q, left, right, values, spread } = found;
  const inverse = inverseOf(spread);
  const statistic = dot(values, multiplyVector(inverse, values));
  const least = total * Math.min(...p) * Math.min(...q);
  const chance =
    least < few * factor && variance < loud && freedom <= mostFreedom && factor > 0
      ? simulatedPValue(statistic, found, noise, factor)
      : tailOf(statistic, freedom, noise.laplace ? 3 * variance ** 2 * fourths(counts, left, right, inverse) : 0);
  const sums = (list: readonly number[]) => list.reduce((s, x) => s + x, 0);
  const plain = sums(
    counts.map((row, i) => sums(row.map((x, j) => (x - total * p[i]! * q[j]!) ** 2 / Math.max(1, total * p[i]! * q[j]!)))),
  );
  const added = freedom * factor + variance * sums(p.flatMap((x) => q.map((y) => 1 / Math.max(1, total * x * y))));
  const strength = Math.sqrt(Math.max(0, plain - added) / (total * Math.min(rows - 1, columns - 1)));
  return { statistic, degrees: freedom, chance, cramersV: Math.min(1, strength) };
}

/** With fewer expected per cell, and noise too small to make departures normal, their distribution is simulated (proof note, 5). */
const [few, loud, mostFreedom] = [5, 4, 100];

function inverseOf(spread: SymmetricMatrix): SymmetricMatrix {
  const { values, vectors } = eigenDecomposition(spread);
  const most = Math.max(...values);
  return spread.map((_, i) =>
    Float64Array.from(spread, (__, j) =>
      values.reduce((sum, value, k) => (value > 1e-12 * most ? sum + (vectors[i]![k]! * vectors[j]![k]!) / value : sum), 0),
    ),
  );
}

/** Sum of the squared coefficients of the cells' squared noises in the statistic. */
function fourths(
  counts: readonly (readonly number[])[],
  left: readonly (readonly number[])[],
  right: readonly (readonly number[])[],
  inverse: SymmetricMatrix,
): number {
  let sum = 0;
  for (let i = 0; i < counts.length; i++)
    for (let j = 0; j < counts[0]!.length; j++) {
      const own = left.flatMap((u) => right.map((w) => u[i]! * w[j]!));
      sum += dot(own, multiplyVector(inverse, own)) ** 2;
    }
  return sum;
}

/** Tail of a chi-square variable with extra variance: the gamma variable with that mean and variance (independence-test.proof.md, 3). */
function tailOf(statistic: number, freedom: number, more: number): number {
  const wider = (2 * freedom + more) / (2 * freedom);
  return chiSquareTail(freedom / wider, statistic / wider);
}
