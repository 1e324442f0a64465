import { limits } from '../../../base/input/limits.js';
import type { Pinned } from '../../../data/engine/engine.js';
import type { Exact } from '../../../data/engine/exact.js';
import { ladder as ladderNoise, rungsOf } from '../../../privacy/mechanism/ladder.js';
import { smooth as smoothNoise } from '../../../privacy/mechanism/smooth.js';
import { exactAnswer } from '../exact-answer.js';
import { hasKnownLadder, imaginedResidual, imaginedShape, knownLadder, residualLadderOf } from '../pattern-ladder.js';
import type { PatternAnalysis } from '../query/analyse.js';
import type { Ladder } from '../query/ladders.js';
import { larger } from '../query/sensitivity.js';
import { expectedOfLadder, expectedOfSmooth } from './expected.js';
import { type Asked, type Drawn, type Offer, offer, type Way } from './way.js';

/** Data-dependent noise: along the ladder of a shape, or along the residual ladder of any pattern. */
export const alongShape: Way<'ladder' | 'smooth'> = (asked) => {
  const imagined = imaginedShape(asked.analysis, asked.degree);
  return imagined ? along(asked, imagined, knownLadder, ['ladder', 'smooth']) : [];
};

export const alongResidual: Way<'residual-ladder' | 'residual-smooth'> = (asked) => {
  const { analysis: a, degree } = asked;
  // A known shape has its own ladder, however large it is.
  if (hasKnownLadder(a) && a.pattern.goals.length > limits.privateGoals.most) return [];
  return along(asked, imaginedResidual(a, degree), residualLadderOf, ['residual-ladder', 'residual-smooth']);
};

type Read = (engine: Pinned, a: PatternAnalysis) => Promise<Exact<Ladder>>;

function along<L extends string, S extends string>(
  { analysis: a, hidden: { classes }, allotment, degree }: Asked,
  imagined: Ladder,
  read: Read,
  [stepped, smoothed]: readonly [L, S],
): readonly Offer<L | S>[] {
  const followed = { name: a.title, classes };
  const steps = ladderNoise(followed, allotment);
  const curve = smoothNoise(followed, allotment);
  const drawn = (noise: typeof steps | typeof curve): Drawn => ({
    mechanisms: [noise],
    answer: async (paid, engine) => noise.climb(paid, (await exactAnswer(engine, a)).open(), (await read(engine, a)).open()),
  });
  const note = `if nobody has more than ${degree} ties`;
  const widest = larger(imagined.widest, a.bounds.globalSensitivity);
  const spread = expectedOfSmooth(curve.law, imagined);
  return [
    ...(rungsOf(steps.law, widest) <= mostRungs
      ? [offer({ mechanism: stepped, ...expectedOfLadder(steps.law, imagined), note }, drawn(steps))]
      : []),
    ...(spread.expectedError < Number.POSITIVE_INFINITY ? [offer({ mechanism: smoothed, ...spread, note }, drawn(curve))] : []),
  ];
}

/** Most rungs of an offered ladder: more take minutes and gigabytes to draw, at very small epsilon. */
const mostRungs = 1_000_000;
