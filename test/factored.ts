import { addUp, divUp, expm1Up, logDown, mulUp, subUp } from '../src/base/exact/outward.js';

/**
 * Releases that factor over records (each column's histogram noised on its own), adversary without knowledge, no graph: only how each other record's law moves
 * between two values a, b of the secret one matters. ../pairwise/leakage.ts is the same theorem for surveys with one common cost; here every record has its own.
 */
export interface Shift {
  /** The other record's cost: the log-range of its factor of the likelihood. */
  readonly sensitivity: number;
  /** Distribution under the two values of the secret. */
  readonly underA: Float64Array;
  readonly underB: Float64Array;
  /** Total-variation radius of each distribution; 0 if they are exact. */
  readonly radius?: number;
}

const unit = 2 ** -40;

/**
 * Upper bound on e_i + max over factors of log(1 + (e^G - 1) m_a / G) - m_b, with G the sum of the other sensitivities, by the dual
 * log(1 + c m_a) <= u (1 + c m_a) - 1 - log u for every u > 0. The best u of a search, rounded up, at most composition.
 */
export function factoredLeak(own: number, others: readonly Shift[]): number {
  const whole = others.reduce((s, o) => addUp(s, o.sensitivity), 0);
  const composed = addUp(own, whole);
  if (!(whole > 0)) return composed;
  const slope = divUp(expm1Up(whole), whole);
  if (!Number.isFinite(slope)) return composed;
  const at = (u: number): number => {
    const tilt = mulUp(u, slope);
    let sum = subUp(subUp(u, 1), logDown(u));
    for (const { sensitivity, underA, underB, radius = 0 } of others) {
      let gain = 0;
      for (let v = 0; v < underA.length; v++) gain += Math.max(0, tilt * underA[v]! - underB[v]!);
      const widened = mulUp(addUp(gain, mulUp(radius, addUp(tilt, 1))), 1 + unit);
      sum = addUp(sum, mulUp(sensitivity, Math.min(tilt, widened)));
    }
    return sum;
  };
  // The bound is convex in u, whose best value is 1/(1 + c m_a), between e^-G and 1.
  let low = Math.log(1 / (1 + slope * whole));
  let high = 0;
  let best = at(1);
  for (let k = 0; k < 60; k++) {
    const a = low + (high - low) / 3;
    const b = high - (high - low) / 3;
    const fa = at(Math.exp(a));
    const fb = at(Math.exp(b));
    best = Math.min(best, fa, fb);
    if (fa <= fb) high = b;
    else low = a;
  }
  return Math.min(composed, addUp(own, best));
}

/** The plain form: e_i + sum of e_j TV_j + G^2/8, rounded up and never more than composition. */
export function factoredLeakPlain(own: number, sensitivities: ArrayLike<number>, distances: ArrayLike<number>): number {
  let whole = 0;
  let sum = 0;
  for (let j = 0; j < sensitivities.length; j++) {
    whole = addUp(whole, sensitivities[j]!);
    sum = addUp(sum, mulUp(sensitivities[j]!, distances[j]!));
  }
  return Math.min(addUp(own, whole), addUp(own, addUp(sum, mulUp(mulUp(whole, whole), 0.125))));
}

/** Total variation between two distributions, rounded up. */
export function totalVariation(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let up = 0;
  let down = 0;
  for (let v = 0; v < a.length; v++) {
    up = addUp(up, Math.max(0, subUp(a[v]!, b[v]!)));
    down = addUp(down, Math.max(0, subUp(b[v]!, a[v]!)));
  }
  return Math.min(1, Math.max(up, down));
}
