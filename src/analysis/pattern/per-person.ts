import type { PatternAnalysis } from './query/analyse.js';
import { choose } from './query/ladders.js';
import { largestUnderDegree } from './query/residual.js';
import { bindingCount, everyVariable, smaller } from './query/sensitivity.js';
import { type SubgraphShape, subgraphShape } from './query/shape.js';

/**
 * Person-level sensitivity, much larger than one tuple's since two people share each tie. Either people with more ties than a public
 * number are left out (truncation), or, with results of one person each, contributions are cut at several levels (R2T).
 */

/** The most occurrences (or assignments) one person can take part in when nobody has more than `degree` ties. */
export function maxPerPerson(a: PatternAnalysis, degree: number): bigint {
  const shape = subgraphShape(a.pattern);
  const known = shape && shapePerPerson(shape, BigInt(degree));
  if (known !== undefined) return (known * BigInt(a.automorphisms.count)) / a.divisor;
  const q = a.pattern;
  const part = [...q.goals.keys()];
  // A directed relation may also hold a person's self-tie. Nothing bounds how often a value occurs in a public relation.
  const fanOut = (r: number): bigint => {
    const { private: secret, symmetric, domain, columns } = q.relations[r]!;
    return secret ? BigInt(symmetric ? degree : degree + 1) : BigInt(domain) ** BigInt(columns.length - 1);
  };
  const secretSymbols = [...new Set(q.goals.filter((g) => q.relations[g.relation]!.private).flatMap((g) => g.symbols))];
  // The person may be any variable of the private goals, or one of their constants.
  const placed = secretSymbols.reduce(
    (sum, s) => sum + largestUnderDegree(q, { part, boundary: s < q.constants.length ? [] : [s] }, fanOut),
    0n,
  );
  return smaller(placed, bindingCount(q, everyVariable(q), [])) / a.divisor;
}

function shapePerPerson(shape: SubgraphShape, d: bigint): bigint | undefined {
  if (shape.kind === 'edge') return d;
  if (shape.kind === 'clique') return choose(d, shape.k - 1);
  if (shape.kind === 'star') return choose(d, shape.k) + d * choose(d - 1n, shape.k - 1);
  // A corner of a 4-cycle: two neighbours, then one of the others of either.
  if (shape.kind === 'cycle') return choose(d, 2) * (d > 1n ? d - 1n : 0n);
  return undefined;
}
