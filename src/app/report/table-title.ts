import type { AnswerTable } from '../../query/bound.js';

export const weightOf = ({ query }: AnswerTable): string | undefined => ('weight' in query ? query.weight : undefined);

/** Published name of a table: two that differ by a weight alone must look different. */
export const tableTitle = (table: AnswerTable): string => {
  const weight = weightOf(table);
  return weight === undefined ? table.name : `${table.name}, weighted by ${weight}`;
};
