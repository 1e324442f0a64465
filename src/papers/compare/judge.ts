import type { Calibration } from './mechanism.js';

/** One mechanism beside the others: what it adds and what is then truly lost. */
export interface Compared extends Calibration {
  /** NaN (null in JSON) where it is not worked out. */
  readonly lossUninformed: number;
  /** Null where no enumeration is possible. */
  readonly lossInformed: number | null;
  /** Loss over the promised epsilon, against the adversary the promise is about: above one the promise is broken. */
  readonly ratio: number;
  /** Where no loss is worked out: whether it is proven. */
  readonly holds: boolean;
}

export interface Comparison {
  readonly query: string;
  readonly epsilon: number;
  readonly mechanisms: readonly Compared[];
  /** What cannot be computed on this model, and why. */
  readonly left: readonly string[];
  readonly assumptions: readonly string[];
}

/** Rounding of a loss that meets epsilon exactly. */
const rounding = 1e-9;

/** A published mechanism is held to the weaker adversary, which its paper names at least; a certified one to the one it names. */
export function judge(calibration: Calibration, lossUninformed: number, lossInformed: number | null, epsilon: number): Compared {
  const ratio = (calibration.against === 'informed' ? (lossInformed ?? lossUninformed) : lossUninformed) / epsilon;
  return { ...calibration, lossUninformed, lossInformed, ratio, holds: ratio <= 1 + rounding };
}

/** Where no loss can be worked out nothing is known but what is proven. */
export const judgeUnknown = (calibration: Calibration): Compared => ({
  ...calibration,
  lossUninformed: Number.NaN,
  lossInformed: null,
  ratio: Number.NaN,
  holds: calibration.certified,
});
