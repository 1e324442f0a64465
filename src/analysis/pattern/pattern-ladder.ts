import type { Snapshot } from '../../data/engine/engine.js';
import { Exact } from '../../data/engine/exact.js';
import { scalarAnswer } from './exact-answer.js';
import { commonNeighbourPairs, maxCommonNeighbours } from './graph/common-neighbours.js';
import type { Graph } from './graph/csr.js';
import { cliqueLocalSensitivity, degreePairs, diamondLocalSensitivity } from './graph/local-sensitivity.js';
import type { PatternAnalysis } from './query/analyse.js';
import type { BoundPattern } from './query/bind.js';
import { compileLargest } from './query/compile.js';
import {
  choose,
  cliqueLadder,
  diamondLadder,
  residualLadder,
  type SensitivityLadder,
  starLadder,
  triangleLadder,
} from './query/ladders.js';
import { domainSize } from './query/lambda.js';
import { largestUnderDegree, type ResidualPart, residualParts, residualTerms } from './query/residual.js';
import { larger, largestAdded } from './query/sensitivity.js';
import { type SubgraphShape, subgraphShape } from './query/shape.js';
import { readGraph } from './read-graph.js';

/** Ladders of a pattern: at an assumed maximum degree for plans, and of the data itself for drawing. */

/** A ladder of occurrences, in assignments. */
const scaleLadder = (ladder: SensitivityLadder, factor: bigint): SensitivityLadder =>
  factor === 1n ? ladder : { width: (t) => ladder.width(t) * factor, widest: ladder.widest * factor };

/** Residual ladder of a pattern from the coefficients of each private relation. */
export function residualLadderFrom(a: PatternAnalysis, terms: ReadonlyMap<number, readonly bigint[]>): SensitivityLadder {
  const factor = largestAdded(a.pattern);
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

/** With one symmetric relation among several, every change counts as two tuples. */
export const directions = (a: PatternAnalysis): 1 | 2 => (a.pattern.relations.some((r) => r.symmetric && r.private) ? 2 : 1);

/** Ladder of a shape in a graph of at most `degree` ties per person; undefined for shapes without a known ladder. */
export function shapeLadderAtDegree(a: PatternAnalysis, degree: number): SensitivityLadder | undefined {
  const shape = subgraphShape(a.pattern);
  const n = domainSize(a.pattern);
  const ladder = shape && closedFormLadder(shape, Math.min(degree, n - 2), n);
  return ladder && scaleLadder(ladder, BigInt(a.automorphisms.count) / a.divisor);
}
export const hasShapeLadder = (a: PatternAnalysis): boolean => shapeLadderAtDegree(a, 1) !== undefined;

function closedFormLadder(shape: SubgraphShape, d: number, n: number): SensitivityLadder | undefined {
  if (shape.kind === 'clique' && shape.k === 3) return triangleLadder([{ common: d, single: 0 }], n);
  if (shape.kind === 'clique') return cliqueLadder(shape.k, choose(BigInt(d), shape.k - 2), d, n);
  if (shape.kind === 'star') return starLadder(shape.k, [[d, d]], n);
  if (shape.kind === 'diamond') return diamondLadder(choose(BigInt(d), 2) + 2n * BigInt(d) * BigInt(d), d, n);
  return undefined;
}

export function residualLadderAtDegree(a: PatternAnalysis, degree: number): SensitivityLadder {
  const parts = residualParts(a.pattern);
  const terms = residualTerms(parts, (part) => largestUnderDegree(a.pattern, part, () => BigInt(degree)));
  return residualLadderFrom(a, terms);
}

/** Ladder of a shape in the data's graph, in the unit of the analysis. */
export async function readShapeLadder(engine: Snapshot, a: PatternAnalysis): Promise<Exact<SensitivityLadder>> {
  const graph = (await readGraph(engine, a.pattern.relations[0]!.name)).open();
  const ladder = shapeLadder(graph, subgraphShape(a.pattern)!, domainSize(a.pattern));
  return new Exact(scaleLadder(ladder, BigInt(a.automorphisms.count) / a.divisor));
}

/**
 * Largest domain for a scan of all pairs at two steps; larger ones use the most common neighbours alone, which a pruned search finds.
 */
const maxScannedDomain = 50_000;

/** `n` is the declared domain, never the number of observed nodes. */
export function shapeLadder(g: Graph, shape: SubgraphShape, n: number): SensitivityLadder {
  if (shape.kind === 'star') return starLadder(shape.k, withIsolated(degreePairs(g), g, n), n);
  if (shape.kind === 'clique' && shape.k === 3)
    return triangleLadder(n <= maxScannedDomain ? commonNeighbourPairs(g) : [{ common: maxCommonNeighbours(g), single: n }], n);
  const most = maxCommonNeighbours(g);
  if (shape.kind === 'clique') return cliqueLadder(shape.k, cliqueLocalSensitivity(g, shape.k), most, n);
  if (shape.kind === 'diamond') return diamondLadder(diamondLocalSensitivity(g, most), most, n);
  throw new RangeError(`no ladder is known for a ${shape.kind}`);
}

/** Adds pairs with values that have no tuples: the busiest node and one of those is a pair, too. */
function withIsolated(
  pairs: readonly (readonly [number, number])[],
  g: Graph,
  n: number,
): readonly (readonly [number, number])[] {
  if (n <= g.nodes) return pairs.length > 0 ? pairs : [[0, 0]];
  const busiest = g.nodes === 0 ? 0 : g.offsets[g.nodes]! - g.offsets[g.nodes - 1]!;
  return [...pairs, [busiest, 0]];
}

/** Residual ladder of any pattern, with its coefficients from one grouped join per part. */
export async function readResidualLadder(engine: Snapshot, a: PatternAnalysis): Promise<Exact<SensitivityLadder>> {
  const q = a.pattern;
  const parts = residualParts(q);
  const largest = new Map<ResidualPart, bigint>();
  // With all symbols fixed there is at most one way; counting it as one keeps the ladder conditions.
  for (const part of parts)
    if (!isFixed(q, part)) largest.set(part, await scalarAnswer(engine, compileLargest(q, part, engine.dialect)));
  const terms = residualTerms(parts, (part) => largest.get(part) ?? 1n);
  return new Exact(residualLadderFrom(a, terms));
}

const isFixed = (q: BoundPattern, { part, boundary }: ResidualPart): boolean =>
  new Set(part.flatMap((g) => q.goals[g]!.symbols).filter((s) => s >= q.constants.length)).size === boundary.length;

/** The goals of each statement that `readResidualLadder` runs. */
export const residualPartsCounted = (q: BoundPattern): readonly (readonly number[])[] =>
  residualParts(q).flatMap((part) => (isFixed(q, part) ? [] : [part.part]));
