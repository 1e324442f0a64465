import type { Engine } from '../engine/engine.js';
import { Exact } from '../engine/exact.js';
import { residualOf, scaleLadder } from './counted-ladder.js';
import { scalar } from './exact-answer.js';
import { commonPairs, mostCommon } from './graph/common-pairs.js';
import type { Graph } from './graph/csr.js';
import { degreePairs, largestCliqueLocal, largestDiamondLocal } from './graph/local.js';
import type { PatternAnalysis } from './query/analyse.js';
import { compileLargest } from './query/compile.js';
import { cliqueLadder, diamondLadder, type Ladder, starLadder, triangleLadder } from './query/ladders.js';
import { domainSize } from './query/lambda.js';
import { type ResidualPart, residualParts, residualTerms } from './query/residual.js';
import { type Shape, shapeOf } from './query/shape.js';
import { readGraph } from './read-graph.js';

/** The ladder of a shape in this very graph; in the unit of the analysis. */
export async function knownLadder(engine: Engine, a: PatternAnalysis): Promise<Exact<Ladder>> {
  const shape = shapeOf(a.pattern);
  if (!shape) throw new RangeError('no shape');
  const graph = (await readGraph(engine, a.pattern.relations[0]!.name)).open();
  const ladder = shapeLadder(graph, shape, domainSize(a.pattern));
  return new Exact(scaleLadder(ladder, BigInt(a.automorphisms.count) / a.divisor));
}

/** Domains up to this size scan every pair of nodes at two steps; larger ones use the most common neighbours alone, which can be found with pruning. */
const scannedDomain = 50_000;

/** `n` is the declared domain, never the number of nodes seen. */
export function shapeLadder(g: Graph, shape: Shape, n: number): Ladder {
  if (shape.kind === 'star') return starLadder(shape.k, withIsolated(degreePairs(g), g, n), n);
  if (shape.kind === 'clique' && shape.k === 3)
    return triangleLadder(n <= scannedDomain ? commonPairs(g) : [{ common: mostCommon(g), single: n }], n);
  const most = mostCommon(g);
  if (shape.kind === 'clique') return cliqueLadder(shape.k, largestCliqueLocal(g, shape.k), most, n);
  if (shape.kind === 'diamond') return diamondLadder(largestDiamondLocal(g, most), most, n);
  throw new RangeError(`no ladder is known for a ${shape.kind}`);
}

/** The domain may hold values without any tuple; the busiest node and one of those are a pair too. */
function withIsolated(
  pairs: readonly (readonly [number, number])[],
  g: Graph,
  n: number,
): readonly (readonly [number, number])[] {
  if (n <= g.nodes) return pairs.length > 0 ? pairs : [[0, 0]];
  const busiest = g.nodes === 0 ? 0 : g.offsets[g.nodes]! - g.offsets[g.nodes - 1]!;
  return [...pairs, [busiest, 0]];
}

/** The residual ladder of any pattern, its coefficients from one grouped join per part. */
export async function residualLadderOf(engine: Engine, a: PatternAnalysis): Promise<Exact<Ladder>> {
  const q = a.pattern;
  const parts = residualParts(q);
  const largest = new Map<ResidualPart, bigint>();
  for (const part of parts) {
    const symbols = new Set(part.part.flatMap((g) => q.goals[g]!.symbols).filter((s) => s >= q.constants.length));
    // When everything is fixed there is one way at most; counting it as one keeps the ladder conditions.
    const fixed = symbols.size === part.boundary.length;
    largest.set(part, fixed ? 1n : await scalar(engine, compileLargest(q, part.part, part.boundary, engine.dialect)));
  }
  return new Exact(
    residualOf(
      a,
      residualTerms(parts, (p) => largest.get(p)!),
    ),
  );
}
