import { limits } from '../../../base/input/limits.js';
import type { Snapshot } from '../../../data/engine/engine.js';
import type { Exact } from '../../../data/engine/exact.js';
import { ladderMechanism as ladderNoise, rungsOf } from '../../../privacy/mechanism/ladder-mechanism.js';
import { smoothMechanism as smoothNoise } from '../../../privacy/mechanism/smooth-sensitivity.js';
import { exactAnswer } from '../exact-answer.js';
import {
  hasShapeLadder,
  readResidualLadder,
  readShapeLadder,
  residualLadderAtDegree,
  shapeLadderAtDegree,
} from '../pattern-ladder.js';
import type { PatternAnalysis } from '../query/analyse.js';
import type { SensitivityLadder } from '../query/ladders.js';
import { larger } from '../query/sensitivity.js';
import { ladderFigures, smoothFigures } from './noise-figures.js';
import { type DrawnMechanisms, offer, type PatternOffer, type PatternStrategy, type PatternTask } from './strategy.js';

/** Data-dependent noise: along the ladder of a shape, or along the residual ladder of any pattern. */
export const shapeLadderNoise: PatternStrategy<'ladder' | 'smooth'> = (task) => {
  const imagined = shapeLadderAtDegree(task.analysis, task.degree);
  return imagined ? noiseAlong(task, imagined, readShapeLadder, ['ladder', 'smooth']) : [];
};

export const residualLadderNoise: PatternStrategy<'residual-ladder' | 'residual-smooth'> = (task) => {
  const { analysis: a, degree } = task;
  // A known shape has its own ladder, however large it is.
  if (hasShapeLadder(a) && a.pattern.goals.length > limits.privateGoals.most) return [];
  return noiseAlong(task, residualLadderAtDegree(a, degree), readResidualLadder, ['residual-ladder', 'residual-smooth']);
};

type ReadLadder = (engine: Snapshot, a: PatternAnalysis) => Promise<Exact<SensitivityLadder>>;

function noiseAlong<L extends string, S extends string>(
  { analysis: a, hidden: { classes }, budgetShare, degree }: PatternTask,
  imagined: SensitivityLadder,
  read: ReadLadder,
  [stepped, smoothed]: readonly [L, S],
): readonly PatternOffer<L | S>[] {
  const followed = { name: a.title, classes };
  const steps = ladderNoise(followed, budgetShare);
  const curve = smoothNoise(followed, budgetShare);
  const drawn = (noise: typeof steps | typeof curve): DrawnMechanisms => ({
    mechanisms: [noise],
    answer: async (payment, engine) =>
      noise.addNoise(payment, (await exactAnswer(engine, a)).open(), (await read(engine, a)).open()),
  });
  const note = `if nobody has more than ${degree} ties`;
  const widest = larger(imagined.widest, a.bounds.globalSensitivity);
  const spread = smoothFigures(curve.distribution, imagined);
  return [
    ...(rungsOf(steps.distribution, widest) <= maxRungs
      ? [offer({ mechanism: stepped, ...ladderFigures(steps.distribution, imagined), note }, drawn(steps))]
      : []),
    ...(spread.expectedError < Number.POSITIVE_INFINITY ? [offer({ mechanism: smoothed, ...spread, note }, drawn(curve))] : []),
  ];
}

/** Most rungs of an offered ladder: more take minutes and gigabytes to draw, at very small epsilon. */
const maxRungs = 1_000_000;
