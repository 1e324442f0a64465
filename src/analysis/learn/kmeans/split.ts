import { divide, floor, fromNumber, multiply, type Rational, rational, subtract } from '../../../base/exact/rational.js';

/** Division of a budget over Lloyd iterations (Su et al. 2016): each pays for noisy counts and for each noisy coordinate sum. */
export interface LloydSplit {
  readonly iterations: number;
  /** Shares of the whole budget, per iteration: count + dimensions x dimension = 1 / iterations, exactly. */
  readonly count: Rational;
  readonly dimension: Rational;
}

/** Relative cluster size that the split is optimal for. */
const spread = 0.225;
export const countWeight = (dimensions: number): number => Math.cbrt(4 * dimensions * spread ** 2);

/** Budget below which one more iteration does more harm than good; n is public (replacing a row does not change it). */
export const leastIterationBudget = (clusters: number, dimensions: number, rows: number): number =>
  Math.sqrt((500 * clusters ** 3 * (dimensions + countWeight(dimensions)) ** 3) / rows ** 2);

export const iterationsFor = (clusters: number, dimensions: number, rows: number, epsilon: number): number =>
  Math.min(7, Math.max(2, Math.floor(epsilon / leastIterationBudget(clusters, dimensions, rows))));

const grain = 10n ** 12n;
export function lloydSplit(dimensions: number, iterations: number): LloydSplit {
  const weight = countWeight(dimensions);
  const dimension = rational(floor(multiply(fromNumber(1 / (iterations * (dimensions + weight))), rational(grain))), grain);
  // The rounding remainder goes to the counts, so that the whole budget is used.
  return { iterations, count: subtract(rational(1, iterations), multiply(rational(dimensions), dimension)), dimension };
}

/** The same for Gaussian noise, whose variance is inversely proportional to the share: minimises d x var(sum) + 0.05 d x var(count). */
export function gaussianSplit(dimensions: number, iterations: number): LloydSplit {
  const weight = Math.sqrt(0.05) / (Math.sqrt(0.05) + Math.sqrt(2 * dimensions));
  const count = rational(Math.floor(1e6 * weight), 10 ** 6 * iterations);
  return { iterations, count, dimension: divide(subtract(rational(1, iterations), count), rational(dimensions)) };
}
