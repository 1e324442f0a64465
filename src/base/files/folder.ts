import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, statSync } from '../platform/files.js';
import { dirname, resolve } from '../platform/paths.js';
import { errnoOf } from './write-fault.js';

/** Error codes of file systems that cannot flush a folder and do not need it. */
const needless = ['EINVAL', 'ENOTSUP', 'EOPNOTSUPP', 'EBADF', 'ENOSYS'];

/** Flushes a folder: without this, creating, renaming or removing a file in it may not survive a power cut. */
export function syncFolder(folder: string): void {
  if (process.platform === 'win32') return;
  const opened = openSync(folder, 'r');
  try {
    fsyncSync(opened);
  } catch (error) {
    if (!needless.includes(errnoOf(error))) throw error;
  } finally {
    closeSync(opened);
  }
}

/**
 * Creates a folder and its parents, flushing each parent. One at a time, because Node's recursive mkdir does not report why it
 * failed.
 */
export function makeFolder(folder: string, mode = 0o777): void {
  const missing: string[] = [];
  for (let at = resolve(folder); !existsSync(at); at = dirname(at)) missing.unshift(at);
  for (const at of missing.length > 0 ? missing : [folder]) {
    try {
      mkdirSync(at, { mode });
    } catch (error) {
      if (errnoOf(error) !== 'EEXIST' || !statSync(at).isDirectory()) throw error;
      continue;
    }
    syncFolder(dirname(at));
  }
}
