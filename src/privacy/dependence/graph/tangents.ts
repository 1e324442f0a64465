import { expUp } from '../../../base/exact/outward.js';
import { closedWeight, contraction, openWeight, push } from './push.js';

/** Tangents touch at multiples of `gap` up to `most`; larger losses are pushed individually. */
const most = 8;
const lines = 2048;
const gap = most / lines;
/** Bound on the error of a computed line within half a gap of its point, in units of the first slope (push.proof.md). */
const slack = 2 ** -42;
const above = 1 + 2 ** -51;
/** Number of pushes from which tables pay off, and the limit on different D. */
const manyPushes = 40_000;
const mostTables = 32;

/** push(., D) for one D. */
export type Pusher = (loss: number) => number;

/**
 * Upper bound on push(., D), by less than a part in two million: its nearest tangent, which lies above it since push is concave.
 */
export function tangents(logOdds: number): Pusher {
  if (!(logOdds > 0)) return () => 0;
  if (logOdds === Number.POSITIVE_INFINITY) return (loss) => loss;
  const slope = contraction(logOdds);
  const shut = closedWeight(logOdds);
  // Line k is table[2k] + table[2k + 1] B; the first goes through 0.
  const table = new Float64Array(2 * lines + 2);
  table[1] = slope;
  for (let k = 1; k <= lines; k++) {
    const at = k * gap;
    const grown = expUp(at / 2);
    const s = (openWeight(logOdds) * (1 + shut)) / ((1 + shut / grown) * (1 + shut * grown));
    table[2 * k] = Math.max(0, push(at, logOdds) - s * at) + slack * slope;
    table[2 * k + 1] = s;
  }
  return (loss) => {
    if (!(loss < most)) return push(loss, logOdds);
    const k = 2 * Math.floor(loss / gap + 0.5);
    return (table[k]! + table[k + 1]! * loss) * above;
  };
}

/** Table of tangents for each D, for graphs with many pushes and few different strengths. */
export class TangentTables {
  readonly #most: number;
  readonly #made = new Map<number, Pusher>();

  constructor(pushes: number) {
    this.#most = pushes < manyPushes ? 0 : mostTables;
  }

  /** Undefined if a table does not pay off. */
  of(logOdds: number): Pusher | undefined {
    const known = this.#made.get(logOdds);
    if (known || this.#made.size >= this.#most) return known;
    const made = tangents(logOdds);
    this.#made.set(logOdds, made);
    return made;
  }
}
