import { createHmac } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, mkdirSync, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { Fault } from '../errors.js';
import { cryptoBits } from '../noise/bits.js';

/**
 * A digest of the data would let anyone who holds the ledger and knows all records but one try values for the last. So requests are keyed by an
 * HMAC under a secret that lies beside the ledger (readable by its owner only) and never enters it, a receipt or a report.
 */
export function snapshotKey(ledger: string): (text: string) => string {
  const file = `${ledger}.key`;
  const key = readKey(file);
  return (text) => createHmac('sha256', key).update(text).digest('hex');
}

const keys = new Map<string, { readonly mark: string; readonly key: Buffer }>();

/** Read again only when the file is another one than before. */
function readKey(file: string): Buffer {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false });
  const mark = found && [found.ino, found.size, found.mtimeNs, found.ctimeNs].join(':');
  const known = keys.get(file);
  if (known && known.mark === mark) return known.key;
  const key = found ? readFileSync(file) : createKey(file);
  if (key.length < 32)
    throw new Fault(
      'LEDGER_CORRUPT',
      'The key beside the ledger is damaged.',
      `Restore ${file} from a backup; without it answers cannot be replayed.`,
    );
  if (mark !== undefined) keys.set(file, { mark, key });
  return key;
}

/** Written whole under a name of its own, then linked into place: whoever comes second, even in the same instant, reads the first one's key. */
function createKey(file: string): Buffer {
  const key = Uint8Array.from({ length: 32 }, () => cryptoBits.below(256));
  const draft = `${file}.${process.pid}.${cryptoBits.below(2 ** 48)}`;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    const opened = openSync(draft, 'wx', 0o600);
    try {
      writeSync(opened, key);
      fsyncSync(opened);
    } finally {
      closeSync(opened);
    }
    linkSync(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST')
      throw new Fault(
        'READ_ONLY',
        'The folder of the ledger cannot be written.',
        'Choose another place with ledger: in the policy.',
        { place: { file } },
      );
  } finally {
    rmSync(draft, { force: true });
  }
  return readFileSync(file);
}
