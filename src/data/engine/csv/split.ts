import { type FileHandle, open, rm } from '../../../base/platform/files.js';
import type { CsvHeader } from './header.js';
import { unpacked } from './text.js';

/** Some neighbouring columns of a CSV, in a file of their own. */
export interface CsvPart {
  readonly path: string;
  readonly names: readonly string[];
}

/**
 * Splits a wide CSV into files of some columns each, so that a reader need not scan all columns. Returns undefined, leaving
 * the file as it is, if any quote occurs, a line has another number of delimiters, or the parts take more than `most` bytes.
 */
export async function splitCsvColumns(
  path: string,
  { names, delimiter }: CsvHeader,
  { atOnce, most, to }: { readonly atOnce: number; readonly most: number; readonly to: (part: number) => string },
): Promise<readonly CsvPart[] | undefined> {
  // Parts of about one size: a part of one column would have empty lines.
  const width = Math.ceil(names.length / Math.ceil(names.length / atOnce));
  const parts = Array.from({ length: Math.ceil(names.length / width) }, (_, k) => ({
    path: to(k),
    names: names.slice(k * width, (k + 1) * width),
  }));
  const files: FileHandle[] = [];
  let simple = false;
  try {
    for (const part of parts) files.push(await open(part.path, 'w', 0o600));
    simple = await splitInto(
      unpacked(path),
      { columns: names.length, width, delimiter: delimiter.charCodeAt(0) },
      most,
      (part, bytes) => files[part]!.appendFile(bytes),
    );
  } catch {
    // No space for the parts: the file itself is used.
    simple = false;
  } finally {
    for (const file of files) await file.close();
    if (!simple) for (const part of parts) await rm(part.path, { force: true });
  }
  return simple ? parts : undefined;
}

const [feed, carriage, quote] = [0x0a, 0x0d, 0x22];
const lineEnd = Buffer.from('\n');

interface Layout {
  readonly columns: number;
  readonly width: number;
  readonly delimiter: number;
}

/** True if all of the input could be split. */
export async function splitInto(
  blocks: AsyncIterable<Buffer>,
  { columns, width, delimiter }: Layout,
  most: number,
  write: (part: number, bytes: Buffer) => Promise<void>,
): Promise<boolean> {
  const pending: Buffer[][] = Array.from({ length: Math.ceil(columns / width) }, () => []);
  let [column, begun, left] = [0, false, most];
  for await (const block of blocks) {
    left -= block.length;
    if (left < 0) return false;
    let start = 0;
    for (let i = 0; i < block.length; i++) {
      const byte = block[i]!;
      if (byte === delimiter) {
        if (++column >= columns) return false;
        if (column % width !== 0) continue;
        pending[column / width - 1]!.push(block.subarray(start, i), lineEnd);
        start = i + 1;
      } else if (byte === feed) {
        if (column !== columns - 1) return false;
        const end = i > start && block[i - 1] === carriage ? i - 1 : i;
        pending.at(-1)!.push(block.subarray(start, end), lineEnd);
        [start, column, begun] = [i + 1, 0, false];
        continue;
      } else if (byte === quote || (byte === carriage && block[i + 1] !== feed)) return false;
      begun = true;
    }
    if (start < block.length) pending[Math.floor(column / width)]!.push(block.subarray(start));
    for (const [part, pieces] of pending.entries()) {
      if (pieces.length > 0) await write(part, Buffer.concat(pieces));
      pieces.length = 0;
    }
  }
  if (!begun) return true;
  if (column !== columns - 1) return false;
  await write(pending.length - 1, lineEnd);
  return true;
}
