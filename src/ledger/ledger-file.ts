import { fchmodSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * A new file of a ledger: its owner's only, from the first byte on. A folder that lets its group write and hands that group on (chmod g+rws) says that the
 * accounts of the group share one ledger; files made in it are the group's to read and write, whatever the umask.
 */
export function makeLedgerFile(path: string, flags: 'wx' | 'ax'): number {
  const fd = openSync(path, flags, 0o600);
  if (isShared(dirname(path))) fchmodSync(fd, 0o660);
  return fd;
}

const [handsOn, groupWrites] = [0o2000, 0o020];
const isShared = (folder: string): boolean => {
  const { mode } = statSync(folder);
  return (mode & handsOn) !== 0 && (mode & groupWrites) !== 0;
};
