import { makeFolder } from '../../base/files/folder.js';
import { existsSync } from '../../base/platform/files.js';
import { basename, join, resolve } from '../../base/platform/paths.js';
import { readPolicy } from '../../data/terms/read.js';
import { isDatabase } from '../../policy/address.js';
import { backupLedger, type LedgerOptions } from '../api/ledger.js';
import { MadePolicies } from './made-policies.js';
import { serviceFolders } from './service-folders.js';

/** Ledger of a service, and the file it was copied to; no file before the first release. */
export interface ServiceBackup {
  readonly policy: string;
  readonly ledger: string;
  readonly file?: string;
}

/**
 * Copies the ledgers of a service's first policy and of all made in its console, each into a file in the folder. One failure does
 * not stop the others; the first fault is thrown at the end.
 */
export async function backupService(first: string, folder: string, options: LedgerOptions): Promise<readonly ServiceBackup[]> {
  const done = new Map<string, ServiceBackup>();
  const faults: unknown[] = [];
  for (const policy of [resolve(first), ...new MadePolicies(serviceFolders(first).made).list()])
    try {
      const { ledger } = await readPolicy(policy);
      if (!done.has(ledger)) done.set(ledger, { policy, ledger, ...(await copied(policy, ledger, resolve(folder), options)) });
    } catch (error) {
      faults.push(error);
    }
  if (faults.length > 0) throw faults[0];
  return [...done.values()];
}

async function copied(policy: string, ledger: string, folder: string, options: LedgerOptions): Promise<{ file?: string }> {
  if (!isDatabase(ledger) && !existsSync(ledger) && !existsSync(`${ledger}.chain`)) return {};
  const file = join(folder, `${basename(policy).replace(/\.ya?ml$/i, '')}.fugu`);
  makeFolder(folder, 0o700);
  await backupLedger(policy, file, options);
  return { file };
}
