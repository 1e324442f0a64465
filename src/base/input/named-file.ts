import { gunzipSync } from '../platform/compression.js';
import { closeSync, constants, fstatSync, openSync, readSync } from '../platform/files.js';
import { exceeded, type LimitName, limits, within } from './limits.js';

/** Reason why a named file cannot be read; every reader has its own message and code for it. */
export type UnreadableReason = 'not a file' | 'unreadable';
export const unreadableText: Readonly<Record<UnreadableReason, string>> = {
  'not a file': 'is not a regular file',
  unreadable: 'cannot be read',
};

/**
 * Opens a regular file, also through links. Devices, pipes, sockets and folders are refused, because reading them may never end.
 */
export function openNamed(
  file: string,
  fault: (why: UnreadableReason) => Error,
): { readonly handle: number; readonly size: number } {
  let handle: number;
  try {
    // Without O_NONBLOCK the opening of a pipe would wait for its writer.
    handle = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0));
  } catch {
    throw fault('unreadable');
  }
  const found = fstatSync(handle);
  if (found.isFile()) return { handle, size: found.size };
  closeSync(handle);
  throw fault('not a file');
}

/** Content of a whole file. */
export function readNamed(file: string, limit: LimitName, fault: (why: UnreadableReason) => Error): Buffer {
  const { handle, size } = openNamed(file, fault);
  try {
    within(limit, size, { file });
    return readAll({ handle, size }, file, limit, fault);
  } finally {
    closeSync(handle);
  }
}

/** Counts the bytes it reads, because the reported size of a file can be wrong (files under /proc report 0). */
function readAll(
  { handle, size }: ReturnType<typeof openNamed>,
  file: string,
  limit: LimitName,
  fault: (why: UnreadableReason) => Error,
): Buffer {
  const most = limits[limit].most;
  const blocks: Buffer[] = [];
  let total = 0;
  for (;;) {
    const block = Buffer.allocUnsafe(Math.max(4096, Math.min(2 ** 20, size + 1 - total)));
    let got: number;
    try {
      got = readSync(handle, block);
    } catch {
      throw fault('unreadable');
    }
    if (got === 0) return blocks.length === 1 ? blocks[0]! : Buffer.concat(blocks);
    blocks.push(block.subarray(0, got));
    total += got;
    if (total > most) throw exceeded(limit, total, { file });
  }
}

export const readNamedText = (file: string, limit: LimitName, fault: (why: UnreadableReason) => Error): string =>
  readNamed(file, limit, fault).toString('utf8');

/** The same, unpacked where the name ends in .gz. */
export function readPackedText(file: string, limit: LimitName, fault: (why: UnreadableReason) => Error): string {
  const bytes = readNamed(file, limit, fault);
  if (!/\.gz$/i.test(file)) return bytes.toString('utf8');
  try {
    return gunzipSync(bytes, { maxOutputLength: limits.unpackedBytes.most }).toString('utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE')
      throw exceeded('unpackedBytes', Number.POSITIVE_INFINITY, { file });
    throw fault('unreadable');
  }
}
