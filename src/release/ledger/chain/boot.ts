import { readFileSync } from 'node:fs';
import { sha256 } from './chain.js';

/**
 * Stands for the machine running without interruption: what a process has written is then seen by every other, synced or not. Undefined where the system
 * does not say.
 */
export function bootOf(): string | undefined {
  try {
    const id = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id) ? sha256(`fugu boot ${id}`).slice(0, 32) : undefined;
  } catch {
    return undefined;
  }
}
