import { Fault } from '../../../base/errors.js';

/**
 * Which of a person's rows is used hangs on what they say. Where these name different households it would decide who lives with whom, and how many others there are at
 * home: one record would move the rows of many (households.proof.md).
 */
export function refuseSeveralHomes(persons: number, by: string): void {
  if (persons === 0) return;
  throw new Fault(
    'QUERY_UNSUPPORTED',
    `Rows of one person name several households in "${by}"; synthetic households have everybody in one.`,
    'Give all rows of a person the same household, or leave households out.',
  );
}
