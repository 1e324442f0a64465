import { Fault, type FaultCode } from '../errors.js';

const writeFailures: Readonly<Record<'full' | 'refused' | 'failed', readonly [FaultCode, string]>> = {
  full: ['DISK_FULL', 'there is no space left'],
  refused: ['READ_ONLY', 'it, or its folder, may not be written to'],
  failed: ['DISK_FAILED', 'the disk, or the system, reported an error'],
};
const byErrno: Readonly<Record<string, keyof typeof writeFailures>> = {
  ENOSPC: 'full',
  EDQUOT: 'full',
  EFBIG: 'full',
  EROFS: 'refused',
  EACCES: 'refused',
  EPERM: 'refused',
  EISDIR: 'refused',
  ENOTDIR: 'refused',
  ENOENT: 'refused',
  EEXIST: 'refused',
  ELOOP: 'refused',
  ENAMETOOLONG: 'refused',
  ETXTBSY: 'refused',
};

export const errnoOf = (error: unknown): string => (error as NodeJS.ErrnoException | undefined)?.code ?? '';

export const writeFaultCode = (error: unknown): FaultCode => writeFailures[byErrno[errnoOf(error)] ?? 'failed'][0];

/** Progress of a write, for the message when it fails. */
export interface WriteProgress {
  file: string;
  /** True once an existing file may have been replaced. */
  moved: boolean;
}

/** Fault that names the file and the cause of a failed write; errors that are not from the file system are returned unchanged. */
export function writeFault(error: unknown, { file, moved }: WriteProgress, hint: string): unknown {
  const errno = errnoOf(error);
  if (error instanceof Fault || !/^E[A-Z0-9]+$/.test(errno)) return error;
  const [code, why] = writeFailures[byErrno[errno] ?? 'failed'];
  const left = moved ? 'What is there now may be old or new.' : 'What was there before is unchanged.';
  return new Fault(code, `The file ${file} could not be written: ${why}.`, `${hint} ${left}`, {
    place: { file },
    details: { errno },
  });
}
