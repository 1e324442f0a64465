import { Fault } from '../../../base/errors.js';

/**
 * Refusal of persons whose rows name different households: which row is kept depends on their answers, so one record would change the
 * household, and thus the rows, of many (households.proof.md).
 */
export function refuseSeveralHouseholds(persons: number, by: string): void {
  if (persons === 0) return;
  throw new Fault(
    'QUERY_UNSUPPORTED',
    `Rows of one person name several households in "${by}"; synthetic households have everybody in one.`,
    'Give all rows of a person the same household, or leave households out.',
  );
}
