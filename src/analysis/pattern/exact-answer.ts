import { Fault } from '../../base/errors.js';
import type { Snapshot, Statement } from '../../data/engine/engine.js';
import { Exact } from '../../data/engine/exact.js';
import type { Graph } from './graph/csr.js';
import { countCliques, countDiamonds, countFourCycles, countStars } from './graph/subgraph-counts.js';
import type { PatternAnalysis } from './query/analyse.js';
import { compileDomainCheck, compilePattern } from './query/compile.js';
import { type SubgraphShape, subgraphShape } from './query/shape.js';
import { readGraph } from './read-graph.js';

/** Most goals of a join sent to the database: cliques written as joins never return. */
const maxJoined = 8;

/** The answer before noise, in the unit of the analysis: by the kernel if the pattern has a known shape, else by one SQL statement. */
export async function exactAnswer(engine: Snapshot, a: PatternAnalysis): Promise<Exact<bigint>> {
  const shape = subgraphShape(a.pattern);
  if (shape) {
    const graph = (await readGraph(engine, a.pattern.relations[0]!.name)).open();
    return new Exact((countShape(graph, shape) * BigInt(a.automorphisms.count)) / a.divisor);
  }
  refuseWideJoin(a);
  return new Exact((await scalarAnswer(engine, compilePattern(a.pattern, engine.dialect))) / a.divisor);
}

export function refuseWideJoin(a: PatternAnalysis): void {
  if (a.pattern.goals.length > maxJoined)
    throw new Fault(
      'QUERY_UNSUPPORTED',
      `A pattern of ${a.pattern.goals.length} goals is too wide a join.`,
      `Use at most ${maxJoined} goals, or declare the relation symmetric: cliques, stars and triangles of an undirected relation are counted directly.`,
    );
}

export function countShape(graph: Graph, shape: SubgraphShape): bigint {
  if (shape.kind === 'edge') return BigInt(graph.edges);
  if (shape.kind === 'star') return countStars(graph, shape.k);
  if (shape.kind === 'clique') return countCliques(graph, shape.k);
  return shape.kind === 'cycle' ? countFourCycles(graph) : countDiamonds(graph);
}

export async function scalarAnswer(engine: Snapshot, statement: Statement): Promise<bigint> {
  const value = (await engine.rows(statement)).open()[0]?.[0] ?? 0;
  return BigInt(typeof value === 'number' ? Math.trunc(value) : value);
}

/**
 * Check of the declared domain, which sensitivities depend on: more values stop the release before any noise is drawn. The budget is
 * reserved by then, and the reason is not published.
 */
export async function checkDomain(engine: Snapshot, a: PatternAnalysis): Promise<void> {
  const shape = subgraphShape(a.pattern);
  for (const [r, relation] of a.pattern.relations.entries()) {
    const values = shape
      ? BigInt((await readGraph(engine, relation.name)).open().nodes)
      : await scalarAnswer(engine, compileDomainCheck(a.pattern, r));
    if (values <= BigInt(relation.domain)) continue;
    throw new Fault(
      'DOMAIN_EXCEEDED',
      `The relation "${relation.name}" holds more different values than its declared domain.`,
      'Declare a larger domain.',
      { details: { limit: relation.domain } },
    );
  }
}
