import { calendarOf, dateText, dayAt } from '../../policy/date-text.js';
import type { ColumnSummary, Guess } from './guess.js';

/** Years between the first and the last day that are too many for days on which somebody was asked, came or went. */
export const lifeSpan = 15;

/**
 * Days of the calendar, with bounds at the ends of years so that nobody's day becomes one. Whoever was born when is left out: over so many years a date says little else, and with a place it
 * names most people.
 */
export function guessDate({ days, filled }: Pick<ColumnSummary, 'days' | 'filled'>, wanted: boolean): Guess {
  if (!days || days.cells < 0.95 * filled)
    return { type: 'out', is: 'date', why: 'a date or time: written 2024-12-31 it can be asked about' };
  const [first, last] = [calendarOf(days.first).year, calendarOf(days.last).year];
  if (last - first >= lifeSpan && !wanted)
    return { type: 'out', is: 'date', why: 'dates over many years, as those of birth are' };
  return { type: 'date', bounds: [dateText(dayAt(first)), dateText(dayAt(last + 1) - 1)], missing: [] };
}
