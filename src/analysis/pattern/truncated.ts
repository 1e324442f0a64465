import type { Snapshot } from '../../data/engine/engine.js';
import { Exact } from '../../data/engine/exact.js';
import { countShape, refuseWideJoin, scalarAnswer } from './exact-answer.js';
import { buildGraph, degreeOf, type Graph } from './graph/csr.js';
import { maxPerPerson } from './per-person.js';
import type { PatternAnalysis } from './query/analyse.js';
import { compilePattern } from './query/compile.js';
import { type SensitivityLadder, truncationLadder } from './query/ladders.js';
import { domainSize } from './query/lambda.js';
import { subgraphShape } from './query/shape.js';
import { readGraph } from './read-graph.js';

/**
 * The count without people of more than `degree` ties, and the ladder of all ties of one person
 * (analysis/pattern/query/ladders.proof.md).
 */
export async function truncatedCount(
  engine: Snapshot,
  a: PatternAnalysis,
  degree: number,
): Promise<Exact<{ count: bigint; ladder: SensitivityLadder }>> {
  const relation = a.pattern.relations.find((r) => r.private)!;
  const graph = (await readGraph(engine, relation.name)).open();
  const shape = subgraphShape(a.pattern);
  if (!shape) refuseWideJoin(a);
  const count = shape
    ? (countShape(withoutHubs(graph, degree), shape) * BigInt(a.automorphisms.count)) / a.divisor
    : (await scalarAnswer(engine, compilePattern(a.pattern, engine.dialect, degree))) / a.divisor;
  return new Exact({ count, ladder: personLadder(graph, maxPerPerson(a, degree), degree, domainSize(a.pattern)) });
}

export function personLadder(graph: Graph, each: bigint, degree: number, people: number): SensitivityLadder {
  const many = new Map<number, number>([[0, people - graph.nodes]]);
  for (let v = 0; v < graph.nodes; v++) many.set(degreeOf(graph, v), (many.get(degreeOf(graph, v)) ?? 0) + 1);
  const near = (t: number): number => {
    let total = 0;
    for (const [d, people] of many) if (d >= degree - t && d <= degree + 1 + t) total += people;
    return total;
  };
  return truncationLadder(each, near, people);
}

function withoutHubs(g: Graph, degree: number): Graph {
  const from: number[] = [];
  const to: number[] = [];
  for (let v = 0; v < g.nodes; v++) {
    if (degreeOf(g, v) > degree) continue;
    for (let e = g.forward[v]!; e < g.offsets[v + 1]!; e++)
      if (degreeOf(g, g.targets[e]!) <= degree) {
        from.push(v);
        to.push(g.targets[e]!);
      }
  }
  return buildGraph(g.nodes, Uint32Array.from(from), Uint32Array.from(to));
}
