import { toNumber, toNumberUp } from '../../../base/exact/rational.js';
import type { LadderLaw, SmoothLaw } from '../../../privacy/mechanism/law.js';
import type { Ladder } from '../query/ladders.js';

/** Expected noise in doubles, for plans only: width of a ladder's noise, and its mean absolute error. */
export interface Expected {
  readonly scale: number;
  readonly expectedError: number;
}

export const expectedOfLadder = (law: LadderLaw, ladder: Ladder): Expected => {
  const decay = toNumber(law.decay);
  return { scale: Number(ladder.width(0)) / decay, expectedError: ladderError(ladder, decay) };
};

export const expectedOfSmooth = (law: SmoothLaw, ladder: Ladder): Expected => {
  const scale = toNumberUp(law.scale) * smoothBound(ladder, toNumber(law.beta));
  return { scale, expectedError: scale * Math.SQRT1_2 };
};

export function ladderError(ladder: Ladder, decay: number): number {
  let [weight, total, distance] = [1, 0, 0];
  for (let u = 1; u < 100_000; u++) {
    const width = Math.max(1, Number(ladder.width(u - 1)));
    const mass = 2 * width * Math.exp(-decay * u);
    weight += mass;
    total += mass * (distance + (width + 1) / 2);
    distance += width;
    if (mass * distance < 1e-9 * total && u * decay > 40) break;
  }
  return total / weight;
}

export const mostSteps = 1_000_000;

/** Infinite if it takes too many steps to compute, since so little is then left of beta that no answer would be visible. */
export function smoothBound(ladder: Ladder, beta: number): number {
  let best = 0;
  const widest = Number(ladder.widest);
  for (let t = 0; widest * Math.exp(-beta * t) > best; t++) {
    if (t === mostSteps) return Number.POSITIVE_INFINITY;
    best = Math.max(best, Number(ladder.width(t)) * Math.exp(-beta * t));
  }
  return best;
}
