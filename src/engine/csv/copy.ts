import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { Fault } from '../../errors.js';
import { CellCutter, longestIn } from './cut.js';
import type { CsvHeader } from './header.js';
import { unpacked } from './text.js';

/**
 * Writes a CSV as DuckDB can read it to a private file of at most `most` bytes: bytes that are no UTF-8 become U+FFFD, cells that are too long end where
 * they get too long. Every other byte stays as it is, so that no cell decides how another is read.
 */
export async function copyReadable(
  path: string,
  to: string,
  { names, delimiter, before }: CsvHeader,
  most: number,
): Promise<void> {
  const cutter = new CellCutter(delimiter, longestIn(names.length), before);
  let left = most;
  const kept = (text: string): Buffer => {
    const bytes = Buffer.from(text, 'utf8');
    left -= bytes.length;
    if (left < 0) throw full();
    return bytes;
  };
  async function* readable() {
    const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
    for await (const block of unpacked(path)) yield kept(cutter.write(decoder.decode(block, { stream: true })));
    yield kept(cutter.write(decoder.decode()));
    yield kept(cutter.end());
  }
  try {
    await pipeline(readable(), createWriteStream(to, { mode: 0o600 }));
  } catch (error) {
    throw error instanceof Fault ? error : full();
  }
}

const full = (): Fault =>
  new Fault(
    'DISK_FULL',
    'There is not enough space for a readable copy of the data.',
    'Free disk space, raise the spill limit, or save the data as CSV in UTF-8.',
  );
