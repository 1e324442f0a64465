import type { Relation } from '../../policy/policy.js';
import type { HowCounted } from '../../query/count/count.js';
import { residualPartsCounted } from './pattern-ladder.js';
import type { PatternAnalysis } from './query/analyse.js';
import { shapeOf } from './query/shape.js';
import { bytesPerTie } from './read-graph.js';
import type { PatternMechanism } from './ways/ways.js';

/**
 * Execution of a pattern: a known shape is counted in the graph in memory, any other as a join in the database. It depends on the
 * pattern alone.
 */
export function howPatternCounted({ pattern }: PatternAnalysis, mechanism: PatternMechanism, room: number): HowCounted {
  const { relations } = pattern;
  if (shapeOf(pattern)) return graphHeld(relations[0]!, room);
  const more = mechanism === 'residual-ladder' || mechanism === 'residual-smooth' ? residualPartsCounted(pattern).length : 0;
  // One statement counts the values of each relation.
  const statements = 1 + relations.length + more;
  const each = mechanism === 'r2t' ? Math.max(...relations.map(({ domain }) => domain)) : 1;
  const database = { statements, rows: statements - 1 + each };
  if (mechanism !== 'truncation-ladder') return { where: 'database', database };
  return { ...graphHeld(relations.find((r) => r.private)!, room), database };
}

export const graphHeld = ({ columns }: Relation, room: number): HowCounted => ({
  where: 'here',
  streamed: { columns },
  held: { upTo: Math.floor(room / bytesPerTie) },
});
