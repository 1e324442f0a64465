import { isWeight } from '../count/domain.js';
import type { Policy } from '../policy/policy.js';
import type { Batch } from '../query/query.js';

/**
 * One histogram per declared column; weights and the column that names the unit are no questions. Those in `merged` are read off the joint histogram of
 * their cluster.
 */
export function surveyBatch(policy: Policy, merged: ReadonlySet<string> = new Set()): Batch {
  const columns = [...policy.columns.values()].filter((column) => !isWeight(column) && column.name !== policy.protect.unit);
  return {
    queries: columns.map(({ name }) => ({ kind: 'histogram', column: name, ...(merged.has(name) && { merged: true as const }) })),
  };
}
