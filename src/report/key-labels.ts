import { levelLabel } from '../policy/domain.js';
import type { Column, Policy } from '../policy/policy.js';
import type { AnswerTable } from '../query/bound.js';
import type { Query } from '../query/query.js';

/** The key of those who gave no answer. */
export const missing = '(missing)';

/** The columns whose values are the keys of a table, in order, where the query says so. */
export const keyColumns = (query: Query): readonly string[] => [
  ...(query.by ?? []),
  ...(query.kind === 'histogram' ? [query.column] : query.kind === 'crosstab' ? query.columns : []),
];

const labelOf = (column: Column | undefined, code: string): string => {
  if (code === missing) return 'no answer';
  if (!column || !('labels' in column)) return code;
  const pool = column.type === 'category' ? column.pools?.find((codes) => levelLabel(codes) === code) : undefined;
  return levelLabel((pool ?? [code]).map((one) => column.labels.get(one) ?? one));
};

/** What the keys of a table's rows mean, by the labels of the policy. */
export function keyLabels(table: AnswerTable, policy: Policy): (keys: readonly string[]) => readonly string[] {
  const named = keyColumns(table.query).map((name) => policy.columns.get(name));
  return (keys) => keys.map((key, k) => labelOf(named[k], key));
}
