import { fchmodSync, openSync, statSync } from '../../base/platform/files.js';
import { dirname } from '../../base/platform/paths.js';

/**
 * Creates a ledger file, private to its owner from the first byte. In a folder that its group can write and hands on
 * (chmod g+rws), the group shares the ledger: the file is the group's to read and write, whatever the umask.
 */
export function makeLedgerFile(path: string, flags: 'wx' | 'ax'): number {
  const fd = openSync(path, flags, 0o600);
  if (isShared(dirname(path))) fchmodSync(fd, sharedMode);
  return fd;
}

/** Mode of the other files kept next to a ledger. */
export const siblingFileMode = (ledger: string): number => (isShared(dirname(ledger)) ? sharedMode : 0o600);

const sharedMode = 0o660;
const [handsOn, groupWrites] = [0o2000, 0o020];
const isShared = (folder: string): boolean => {
  const mode = statSync(folder, { throwIfNoEntry: false })?.mode ?? 0;
  return (mode & handsOn) !== 0 && (mode & groupWrites) !== 0;
};
