import { resolve } from 'node:path';
import { Fault } from '../errors.js';
import type { Ledger } from './ledger.js';

/** A path is a SQLite ledger; an address of a database server is for later. */
export async function openLedger(place: string): Promise<Ledger> {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(place))
    throw new Fault(
      'POLICY_INVALID',
      'A ledger on a database server is not built yet.',
      'Write "ledger: some/path/ledger.db"; every process that releases must see the same local disk.',
    );
  const { openSqliteLedger } = await import('./sqlite.js');
  return openSqliteLedger(resolve(place));
}
