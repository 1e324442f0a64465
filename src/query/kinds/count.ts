import * as z from 'zod';
import { linearAnswer } from '../answer.js';
import { asked, columnName } from '../form.js';
import type { QueryKind } from '../kind.js';
import { type BoundQuery, rowsOf, type Scope } from '../scope.js';
import { withShares } from '../shares.js';
import { bindMerged } from './merged.js';

const countSchema = z.strictObject({ kind: z.literal('count'), ...asked });
const histogramSchema = z.strictObject({
  kind: z.literal('histogram'),
  column: columnName,
  /** True for a table from the joint histogram of the columns that the policy merges this one with. */
  merged: z.literal(true).optional(),
  ...asked,
});
const crosstabSchema = z.strictObject({
  kind: z.literal('crosstab'),
  columns: z.tuple([columnName, columnName]).readonly(),
  ...asked,
});
type CountQuery = z.output<typeof countSchema | typeof histogramSchema | typeof crosstabSchema>;
export type HistogramQuery = z.output<typeof histogramSchema>;

/** Counts by declared keys; a histogram and a crosstab are counts whose last keys are the columns shown. */
function counts(scope: Scope, query: CountQuery, label: string, shown: readonly string[]): BoundQuery {
  const rows = rowsOf(scope.policy, query, shown);
  const columns = [...(query.by ?? []), ...shown, query.name ?? 'count'];
  const term = scope.rowCount(rows);
  const bound = linearAnswer({ query, label, columns, cells: rows.cells }, [term]);
  return { ...bound, finish: (noisy) => withShares(bound.finish(noisy), rows.keys, term, noisy) };
}

export const count: QueryKind<typeof countSchema> = {
  schema: countSchema,
  label: () => 'count',
  bind: (query, scope) => counts(scope, query, 'count', []),
};
export const histogram: QueryKind<typeof histogramSchema> = {
  schema: histogramSchema,
  label: ({ column }) => column,
  bind: (query, scope) => (query.merged ? bindMerged(query, scope) : counts(scope, query, query.column, [query.column])),
};
export const crosstab: QueryKind<typeof crosstabSchema> = {
  schema: crosstabSchema,
  label: ({ columns }) => columns.join(' x '),
  bind: (query, scope) => counts(scope, query, query.columns.join(' x '), query.columns),
};
