import { Fault } from '../../../base/errors.js';
import { createWriteStream } from '../../../base/platform/files.js';
import { pipeline } from '../../../base/platform/streams.js';
import type { StatCell, StatFile } from '../../statfile/variable.js';
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
  async function* readable() {
    const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
    for await (const block of unpacked(path)) yield cutter.write(decoder.decode(block, { stream: true }));
    yield cutter.write(decoder.decode());
    yield cutter.end();
  }
  await writeText(readable(), to, most);
}

/** Writes a survey file as a CSV that DuckDB can read; true if some cell holds a line end. */
export async function copySurvey(
  { variables, blocks }: Pick<StatFile, 'variables' | 'blocks'>,
  to: string,
  most: number,
): Promise<boolean> {
  const longest = longestIn(variables.length);
  let folded = false;
  const cellText = (cell: StatCell): string => {
    if (typeof cell === 'number') return String(cell);
    if (cell === null) return '';
    // A cell that is too long is missing, whatever its content.
    if (cell.length * 3 > longest && Buffer.byteLength(cell) > longest) return 'x'.repeat(longest + 1);
    if (/[\r\n]/.test(cell)) folded = true;
    return `"${cell.replaceAll('"', '""')}"`;
  };
  async function* lines() {
    yield `${variables.map((v) => cellText(v.name)).join(',')}\n`;
    for await (const block of blocks()) {
      let text = '';
      for (let row = 0; row < block[0]!.length; row++) text += `${block.map((cells) => cellText(cells[row]!)).join(',')}\n`;
      yield text;
    }
  }
  await writeText(lines(), to, most);
  return folded;
}

export async function writeText(text: AsyncIterable<string>, to: string, most: number): Promise<void> {
  let left = most;
  async function* counted() {
    for await (const part of text) {
      left -= Buffer.byteLength(part);
      if (left < 0) throw full();
      yield part;
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
