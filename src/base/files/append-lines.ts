import { closeSync, fdatasyncSync, openSync, writeSync } from '../platform/files.js';
import { dirname } from '../platform/paths.js';
import { makeFolder, syncFolder } from './folder.js';
import { writeFault } from './write-fault.js';

/** File that only grows, one line at a time. */
export interface AppendLog {
  /** Handed to the operating system before this returns. */
  add(line: string): void;
  /** Safe from a power cut. */
  sync(): void;
  close(): void;
}

export function appendLines(file: string, hint: string): AppendLog {
  const withWriteFault = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      throw writeFault(error, { file, moved: false }, hint);
    }
  };
  const fd = withWriteFault(() => {
    makeFolder(dirname(file));
    const opened = openSync(file, 'a', 0o600);
    syncFolder(dirname(file));
    return opened;
  });
  return {
    add: (line) => withWriteFault(() => writeWholly(fd, Buffer.from(`${line}\n`))),
    sync: () => withWriteFault(() => fdatasyncSync(fd)),
    close: () => withWriteFault(() => closeSync(fd)),
  };
}

function writeWholly(fd: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
}
