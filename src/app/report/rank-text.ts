import type { AnswerRow } from '../../query/bound.js';

/** Rank error of a quantile as text: where rows lie evenly, and whatever the data. */
export const rankText = (
  { rankError = 0, evenRankError = rankError }: Partial<AnswerRow>,
  show: (x: number) => string,
): string =>
  evenRankError < rankError
    ? `within ${show(evenRankError)} ranks (any data: ${show(rankError)})`
    : `within ${show(rankError)} ranks`;
