import { calendarOf, dayAt, isoDay } from '../../policy/date-text.js';
import type { ColumnSummary, Guess } from './guess.js';

/** Range in years beyond which dates are likely dates of birth, not of interviews or events. */
export const lifeSpan = 15;

/**
 * Guess for calendar days, with bounds at the ends of years so that no bound is a person's date. Dates
 * over many years are left out: they are mostly dates of birth, which with a place identify most people.
 */
export function guessDate({ days, filled }: Pick<ColumnSummary, 'days' | 'filled'>, wanted: boolean): Guess {
  if (!days || days.cells < 0.95 * filled)
    return { type: 'out', is: 'date', why: 'a date or time: written 2024-12-31 it can be used' };
  const [first, last] = [calendarOf(days.first).year, calendarOf(days.last).year];
  if (last - first >= lifeSpan && !wanted)
    return { type: 'out', is: 'date', why: 'dates over many years, as those of birth are' };
  return { type: 'date', bounds: [isoDay(dayAt(first)), isoDay(dayAt(last + 1) - 1)], missing: [] };
}
