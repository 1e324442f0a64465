import type { AnswerTable } from '../query/bound.js';

const cell = (value: string | number | null | undefined): string => {
  const text = value === null || value === undefined ? '' : String(value);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};
export const csvOf = (rows: readonly (readonly (string | number | null | undefined)[])[]): string =>
  rows.map((row) => `${row.map(cell).join(',')}\n`).join('');

/** Codes, not labels: what a program reads back. */
export function answerCsv(table: AnswerTable): string {
  const rank = table.error === 'rank';
  const header = [...table.columns, ...(rank ? ['rank_error'] : ['standard_error', 'low', 'high'])];
  const rows = table.rows.map((r) => [...r.keys, r.value, ...(rank ? [r.rankError] : [r.standardError, r.low, r.high])]);
  return csvOf([header, ...rows]);
}
