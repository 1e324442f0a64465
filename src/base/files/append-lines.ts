import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFolder, syncFolder } from './folder.js';
import { unwritten } from './unwritten.js';

/** File that only grows, one line at a time. */
export interface Lines {
  /** Handed to the operating system before this returns. */
  add(line: string): void;
  /** Safe from a power cut. */
  sync(): void;
  close(): void;
}

export function appendLines(file: string, hint: string): Lines {
  const told = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      throw unwritten(error, { file, moved: false }, hint);
    }
  };
  const fd = told(() => {
    makeFolder(dirname(file));
    const opened = openSync(file, 'a', 0o600);
    syncFolder(dirname(file));
    return opened;
  });
  return {
    add: (line) => told(() => writeWholly(fd, Buffer.from(`${line}\n`))),
    sync: () => told(() => fdatasyncSync(fd)),
    close: () => told(() => closeSync(fd)),
  };
}

function writeWholly(fd: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
}
