import type { Relation } from '../../policy/policy.js';
import type { ExecutionPlan } from '../../query/count/count.js';
import { residualPartsCounted } from './pattern-ladder.js';
import type { PatternAnalysis } from './query/analyse.js';
import { subgraphShape } from './query/shape.js';
import { bytesPerTie } from './read-graph.js';
import type { PatternMechanism } from './strategies/strategies.js';

/**
 * Execution of a pattern: a known shape is counted in the graph in memory, any other as a join in the database. It depends on the
 * pattern alone.
 */
export function patternExecution({ pattern }: PatternAnalysis, mechanism: PatternMechanism, memoryLimit: number): ExecutionPlan {
  const { relations } = pattern;
  if (subgraphShape(pattern)) return graphInMemory(relations[0]!, memoryLimit);
  const more = mechanism === 'residual-ladder' || mechanism === 'residual-smooth' ? residualPartsCounted(pattern).length : 0;
  // One statement counts the values of each relation.
  const statements = 1 + relations.length + more;
  const each = mechanism === 'r2t' ? Math.max(...relations.map(({ domain }) => domain)) : 1;
  const database = { statements, rows: statements - 1 + each };
  if (mechanism !== 'truncation-ladder') return { where: 'database', database };
  return { ...graphInMemory(relations.find((r) => r.private)!, memoryLimit), database };
}

export const graphInMemory = ({ columns }: Relation, memoryLimit: number): ExecutionPlan => ({
  where: 'here',
  streamed: { columns },
  held: { upTo: Math.floor(memoryLimit / bytesPerTie) },
});
