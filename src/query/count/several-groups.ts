import type { Snapshot } from '../../data/engine/engine.js';
import { countStructure } from '../../data/engine/structure.js';
import type { Policy } from '../../policy/policy.js';
import { rawCell, sourceColumn } from './read-column.js';

/**
 * Number of persons whose rows name several groups of a column, or one in some rows and none in others:
 * a fact about group membership, where a tie declares that membership is known.
 */
export async function countSeveralGroups(engine: Snapshot, { protect: { secret, unit } }: Policy, by: string): Promise<number> {
  if (secret !== 'person' || unit === undefined) return 0;
  const source = await engine.columns();
  const named = (name: string) => {
    const column = sourceColumn(source, name);
    return engine.dialect.name(rawCell(column), column.type);
  };
  const rows = `SELECT ${named(unit)} AS person, ${named(by)} AS own FROM fugu_data`;
  return countStructure(engine, {
    sql: `SELECT person FROM (${rows}) AS named WHERE person IS NOT NULL GROUP BY person HAVING count(DISTINCT own) > 1 OR count(own) BETWEEN 1 AND count(*) - 1`,
    values: [],
  });
}
