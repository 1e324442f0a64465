import { closeSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { dirname, relative, resolve, sep } from 'node:path';
import { errnoOf } from './unwritten.js';

/** What a file system says that keeps its folders in order by itself. */
const needless = ['EINVAL', 'ENOTSUP', 'EOPNOTSUPP', 'EBADF', 'ENOSYS'];

/** A file that was made, renamed or removed is so after a power cut only once its folder is flushed. */
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

/** The folder with the folders above it, each flushed into the one that holds it. */
export function makeFolder(folder: string, mode = 0o777): void {
  const first = mkdirSync(folder, { recursive: true, mode });
  if (first === undefined) return;
  const made = relative(first, resolve(folder));
  const above = dirname(first);
  const inside = made === '' ? [] : made.split(sep);
  const names = [relative(above, first), ...inside];
  for (let depth = 0; depth < names.length; depth++) syncFolder(resolve(above, ...names.slice(0, depth)));
}
