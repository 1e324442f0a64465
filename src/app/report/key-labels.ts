import { toNumber } from '../../base/exact/rational.js';
import { levelLabel } from '../../policy/domain.js';
import { thousands } from '../../policy/figures.js';
import type { Column, NumberColumn, Policy } from '../../policy/policy.js';
import type { AnswerTable } from '../../query/bound.js';
import { policyOfQuery } from '../../query/from.js';
import type { Query } from '../../query/query.js';

/** Key of people without an answer. */
export const missing = '(missing)';

/** Columns whose values are the keys of a table, in order, if the query lists them. */
export const keyColumns = (query: Query): readonly string[] => [
  ...(query.by ?? []),
  ...(query.kind === 'histogram' ? [query.column] : []),
  ...(query.kind === 'crosstab' ? query.columns : []),
];

const bin = /^(-?[\d.]+) to (-?[\d.]+)$/;
const plainly = (x: number): string => {
  const short = Number(x.toPrecision(12));
  return Number.isSafeInteger(short) ? thousands(short) : `${short}`;
};

/** The bin of a number ends below the next, however fine its grid: "1 to 1.3499" is 1 to below 1.35. */
export function binLabel({ bounds, step }: NumberColumn, code: string): string {
  const [, low, high] = bin.exec(code) ?? [];
  if (low === undefined || high === undefined) return code;
  const last = Number(high) + toNumber(step) > toNumber(bounds[1]);
  return last
    ? `${plainly(Number(low))} to ${plainly(Number(high))}`
    : `${plainly(Number(low))} to below ${plainly(Number(high) + toNumber(step))}`;
}

const labelOf = (column: Column | undefined, code: string): string => {
  if (code === missing) return 'no answer';
  if (column?.type === 'number') return binLabel(column, code);
  if (!column || !('labels' in column)) return code;
  const pool = column.type === 'category' ? column.pools?.find((codes) => levelLabel(codes) === code) : undefined;
  return levelLabel((pool ?? [code]).map((one) => column.labels.get(one) ?? one));
};

/** Labels of the keys in a table's rows, from the policy. */
export function keyLabels(table: AnswerTable, policy: Policy): (keys: readonly string[]) => readonly string[] {
  const named = keyColumns(table.query).map((name) => policyOfQuery(policy, table.query).columns.get(name));
  return (keys) => keys.map((key, k) => labelOf(named[k], key));
}

export const weightOf = ({ query }: AnswerTable): string | undefined => ('weight' in query ? query.weight : undefined);

/** Published name of a table: two that differ by a weight alone must look different. */
export const tableTitle = (table: AnswerTable): string => {
  const weight = weightOf(table);
  return weight === undefined ? table.name : `${table.name}, weighted by ${weight}`;
};
