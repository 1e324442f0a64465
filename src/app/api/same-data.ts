import { openLedger } from '../../release/ledger/open.js';
import { recordSameData as declareWith } from '../../release/session/same-data.js';
import { type FileName, parseOptions, withFaults } from './input.js';
import { policyWithLedger, type ReasonedOptions, reasoned } from './ledger.js';
import { withClosing } from './open-handles.js';

/** A declaration that everything spent was spent on one policy's data. */
export interface SameDataDeclared {
  readonly population: string;
  readonly reason: string;
  /** Ledger entries that hold it; none if there was nothing to declare. */
  readonly entries: readonly number[];
}

/**
 * Declares, permanently, that everything an account has spent was spent on the data of this policy. Needed once for accounts of
 * version 0.2 that share a name, and after data with ties was moved or renamed.
 *
 * @example
 * const { entries } = await declareSameData('policy.yaml', { reason: 'the file was renamed' });
 */
export async function declareSameData(policy: FileName, given: ReasonedOptions): Promise<SameDataDeclared> {
  return withFaults(async () => {
    const { reason, ...options } = parseOptions(reasoned, given);
    const read = await policyWithLedger(policy);
    const ledger = await openLedger(read.ledger, options);
    const made = await withClosing(ledger, () => declareWith(ledger, read, reason.trim()));
    return { population: read.population, reason: reason.trim(), entries: made.map(({ sequence }) => sequence) };
  });
}
