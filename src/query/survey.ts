import type { Policy } from '../policy/policy.js';
import { isWeight } from './domain.js';
import type { Batch } from './query.js';

/** One histogram per declared column; weights and the column that names the unit are no questions. */
export function surveyBatch(policy: Policy): Batch {
  const columns = [...policy.columns.values()].filter((column) => !isWeight(column) && column.name !== policy.protect.unit);
  return { queries: columns.map((column) => ({ kind: 'histogram', column: column.name })) };
}
