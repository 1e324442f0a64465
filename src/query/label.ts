import type { AnswerRow } from './bound.js';
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

/** The rank error of a quantile in words: where rows lie evenly, and whatever the data. */
export const rankText = (
  { rankError = 0, evenRankError = rankError }: Partial<AnswerRow>,
  show: (x: number) => string,
): string =>
  evenRankError < rankError ? `± ${show(evenRankError)} rows, ${show(rankError)} at worst` : `± ${show(rankError)} rows`;
