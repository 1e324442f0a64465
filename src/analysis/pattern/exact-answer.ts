import { Fault } from '../../base/errors.js';
import type { Pinned, Statement } from '../../data/engine/engine.js';
import { Exact } from '../../data/engine/exact.js';
import { cliques, diamonds, fourCycles, stars } from './graph/counts.js';
import type { Graph } from './graph/csr.js';
import type { PatternAnalysis } from './query/analyse.js';
import { compileDomainCheck, compilePattern } from './query/compile.js';
import { type Shape, shapeOf } from './query/shape.js';
import { readGraph } from './read-graph.js';

/** Most goals of a join sent to the database: cliques written as joins never return. */
const mostJoined = 8;

/** The answer before noise, in the unit of the analysis: by the kernel if the pattern has a known shape, else by one SQL statement. */
export async function exactAnswer(engine: Pinned, a: PatternAnalysis): Promise<Exact<bigint>> {
  const shape = shapeOf(a.pattern);
  if (shape) {
    const graph = (await readGraph(engine, a.pattern.relations[0]!.name)).open();
    return new Exact((countShape(graph, shape) * BigInt(a.automorphisms.count)) / a.divisor);
  }
  refuseWide(a);
  return new Exact((await scalar(engine, compilePattern(a.pattern, engine.dialect))) / a.divisor);
}

export function refuseWide(a: PatternAnalysis): void {
  if (a.pattern.goals.length > mostJoined)
    throw new Fault(
      'QUERY_UNSUPPORTED',
      `A pattern of ${a.pattern.goals.length} goals is too wide a join.`,
      `Use at most ${mostJoined} goals, or declare the relation symmetric: cliques, stars and triangles of an undirected relation are counted directly.`,
    );
}

export function countShape(graph: Graph, shape: Shape): bigint {
  if (shape.kind === 'edge') return BigInt(graph.edges);
  if (shape.kind === 'star') return stars(graph, shape.k);
  if (shape.kind === 'clique') return cliques(graph, shape.k);
  return shape.kind === 'cycle' ? fourCycles(graph) : diamonds(graph);
}

export async function scalar(engine: Pinned, statement: Statement): Promise<bigint> {
  const value = (await engine.rows(statement)).open()[0]?.[0];
  return BigInt(value === null || value === undefined ? 0 : typeof value === 'number' ? Math.trunc(value) : value);
}

/**
 * Check of the declared domain, which sensitivities depend on: more values stop the release before any noise is drawn. The budget is
 * reserved by then, and the reason is not published.
 */
export async function checkDomain(engine: Pinned, a: PatternAnalysis): Promise<void> {
  const shape = shapeOf(a.pattern);
  for (const [r, relation] of a.pattern.relations.entries()) {
    const values = shape
      ? BigInt((await readGraph(engine, relation.name)).open().nodes)
      : await scalar(engine, compileDomainCheck(a.pattern, r));
    if (values <= BigInt(relation.domain)) continue;
    throw new Fault(
      'DOMAIN_EXCEEDED',
      `The relation "${relation.name}" holds more different values than its declared domain.`,
      'Declare a larger domain.',
      { details: { limit: relation.domain } },
    );
  }
}
