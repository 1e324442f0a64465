import { Fault } from '../../../base/errors.js';
import type { Policy } from '../../../policy/policy.js';

/**
 * Attackers who know totals are not simulated. The promise about a column
 * with pairs does not limit an attacker who guesses among all of its values.
 */
export function refusePairs({ protect, known }: Policy, column: string): void {
  if (known)
    throw new Fault(
      'QUERY_UNSUPPORTED',
      'Attackers here know people one by one; beside known totals records can only change together, and answers were made to agree with the totals.',
      'Attack releases of a policy without known totals; docs/how-to/policies.md says what was attacked instead.',
    );
  if (protect.pairs?.columns.has(column))
    throw new Fault(
      'QUERY_UNSUPPORTED',
      `Attackers guess among all values of "${column}"; promised is something about its declared pairs only.`,
      'Attack a column without pairs of its own.',
    );
}
