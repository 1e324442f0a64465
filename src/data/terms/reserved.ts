import { Fault } from '../../base/errors.js';
import { isReserved } from '../../privacy/mechanism/record-class.js';

/** A column or relation by such a name would be taken for every record, or for a note on how a cost was paid. */
export function refuseReserved(names: Iterable<string>, file: string): void {
  for (const name of names)
    if (isReserved(name))
      throw new Fault(
        'POLICY_INVALID',
        `The name "${name}" is one that the ledger uses itself.`,
        'Rename the column or relation.',
        { place: { file } },
      );
}
