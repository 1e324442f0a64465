import { rowsAtOnce } from '../block.js';
import type { Bytes } from '../bytes.js';
import { malformed } from '../malformed.js';
import { codeOfNumber, type StatCell, type StatFile, type StatVariable } from '../variable.js';
import type { XmlHandler } from '../xml.js';
import { sheetHandler } from './sheet.js';
import { parsed, readPart, readSheetNames, readWorkbook } from './workbook.js';
import { readZip } from './zip.js';

/**
 * One sheet of an Excel workbook: its first row names the columns, every further row that holds anything is a record. A column of a sheet has no type, so
 * each is text, like that of a CSV; its numbers and dates are written as such.
 */
export async function openXlsx(bytes: Bytes, { table }: { readonly table?: string }): Promise<Omit<StatFile, 'close'>> {
  const book = await readWorkbook(bytes, readZip(bytes), table);
  const broken = brokenSheet(bytes);
  let header: readonly StatCell[] | undefined;
  let rows = 0;
  const merges = new HeaderMerges();
  const count = (cells: readonly StatCell[]) => {
    if (header) rows++;
    else if (cells.length > 0) {
      header = cells;
      merges.isHeader();
    }
  };
  await readPart(bytes, book.sheet, 'sheetBytes', merges.observe(sheetHandler(book, count, broken)));
  if (merges.found)
    throw malformed(
      bytes.path,
      'The first row of the sheet has merged cells: its columns are named in several rows, or below a title.',
      'Unmerge them, write one name above each column in one row, and delete the other rows above the records.',
    );
  if (!header) throw malformed(bytes.path, 'The sheet of the workbook is empty.', 'Its first row must name the columns.');
  // Cells beyond the header are ignored: one extra cell must not add a column to every record.
  const width = header.length;
  const variables = Array.from(
    { length: width },
    (_, i): StatVariable => ({ name: nameOf(header![i]) || `column_${i + 1}`, kind: 'text', labels: new Map(), missing: [] }),
  );
  return {
    variables,
    rows,
    async *blocks() {
      const most = rowsAtOnce(width, 0);
      let block: StatCell[][] = variables.map(() => []);
      let named = false;
      const full: StatCell[][][] = [];
      const add = (cells: readonly StatCell[]) => {
        if (!named) {
          named = cells.length > 0;
          return;
        }
        for (let c = 0; c < width; c++) block[c]!.push(cells[c] ?? null);
        if (block[0]!.length < most) return;
        full.push(block);
        block = variables.map(() => []);
      };
      for await (const _ of parsed(bytes, book.sheet, 'sheetBytes', sheetHandler(book, add, broken))) yield* full.splice(0);
      if (block[0]!.length > 0) full.push(block);
      yield* full;
    },
  };
}

const brokenSheet = (bytes: Bytes) => () =>
  malformed(bytes.path, 'The sheet of the workbook cannot be read.', 'Save it again as .xlsx, or as CSV.');

/** Detects merged cells in the header row, which then does not name every column. Merged cells in other rows are ignored. */
class HeaderMerges {
  #row = 0;
  #header = 0;
  found = false;

  isHeader(): void {
    this.#header = this.#row;
  }

  /** Merged cells are listed after all rows. */
  observe(handler: XmlHandler): XmlHandler {
    return {
      ...handler,
      start: (name, attribute) => {
        if (name === 'row') this.#row = Number(attribute('r') ?? this.#row + 1);
        else if (name === 'mergeCell') this.#see(attribute('ref') ?? '');
        handler.start?.(name, attribute);
      },
    };
  }

  #see(area: string): void {
    const [, from, first, to, last] = /^([A-Z]+)(\d+):([A-Z]+)(\d+)$/.exec(area) ?? [];
    if (Number(first) === this.#header && (from !== to || first !== last)) this.found = true;
  }
}

/** Parts of a workbook that are not read: other sheets, and cells beyond the header if most rows have them (it is then a title). */
export interface Unread {
  readonly sheets: readonly string[];
  readonly beyond: boolean;
  /** Columns without a name in the first row. */
  readonly nameless: number;
}

/** Only for the steward: no release may depend on it, because one record can decide what holds for most rows. */
export async function unreadIn(bytes: Bytes, table?: string): Promise<Unread> {
  const book = await readWorkbook(bytes, readZip(bytes), table);
  let [width, rows, wider, nameless] = [0, 0, 0, 0];
  const see = (cells: readonly StatCell[]) => {
    if (width === 0) {
      width = cells.length;
      nameless = Array.from(cells, nameOf).filter((name) => name === '').length;
    } else {
      rows++;
      if (cells.length > width) wider++;
    }
  };
  await readPart(bytes, book.sheet, 'sheetBytes', sheetHandler(book, see, brokenSheet(bytes)));
  const names = await readSheetNames(bytes);
  return { sheets: names.filter((name) => name !== (table ?? names[0])), beyond: 2 * wider > rows, nameless };
}

const nameOf = (cell: StatCell | undefined): string => (typeof cell === 'number' ? codeOfNumber(cell) : (cell ?? '').trim());
