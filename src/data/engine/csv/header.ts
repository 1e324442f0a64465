import { Fault } from '../../../base/errors.js';
import { detectDelimiter, parseCsv } from '../../../base/input/csv.js';
import { createGunzip } from '../../../base/platform/compression.js';
import { createReadStream } from '../../../base/platform/files.js';
import { isPacked } from './text.js';

export interface CsvHeader {
  readonly names: readonly string[];
  readonly delimiter: string;
  /** Lines before the names: spreadsheets write "sep=;" there. */
  readonly before: number;
}

const longest = 4 << 20;

/** The names in the first line of a path; `file` is what people call it. A nameless column gets its position (R and pandas write one for the row number). */
export async function readCsvHeader(path: string, file = path): Promise<CsvHeader> {
  const malformed = (message: string, hint: string) => new Fault('DATA_MALFORMED', message, hint, { place: { file, line: 1 } });
  const first = await lineAt(path, 0, malformed);
  const declared = separatorLine.exec(first)?.[1];
  const line = declared === undefined ? first : await lineAt(path, 1, malformed);
  const delimiter = declared ?? detectDelimiter(line);
  const cells = parseCsv(line, delimiter)?.[0]?.cells;
  if (!cells)
    throw malformed(
      'The first line of the data does not name columns.',
      'The first line of a CSV holds the names of its columns.',
    );
  const names = cells.map((cell, i) => cell.trim() || `column_${i + 1}`);
  const seen = new Set<string>();
  for (const [i, name] of names.entries()) {
    const folded = name.toLowerCase();
    if (seen.has(folded))
      throw malformed(
        `Column ${i + 1} of the data has the same name as an earlier one.`,
        'Names must differ in more than upper and lower case.',
      );
    seen.add(folded);
  }
  return { names, delimiter, before: declared === undefined ? 0 : 1 };
}

type Malformed = (message: string, hint: string) => Fault;

/** Separator line that spreadsheets write above the names; no cells are read from it. */
const separatorLine = /^\ufeff?"?sep=([,;\t|])"?$/i;

/** The first line, or the second after a separator line. */
async function lineAt(path: string, skip: number, malformed: Malformed): Promise<string> {
  const file = createReadStream(path, { highWaterMark: 1 << 16 });
  const source = isPacked(path) ? file.pipe(createGunzip()) : file;
  const blocks: Buffer[] = [];
  let size = 0;
  let quoted = false;
  let left = skip;
  try {
    for await (const whole of source as AsyncIterable<Buffer>) {
      let block = whole;
      for (let i = 0; i < block.length; i++) {
        const byte = block[i]!;
        if (byte === 0)
          throw malformed(
            'The data is not text.',
            'Save it as CSV in UTF-8, or say what it is written in (data: {encoding: utf-16}).',
          );
        if (byte === 0x22) quoted = !quoted;
        else if (byte === 0x0a && !quoted && size + i > 0) {
          if (left === 0) return decode(Buffer.concat([...blocks, block.subarray(0, i)]), malformed);
          left--;
          blocks.length = size = 0;
          block = block.subarray(i + 1);
          i = -1;
        }
      }
      blocks.push(block);
      size += block.length;
      if (size > longest) throw malformed('The first line of the data never ends.', 'Is this a CSV file?');
    }
  } catch (error) {
    if (error instanceof Fault) throw error;
    throw new Fault('DATA_MALFORMED', 'The data file cannot be unpacked or read.', 'Check that the .gz file is whole.', {
      place: { file: path },
    });
  } finally {
    source.destroy();
    file.destroy();
  }
  if (quoted) throw malformed('A quote in the first line is never closed.', 'Every " needs its partner.');
  return decode(Buffer.concat(blocks), malformed);
}

function decode(bytes: Buffer, malformed: Malformed): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes).replace(/\r$/, '');
  } catch {
    throw malformed(
      'The names of the columns are not written in UTF-8.',
      'Say what they are written in (data: {encoding: windows-1252}), or save the data as CSV in UTF-8.',
    );
  }
}
