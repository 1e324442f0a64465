import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { Fault } from '../errors.js';
import { CellCutter, longestIn } from './csv-cut.js';
import type { CsvHeader } from './csv-header.js';
import { unpacked } from './csv-text.js';

/** The text of a CSV as DuckDB can read it: bytes that are no UTF-8 become U+FFFD, cells that are too long end where they get too long. */
async function* readable(path: string, cutter: CellCutter): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  for await (const block of unpacked(path)) yield cutter.write(decoder.decode(block, { stream: true }));
  yield cutter.write(decoder.decode());
}
const cutterFor = ({ names, delimiter }: CsvHeader): CellCutter => new CellCutter(delimiter, longestIn(names.length));

/** Whether a cell is longer than cells may be, in a file whose quotes make sense up to there. */
export async function hasLongCell(path: string, header: CsvHeader): Promise<boolean> {
  const cutter = cutterFor(header);
  for await (const _ of readable(path, cutter)) if (cutter.cut || cutter.broken) break;
  return cutter.cut && !cutter.broken;
}

/** Writes the readable text to a private file of at most `most` bytes. Every other byte stays as it is, so that no cell says what another is read as. */
export async function copyReadable(path: string, to: string, header: CsvHeader, most: number): Promise<void> {
  let left = most;
  async function* counted() {
    for await (const text of readable(path, cutterFor(header))) {
      const bytes = Buffer.from(text, 'utf8');
      left -= bytes.length;
      if (left < 0) throw full();
      yield bytes;
    }
  }
  try {
    await pipeline(counted(), createWriteStream(to, { mode: 0o600 }));
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
