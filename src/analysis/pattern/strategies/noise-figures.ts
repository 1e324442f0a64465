import { toNumber, toNumberUp } from '../../../base/exact/rational.js';
import type { LadderDistribution, SmoothDistribution } from '../../../privacy/mechanism/distribution.js';
import type { SensitivityLadder } from '../query/ladders.js';

/** Expected noise in doubles, for plans only: width of a ladder's noise, and its mean absolute error. */
export interface NoiseFigures {
  readonly scale: number;
  readonly expectedError: number;
}

export const ladderFigures = (distribution: LadderDistribution, ladder: SensitivityLadder): NoiseFigures => {
  const decay = toNumber(distribution.decay);
  return { scale: Number(ladder.width(0)) / decay, expectedError: ladderError(ladder, decay) };
};

export const smoothFigures = (distribution: SmoothDistribution, ladder: SensitivityLadder): NoiseFigures => {
  const scale = toNumberUp(distribution.scale) * smoothBound(ladder, toNumber(distribution.beta));
  return { scale, expectedError: scale * Math.SQRT1_2 };
};

export function ladderError(ladder: SensitivityLadder, decay: number): number {
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

export const maxLadderSteps = 1_000_000;

/** Infinite if it takes too many steps to compute, since so little is then left of beta that no answer would be visible. */
export function smoothBound(ladder: SensitivityLadder, beta: number): number {
  let best = 0;
  const widest = Number(ladder.widest);
  for (let t = 0; widest * Math.exp(-beta * t) > best; t++) {
    if (t === maxLadderSteps) return Number.POSITIVE_INFINITY;
    best = Math.max(best, Number(ladder.width(t)) * Math.exp(-beta * t));
  }
  return best;
}
