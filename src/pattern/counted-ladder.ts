import type { PatternAnalysis } from './query/analyse.js';
import { type Ladder, residualLadder } from './query/ladders.js';
import { larger } from './query/sensitivity.js';

/** A ladder of occurrences, in assignments. */
export const scaleLadder = (ladder: Ladder, factor: bigint): Ladder =>
  factor === 1n ? ladder : { width: (t) => ladder.width(t) * factor, widest: ladder.widest * factor };

/** The residual ladder of a pattern from the coefficients of each private relation. */
export function residualOf(a: PatternAnalysis, terms: ReadonlyMap<number, readonly bigint[]>): Ladder {
  const factor = a.pattern.sum ? larger(magnitude(a.pattern.sum.bounds[0]), magnitude(a.pattern.sum.bounds[1])) : 1n;
  const ladders = [...terms].map(([relation, list]) =>
    residualLadder(
      list.map((t) => t * factor),
      a.pattern.relations[relation]!.symmetric ? 2 : directions(a),
      a.divisor,
      a.bounds.globalSensitivity,
    ),
  );
  return { width: (t) => ladders.map((l) => l.width(t)).reduce(larger), widest: a.bounds.globalSensitivity };
}

/** With one symmetric relation among several, every change is counted as two tuples. */
export const directions = (a: PatternAnalysis): 1 | 2 => (a.pattern.relations.some((r) => r.symmetric && r.private) ? 2 : 1);
const magnitude = (x: bigint): bigint => (x < 0n ? -x : x);
