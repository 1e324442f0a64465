import { dateText } from '../policy/date-text.js';
import type { AnswerTable } from './bound.js';

const mostDated = 24;

/** Note with the dates of the numbers in a table, for the rows and numbers as they are shown. */
export function withDates(table: AnswerTable): AnswerTable {
  const { rows, note } = table;
  if (rows.length === 0 || rows.length > mostDated) return table;
  const day = (days: number | null) => (days === null ? 'nothing' : dateText(Math.floor(days)));
  const told = rows.map(({ keys, value, low, high }) => {
    const ends = low === null || high === null ? '' : ` (${day(low)} to ${day(high)})`;
    return [...keys, `${day(value)}${ends}`].join(' ');
  });
  return { ...table, note: [`As dates: ${told.join('; ')}.`, note].filter((text) => text !== undefined).join(' ') };
}
