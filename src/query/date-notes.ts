import { isoDay } from '../policy/date-text.js';
import type { AnswerTable } from './bound.js';

const maxDated = 24;

/** Note with the dates of the numbers in a table, for the rows and numbers as they are shown. */
export function withDateNote(table: AnswerTable): AnswerTable {
  const { rows, note } = table;
  if (rows.length === 0 || rows.length > maxDated) return table;
  const day = (days: number | null) => (days === null ? 'nothing' : isoDay(Math.floor(days)));
  const entries = rows.map(({ keys, value, low, high }) => {
    const ends = low === null || high === null ? '' : ` (${day(low)} to ${day(high)})`;
    return [...keys, `${day(value)}${ends}`].join(' ');
  });
  return { ...table, note: [`As dates: ${entries.join('; ')}.`, note].filter((text) => text !== undefined).join(' ') };
}
