import { Fault } from '../../errors.js';
import type { Policy } from '../../policy/policy.js';

/** What is promised about a column with pairs is no limit for somebody who guesses among all its values. */
export function refusePairs({ protect }: Policy, column: string): void {
  if (protect.pairs?.columns.has(column))
    throw new Fault(
      'QUERY_UNSUPPORTED',
      `Attackers guess among all values of "${column}"; promised is something about its declared pairs only.`,
      'Attack a column without pairs of its own.',
    );
}
