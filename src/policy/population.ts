import { realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** The path with every link resolved, as far as it exists: one file has one name however it was reached. */
export async function canonicalPath(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(await canonicalPath(parent), basename(path));
  }
}

/**
 * Whose budget a policy spends when it does not say: that of everybody in its data. It depends on the data alone, never on the policy's own name,
 * place, secret or unit, so that a copied or edited policy meets the account it started from (docs/decisions/0002).
 */
export const defaultPopulation = (canonicalSource: string, table: string | undefined): string =>
  `data:${canonicalSource}${table === undefined ? '' : `#${table}`}`;

/** Beside the data for the same reason. */
export const defaultLedger = (canonicalSource: string): string => join(dirname(canonicalSource), '.fugu', 'ledger.db');
