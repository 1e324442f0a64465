import { resolve } from 'node:path';
import { Fault } from '../errors.js';
import { commandWitness, type Witness } from './chain/witness.js';
import type { Ledger } from './ledger.js';

export interface Opening {
  /** A command that remembers the head of the chain elsewhere (witness.ts); otherwise what FUGU_WITNESS names. */
  readonly witness?: string;
}

/** A path is a SQLite ledger; an address of a database server is for later. */
export async function openLedger(place: string, { witness }: Opening = {}): Promise<Ledger> {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(place))
    throw new Fault(
      'POLICY_INVALID',
      'A ledger on a database server is not built yet.',
      'Write "ledger: some/path/ledger.db"; every process that releases must see the same local disk.',
    );
  const { openFileLedger } = await import('./file-ledger.js');
  return openFileLedger(resolve(place), witnessOf(witness));
}

export function witnessOf(command: string | undefined = process.env.FUGU_WITNESS): Witness | undefined {
  return command?.trim() ? commandWitness(command) : undefined;
}
