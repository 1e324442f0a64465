import { Fault } from '../errors.js';

/** In profiles and in the ledger, stands for every record. */
export const everyRecord = '*';

/** Notes on how a cost was paid stand beside the classes of records: `used:…`, `levels:…`, `sums:…` (condition.ts); `once:…` may be paid one time only. */
export const isMark = (name: string): boolean => /^(used|once|levels|sums):/.test(name);

/** A column or relation by such a name would be taken for every record, or for a note on how a cost was paid. */
export function refuseReserved(names: Iterable<string>, file: string): void {
  for (const name of names)
    if (name === everyRecord || isMark(name))
      throw new Fault(
        'POLICY_INVALID',
        `The name "${name}" is one that the ledger uses itself.`,
        'Rename the column or relation.',
        { place: { file } },
      );
}
