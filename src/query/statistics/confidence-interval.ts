import type { AdditiveDistribution } from '../../privacy/mechanism/distribution.js';
import { normalQuantile } from '../answer.js';

/** Number and its derivatives by independent errors of standard deviation one; undefined where the errors leave no such number. */
export type PerturbedValue = (errors: Float64Array) => { readonly value: number; readonly slopes: Float64Array } | undefined;

export interface ConfidenceInterval {
  readonly value: number;
  /** First order: root of the sum of squared derivatives. */
  readonly deviation: number;
  /** Null where the interval is unbounded. */
  readonly low: number | null;
  readonly high: number | null;
}

/** (z^3 - 3 z) / 24 at z: coefficient of the excess kurtosis in a normal quantile (Cornish and Fisher). */
const tail = (normalQuantile ** 3 - 3 * normalQuantile) / 24;

/** Number of deviations that a sum of errors exceeds 5 times in 100: 1.96, and more where few Laplace errors dominate it. */
export function criticalValue(slopes: Float64Array, isLaplace: (k: number) => boolean): number {
  let [squares, fourths] = [0, 0];
  slopes.forEach((slope, k) => {
    squares += slope ** 2;
    if (isLaplace(k)) fourths += slope ** 4;
  });
  return normalQuantile + (squares > 0 ? (tail * 3 * fourths) / squares ** 2 : 0);
}

export const isLaplace = (distribution: AdditiveDistribution<number>): boolean => distribution.kind === 'laplace';

/** All values reached by errors whose norm is at most the critical value plus `more` (confidence-interval.proof.md). */
export function confidenceInterval(
  of: PerturbedValue,
  errors: number,
  laplace: (k: number) => boolean,
  more = 0,
): ConfidenceInterval | undefined {
  const start = of(new Float64Array(errors));
  if (!start) return undefined;
  const radius = criticalValue(start.slopes, laplace) + more;
  const [low, high] = [farthest(of, errors, radius, -1), farthest(of, errors, radius, 1)];
  return {
    value: start.value,
    deviation: Math.hypot(...start.slopes),
    low: low === null ? null : Math.min(low, start.value),
    high: high === null ? null : Math.max(high, start.value),
  };
}

/** Growth steps of the ball, and most search steps in each. */
const [growths, searches] = [6, 60];

/** Largest (sign 1) or smallest (-1) value in the ball: at its extremum on the rim, the gradient points along the radius. */
function farthest(of: PerturbedValue, errors: number, radius: number, sign: 1 | -1): number | null {
  let at: Float64Array = new Float64Array(errors);
  let here = of(at)!;
  for (let growth = 1; growth <= growths; growth++) {
    const rim = (radius * growth) / growths;
    let turned = 1;
    for (let k = 0; k < searches; k++) {
      const length = Math.hypot(...here.slopes);
      if (length === 0) break;
      const next = towards(at, here.slopes, { by: (sign * rim) / length, part: turned, rim });
      const there = of(next);
      if (!there || !Number.isFinite(there.value)) {
        // Unbounded: the values grow without limit towards errors that leave no value.
        if (turned < 1e-3) return null;
        turned /= 2;
        continue;
      }
      const gain = sign * (there.value - here.value);
      if (gain < 0 && k > 0) {
        if (turned < 1e-3) break;
        turned /= 2;
        continue;
      }
      [at, here] = [next, there];
      if (k > 0 && gain <= 1e-7 * Math.abs(here.value) + 1e-12 * length) break;
    }
  }
  return here.value;
}

/** Step of that fraction towards the rim point in the direction of the gradient, projected onto the rim. */
function towards(
  at: Float64Array,
  slopes: Float64Array,
  { by, part, rim }: { readonly by: number; readonly part: number; readonly rim: number },
): Float64Array {
  const next = at.map((x, k) => (1 - part) * x + part * by * slopes[k]!);
  const length = Math.hypot(...next);
  return length === 0 ? next : next.map((x) => (x * rim) / length);
}
