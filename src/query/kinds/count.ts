import * as z from 'zod';
import { answerLayout, linearAnswer } from '../answer.js';
import { columnNameForm, commonFields } from '../form.js';
import type { QueryKind } from '../kind.js';
import { type BindingScope, type BoundQuery, selectRows } from '../scope.js';
import { withShares } from '../shares.js';
import { bindMergedHistogram } from './merged.js';

const countSchema = z.strictObject({ kind: z.literal('count'), ...commonFields });
const histogramSchema = z.strictObject({
  kind: z.literal('histogram'),
  column: columnNameForm,
  /** True for a table from the joint histogram of the columns that the policy merges this one with. */
  merged: z.literal(true).optional(),
  ...commonFields,
});
const crosstabSchema = z.strictObject({
  kind: z.literal('crosstab'),
  columns: z.tuple([columnNameForm, columnNameForm]).readonly(),
  ...commonFields,
});
type CountQuery = z.output<typeof countSchema | typeof histogramSchema | typeof crosstabSchema>;
export type HistogramQuery = z.output<typeof histogramSchema>;

/** Counts by declared keys; a histogram and a crosstab are counts whose last keys are the columns shown. */
function countsAnswer(scope: BindingScope, query: CountQuery, label: string, shown: readonly string[]): BoundQuery {
  const rows = selectRows(scope.policy, query, shown);
  const term = scope.rowCount(rows);
  const bound = linearAnswer(answerLayout(query, label, rows.cells, [...shown, query.name ?? 'count']), [term]);
  return { ...bound, finish: (noisy) => withShares(bound.finish(noisy), rows.keys, term, noisy) };
}

export const countKind: QueryKind<typeof countSchema> = {
  schema: countSchema,
  label: () => 'count',
  bind: (query, scope) => countsAnswer(scope, query, 'count', []),
};
export const histogramKind: QueryKind<typeof histogramSchema> = {
  schema: histogramSchema,
  label: ({ column }) => column,
  bind: (query, scope) =>
    query.merged ? bindMergedHistogram(query, scope) : countsAnswer(scope, query, query.column, [query.column]),
};
export const crosstabKind: QueryKind<typeof crosstabSchema> = {
  schema: crosstabSchema,
  label: ({ columns }) => columns.join(' x '),
  bind: (query, scope) => countsAnswer(scope, query, query.columns.join(' x '), query.columns),
};
