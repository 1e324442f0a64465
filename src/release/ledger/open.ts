import { resolve } from '../../base/platform/paths.js';
import { isDatabase } from '../../policy/address.js';
import { commandWitness, type Witness } from './chain/witness.js';
import type { Ledger } from './ledger.js';

export interface OpenLedgerOptions {
  /** Command that remembers the head of the chain elsewhere (witness.ts); default: FUGU_WITNESS. */
  readonly witness?: string;
}

/** A path names a ledger in two files, an address one in a database. */
export async function openLedger(place: string, { witness }: OpenLedgerOptions = {}): Promise<Ledger> {
  if (isDatabase(place)) {
    const { openServerLedger } = await import('./postgres/server-ledger.js');
    return openServerLedger(place, witnessOf(witness));
  }
  const { openFileLedger } = await import('./file-ledger.js');
  return openFileLedger(resolve(place), witnessOf(witness));
}

export function witnessOf(command: string | undefined = process.env.FUGU_WITNESS): Witness | undefined {
  return command?.trim() ? commandWitness(command) : undefined;
}
