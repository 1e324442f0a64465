import { Fault } from '../../../base/errors.js';
import { longestIn, longestLine } from './cut.js';
import type { CsvHeader } from './header.js';
import { TextCheck, unpacked } from './text.js';

/** Properties of a CSV, known after every byte was read. */
export interface CsvForm {
  readonly header: CsvHeader;
  /** All of it is UTF-8 and no cell is too long, so that DuckDB can be given the file itself. */
  readonly plain: boolean;
  /** Some cell holds a line end. One thread must read the file: a reader that starts in the middle cannot recognise it as part of a cell. */
  readonly folded: boolean;
  readonly records: number;
}

/**
 * Fault for a CSV whose lines cannot be separated or differ from the first in
 * their number of cells. It names no line: that would be data of a record.
 */
export const malformedLines = (file: string): Fault =>
  new Fault(
    'DATA_MALFORMED',
    'The lines of the data do not all have the form of the first.',
    'Every line needs as many cells as the first. Put quotes around cells that hold the delimiter, a line end or a quote, write the quote twice, and end every line alike.',
    { place: { file } },
  );

/** Scans every byte before DuckDB does: invalid UTF-8 can make it unusable, and lines longer than its buffers are dropped silently. */
export async function examineCsv(path: string, header: CsvHeader, file = path): Promise<CsvForm> {
  const text = new TextCheck();
  const lines = new LineScanner(header);
  for await (const block of unpacked(path)) {
    text.write(block);
    lines.write(block);
  }
  lines.end();
  if (lines.broken) throw malformedLines(file);
  return { header, plain: text.end() && !lines.long, folded: lines.folded, records: lines.records };
}

const [ordinary, delimiting, feed, carriage, quoting] = [0, 1, 2, 3, 4];
const space = 0x20;
const mostSpaces = 100;

/**
 * Finds the lines and cells of a CSV in its bytes as DuckDB does: a quote
 * counts at the start of a cell or after one space; elsewhere it is a letter.
 */
export class LineScanner {
  readonly #kinds = new Uint8Array(256);
  readonly #columns: number;
  readonly #longest: number;
  readonly #longestLine: number;
  #state: 'bare' | 'quoted' | 'closed' = 'bare';
  /** Bytes before this block, and where the current cell and line begin. */
  #before = 0;
  #cell = 0;
  #line = 0;
  /** The last byte before this block. */
  #last = 0;
  #return = -1;
  /** Offset after the closing quote of the cell. */
  #closed = -1;
  /** Bytes of the line once its long cells are cut. */
  #cut = 0;
  /** Lines that are not records: the names, and lines before them. */
  #heads: number;
  long = false;
  broken = false;
  folded = false;
  records = 0;

  constructor({ names, delimiter, before }: CsvHeader) {
    this.#heads = before + 1;
    this.#kinds[delimiter.charCodeAt(0)] = delimiting;
    this.#kinds[0x0a] = feed;
    this.#kinds[0x0d] = carriage;
    this.#kinds[0x22] = quoting;
    this.#columns = names.length;
    this.#longest = longestIn(names.length);
    this.#longestLine = longestLine(names.length);
  }

  write(block: Buffer): void {
    const kinds = this.#kinds;
    for (let i = 0; i < block.length; i++) {
      const kind = kinds[block[i]!]!;
      if (kind === ordinary && this.#state !== 'closed') continue;
      this.#step(block, i, kind);
    }
    this.#last = block.at(-1) ?? this.#last;
    this.#before += block.length;
  }

  end(): void {
    if (this.#state === 'quoted') this.broken = true;
    if (this.#before > this.#line) this.#endLine(this.#before);
  }

  #step(block: Buffer, i: number, kind: number): void {
    const at = this.#before + i;
    if (this.#state === 'quoted') {
      if (kind === feed || kind === carriage) this.folded = true;
      if (kind !== quoting) return;
      this.#state = 'closed';
      this.#closed = at;
      return;
    }
    if (kind === quoting) {
      const behind = at - this.#cell;
      if (this.#state === 'closed' || behind === 0 || (behind === 1 && (block[i - 1] ?? this.#last) === space))
        this.#state = 'quoted';
      return;
    }
    if (kind === ordinary) {
      if (block[i] !== space) this.broken = true;
      return;
    }
    this.#state = 'bare';
    if (kind === delimiting) this.#endCell(at);
    else if (kind === feed && this.#return === at - 1) this.#cell = this.#line = at + 1;
    else this.#endLine(at);
    if (kind === carriage) this.#return = at;
  }

  #endCell(at: number): void {
    const length = at - this.#cell;
    if (length > this.#longest && this.#heads === 0) this.long = true;
    // Spaces after the closing quote are not part of the cell, so they cannot be cut.
    if (this.#closed >= 0 && at - this.#closed > mostSpaces) this.broken = true;
    this.#closed = -1;
    this.#cut += Math.min(length, 2 * this.#longest + 10) + 1;
    this.#cell = at + 1;
  }

  #endLine(at: number): void {
    this.#endCell(at);
    if (this.#cut > this.#longestLine && this.#heads === 0) this.broken = true;
    // An empty line is a record where it can be one: with a single, empty cell.
    if (this.#heads > 0) this.#heads--;
    else if (at > this.#line || this.#columns === 1) this.records++;
    this.#line = at + 1;
    this.#cut = 0;
  }
}
