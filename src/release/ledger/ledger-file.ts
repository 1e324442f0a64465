import { fchmodSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * A new file of a ledger: its owner's only, from the first byte on. A folder that lets its group write and hands that group on (chmod g+rws) says that the
 * accounts of the group share one ledger; files made in it are the group's to read and write, whatever the umask.
 */
export function makeLedgerFile(path: string, flags: 'wx' | 'ax'): number {
  const fd = openSync(path, flags, 0o600);
  if (isShared(dirname(path))) fchmodSync(fd, sharedMode);
  return fd;
}

/** Of what else is kept beside a ledger. */
export const modeBeside = (ledger: string): number => (isShared(dirname(ledger)) ? sharedMode : 0o600);

const sharedMode = 0o660;
const [handsOn, groupWrites] = [0o2000, 0o020];
const isShared = (folder: string): boolean => {
  const mode = statSync(folder, { throwIfNoEntry: false })?.mode ?? 0;
  return (mode & handsOn) !== 0 && (mode & groupWrites) !== 0;
};
