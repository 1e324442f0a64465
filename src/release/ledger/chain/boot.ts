import { readFileSync } from '../../../base/platform/files.js';
import { sha256 } from '../../../base/platform/hash.js';

/**
 * Identifies the current boot of the machine: under one boot all processes see each other's writes, synced or not.
 * Undefined where the system does not provide it.
 */
export function bootOf(): string | undefined {
  try {
    const id = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id) ? sha256(`fugu boot ${id}`).slice(0, 32) : undefined;
  } catch {
    return undefined;
  }
}
