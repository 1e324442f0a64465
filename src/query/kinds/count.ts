import { linearAnswer } from '../answer.js';
import { valueName } from '../label.js';
import type { CountQuery, CrosstabQuery, HistogramQuery, Query } from '../query.js';
import { type BoundQuery, cellsOfRows, rowsOf, type Scope } from '../scope.js';
import { bindMerged } from './merged.js';

/** Counts by declared keys; a histogram and a crosstab are counts whose last keys are the columns shown. */
function counts(scope: Scope, query: Query, shown: readonly string[]): BoundQuery {
  const rows = rowsOf(scope.policy, query, shown);
  const columns = [...(query.by ?? []), ...shown, query.name ?? (query.kind === 'count' ? valueName(query) : 'count')];
  return linearAnswer({ query, columns, cells: cellsOfRows(rows) }, [scope.rowCount(rows)]);
}

export const bindCount = (query: CountQuery, scope: Scope): BoundQuery => counts(scope, query, []);
export const bindHistogram = (query: HistogramQuery, scope: Scope): BoundQuery =>
  query.merged ? bindMerged(query, scope) : counts(scope, query, [query.column]);
export const bindCrosstab = (query: CrosstabQuery, scope: Scope): BoundQuery => counts(scope, query, query.columns);
