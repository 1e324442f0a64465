import type { Query } from './query.js';

const what: { readonly [K in Query['kind']]: (query: Extract<Query, { kind: K }>) => string } = {
  count: () => 'count',
  sum: (q) => `sum of ${q.column}`,
  mean: (q) => `mean of ${q.column}`,
  variance: (q) => `variance of ${q.column}`,
  share: (q) => `share of ${q.column} ${q.values.join(' or ')}`,
  histogram: (q) => q.column,
  crosstab: (q) => q.columns.join(' x '),
  quantile: (q) => `${q.at.map((at) => (at === 0.5 ? 'median' : `quantile ${at}`)).join(', ')} of ${q.column}`,
};

/** What is asked, in a few words, from the query alone. */
export const valueName = (query: Query): string => (what[query.kind] as (q: Query) => string)(query);

/** The name an answer carries. */
export const answerName = (query: Query): string =>
  query.name ?? `${valueName(query)}${query.by && query.by.length > 0 ? ` by ${query.by.join(', ')}` : ''}`;
