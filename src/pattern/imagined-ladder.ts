import { residualOf, scaleLadder } from './counted-ladder.js';
import type { PatternAnalysis } from './query/analyse.js';
import { choose, cliqueLadder, diamondLadder, type Ladder, starLadder, triangleLadder } from './query/ladders.js';
import { domainSize } from './query/lambda.js';
import { largestUnderDegree, residualParts, residualTerms } from './query/residual.js';
import { type Shape, shapeOf } from './query/shape.js';

/** The ladder of a shape in a graph where nobody has more than `degree` ties; undefined for shapes whose ladder is not known. */
export function imaginedShape(a: PatternAnalysis, degree: number): Ladder | undefined {
  const shape = shapeOf(a.pattern);
  const n = domainSize(a.pattern);
  const ladder = shape && ladderUnder(shape, Math.min(degree, n - 2), n);
  return ladder && scaleLadder(ladder, BigInt(a.automorphisms.count) / a.divisor);
}
export const hasKnownLadder = (a: PatternAnalysis): boolean => imaginedShape(a, 1) !== undefined;

function ladderUnder(shape: Shape, d: number, n: number): Ladder | undefined {
  if (shape.kind === 'clique' && shape.k === 3) return triangleLadder([{ common: d, single: 0 }], n);
  if (shape.kind === 'clique') return cliqueLadder(shape.k, choose(BigInt(d), shape.k - 2), d, n);
  if (shape.kind === 'star') return starLadder(shape.k, [[d, d]], n);
  if (shape.kind === 'diamond') return diamondLadder(choose(BigInt(d), 2) + 2n * BigInt(d) * BigInt(d), d, n);
  return undefined;
}

/** The residual ladder of any pattern in such a graph. */
export function imaginedResidual(a: PatternAnalysis, degree: number): Ladder {
  const parts = residualParts(a.pattern);
  const terms = residualTerms(parts, (part) => largestUnderDegree(a.pattern, part, () => BigInt(degree)));
  return residualOf(a, terms);
}
