import type { Calibration } from './mechanism.js';

/** One mechanism beside the others: what it adds and what is then truly lost. */
export interface Compared extends Calibration {
  /** NaN (null in JSON) where it is not worked out. */
  readonly lossUninformed: number;
  /** Null where no enumeration is possible. */
  readonly lossInformed: number | null;
  /** The losses are lower bounds: truly lost is at least so much. */
  readonly lossAtLeast?: true;
  /** Loss over the promised epsilon, against the adversary the promise is about: above one the promise is broken. */
  readonly ratio: number;
  /** The ratio is a lower bound: the losses are, or only the loss to a weaker adversary is known. */
  readonly ratioAtLeast?: true;
  /** Where the loss is not known, or only a lower bound of at most epsilon: whether it is proven. */
  readonly holds: boolean;
}

/** What a mechanism loses on a model. */
export interface Losses {
  readonly uninformed: number;
  /** Null where it is not known. */
  readonly informed: number | null;
  /** Both are lower bounds. */
  readonly atLeast?: boolean;
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
export function judge(calibration: Calibration, { uninformed, informed, atLeast = false }: Losses, epsilon: number): Compared {
  const weaker = calibration.against === 'informed' && informed === null;
  const ratio = (calibration.against === 'informed' ? (informed ?? uninformed) : uninformed) / epsilon;
  const within = ratio <= 1 + rounding;
  return {
    ...calibration,
    lossUninformed: uninformed,
    lossInformed: informed,
    ...(atLeast && { lossAtLeast: true }),
    ratio,
    ...((atLeast || weaker) && { ratioAtLeast: true }),
    holds: within && (atLeast || weaker ? calibration.certified : true),
  };
}

/** Where no loss can be worked out nothing is known but what is proven. */
export const judgeUnknown = (calibration: Calibration): Compared => ({
  ...calibration,
  lossUninformed: Number.NaN,
  lossInformed: null,
  ratio: Number.NaN,
  holds: calibration.certified,
});
