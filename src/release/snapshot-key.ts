import { createHmac } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { Fault } from '../errors.js';
import { cryptoBits } from '../noise/bits.js';

/**
 * A digest of the data would let anyone who holds the ledger and knows all records but one try values for the last. So requests are keyed by an
 * HMAC under a secret that lies beside the ledger (readable by its owner only) and never enters it, a receipt or a report.
 */
export function snapshotKey(ledger: string): (text: string) => string {
  const file = `${ledger}.key`;
  const key = existsSync(file) ? readFileSync(file) : createKey(file);
  if (key.length < 32)
    throw new Fault(
      'LEDGER_CORRUPT',
      'The key beside the ledger is damaged.',
      `Restore ${file} from a backup; without it answers cannot be replayed.`,
    );
  return (text) => createHmac('sha256', key).update(text).digest('hex');
}

function createKey(file: string): Buffer {
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(
      file,
      Uint8Array.from({ length: 32 }, () => cryptoBits.below(256)),
      { mode: 0o600, flag: 'wx' },
    );
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST')
      throw new Fault(
        'READ_ONLY',
        'The folder of the ledger cannot be written.',
        'Choose another place with ledger: in the policy.',
        { place: { file } },
      );
  }
  return readFileSync(file);
}
