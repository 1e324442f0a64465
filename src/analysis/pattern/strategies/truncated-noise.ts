import type { Snapshot } from '../../../data/engine/engine.js';
import { Exact } from '../../../data/engine/exact.js';
import { ladderMechanism } from '../../../privacy/mechanism/ladder-mechanism.js';
import { countShape, refuseWideJoin, scalarAnswer } from '../exact-answer.js';
import { degreeOf, type Graph, nodesByDegree, subgraph } from '../graph/csr.js';
import { maxPerPerson } from '../per-person.js';
import type { PatternAnalysis } from '../query/analyse.js';
import { compilePattern } from '../query/compile.js';
import { type SensitivityLadder, truncationLadder } from '../query/ladders.js';
import { domainSize } from '../query/lambda.js';
import { subgraphShape } from '../query/shape.js';
import { readGraph } from '../read-graph.js';
import { ladderFigures } from './noise-figures.js';
import { offer, type PatternStrategy } from './strategy.js';

/** People with more ties than a public number are left out; the ladder is that of all ties of one person (per-person.proof.md). */
export const truncatedNoise: PatternStrategy<'truncation-ladder'> = ({
  analysis: a,
  hidden: { classes },
  budgetShare,
  degree,
}) => {
  const noise = ladderMechanism({ name: a.title, classes }, budgetShare);
  const note = `people with more than ${degree} ties are left out; if few are near that number`;
  return [
    offer(
      { mechanism: 'truncation-ladder', ...ladderFigures(noise.distribution, imagined(a, degree)), note },
      {
        mechanisms: [noise],
        answer: async (payment, engine) => {
          const { count, ladder: rungs } = (await truncatedCount(engine, a, degree)).open();
          return noise.addNoise(payment, count, rungs);
        },
      },
    ),
  ];
};

/** Ladder assumed before reading the data: nobody near the threshold. */
const imagined = (a: PatternAnalysis, degree: number): SensitivityLadder =>
  truncationLadder(maxPerPerson(a, degree), () => 0, domainSize(a.pattern));

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
  const many = nodesByDegree(graph);
  many.set(0, (many.get(0) ?? 0) + people - graph.nodes);
  const near = (t: number): number => {
    let total = 0;
    for (const [d, people] of many) if (d >= degree - t && d <= degree + 1 + t) total += people;
    return total;
  };
  return truncationLadder(each, near, people);
}

function withoutHubs(g: Graph, degree: number): Graph {
  const of = (v: number) => (degreeOf(g, v) <= degree ? v : undefined);
  return subgraph(g, g.forward.keys(), { size: g.nodes, of });
}
