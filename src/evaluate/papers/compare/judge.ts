import type { Calibration } from './mechanism.js';

/** One mechanism compared with the others: its noise and its true loss. */
export interface ComparedMechanism extends Calibration {
  /** NaN (null in JSON) if it is not computed. */
  readonly lossUninformed: number;
  /** Null where no enumeration is possible. */
  readonly lossInformed: number | null;
  /** The losses are lower bounds on the true loss. */
  readonly lossAtLeast?: true;
  /** Loss over the promised epsilon, against the adversary the promise is about: above one the promise is broken. */
  readonly ratio: number;
  /** The ratio is a lower bound: the losses are, or only the loss to a weaker adversary is known. */
  readonly ratioAtLeast?: true;
  /** True if the promise holds; if the loss is unknown, or only bounded below by at most epsilon: if it is proven. */
  readonly holds: boolean;
}

/** Losses of a mechanism on a model. */
export interface Losses {
  readonly uninformed: number;
  /** Null where it is not known. */
  readonly informed: number | null;
  /** Both are lower bounds. */
  readonly atLeast?: boolean;
}

export interface MechanismComparison {
  readonly query: string;
  readonly epsilon: number;
  readonly mechanisms: readonly ComparedMechanism[];
  /** Results that cannot be computed on this model, with the reason. */
  readonly left: readonly string[];
  readonly assumptions: readonly string[];
}

/** Rounding of a loss that meets epsilon exactly. */
const rounding = 1e-9;

/** A published mechanism is held to the weaker adversary, which its paper names at least; a certified one to the one it names. */
export function judge(
  calibration: Calibration,
  { uninformed, informed, atLeast = false }: Losses,
  epsilon: number,
): ComparedMechanism {
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

/** Without a computable loss only proven promises are known to hold. */
export const judgeUnknown = (calibration: Calibration): ComparedMechanism => ({
  ...calibration,
  lossUninformed: Number.NaN,
  lossInformed: null,
  ratio: Number.NaN,
  holds: calibration.certified,
});
