import { rawCell, sourceColumn } from '../../count/read-column.js';
import type { Pinned } from '../../engine/engine.js';
import { countStructure } from '../../engine/structure.js';
import { Fault } from '../../errors.js';
import type { Policy } from '../../policy/policy.js';

/**
 * Which of a person's rows is used hangs on what they say. Where these name different households it would decide who lives with whom, and how many others there are at
 * home: one record would move the rows of many (households.proof.md). Looks at who lives with whom alone.
 */
export async function refuseSeveralHomes(engine: Pinned, { protect: { secret, unit } }: Policy, by: string): Promise<void> {
  if (secret !== 'person' || unit === undefined) return;
  const source = await engine.columns();
  const named = (name: string) => {
    const column = sourceColumn(source, name);
    return engine.dialect.name(rawCell(column), column.type);
  };
  const rows = `SELECT ${named(unit)} AS person, ${named(by)} AS home FROM fugu_data`;
  const several = await countStructure(engine, {
    sql: `SELECT person FROM (${rows}) AS lived WHERE person IS NOT NULL GROUP BY person HAVING count(DISTINCT home) > 1 OR count(home) BETWEEN 1 AND count(*) - 1`,
    values: [],
  });
  if (several > 0)
    throw new Fault(
      'QUERY_UNSUPPORTED',
      `Rows of one person name several households in "${by}"; synthetic households have everybody in one.`,
      'Give all rows of a person the same household, or leave households out.',
    );
}
