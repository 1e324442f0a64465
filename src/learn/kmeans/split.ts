import { floor, fromNumber, multiply, type Rational, rational } from '../../exact/rational.js';

/** How a budget is spent over Lloyd iterations (Su et al. 2016): each pays for noisy counts and for each noisy coordinate sum. */
export interface LloydSplit {
  readonly iterations: number;
  /** Shares of the whole budget, per iteration: count + dimensions x dimension <= 1 / iterations, exactly. */
  readonly count: Rational;
  readonly dimension: Rational;
}

/** Relative size of a cluster's spread that the split is optimal for. */
const spread = 0.225;
export const countWeight = (dimensions: number): number => Math.cbrt(4 * dimensions * spread ** 2);

/** The budget below which one more iteration does more harm than good; n is public (replacing a row does not change it). */
export const leastIterationBudget = (clusters: number, dimensions: number, rows: number): number =>
  Math.sqrt((500 * clusters ** 3 * (dimensions + countWeight(dimensions)) ** 3) / rows ** 2);

export const iterationsFor = (clusters: number, dimensions: number, rows: number, epsilon: number): number =>
  Math.min(7, Math.max(2, Math.floor(epsilon / leastIterationBudget(clusters, dimensions, rows))));

const grain = 10n ** 9n;
export function lloydSplit(dimensions: number, iterations: number): LloydSplit {
  const weight = countWeight(dimensions);
  const part = (share: number) => rational(floor(multiply(fromNumber(share * (1 - 1e-12)), rational(grain))), grain);
  const dimension = part(1 / (iterations * (dimensions + weight)));
  const count = part(weight / (iterations * (dimensions + weight)));
  return { iterations, count, dimension };
}
