import { Fault } from '../../base/errors.js';
import { detectDelimiter, parseCsv } from '../../base/input/csv.js';
import { readNamedText, unreadableText } from '../../base/input/named-file.js';

/** A public CSV file as named columns of text. */
export interface CsvTable {
  readonly file: string;
  readonly names: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

export function readCsvTable(file: string): CsvTable {
  const text = readNamedText(
    file,
    'tableBytes',
    (why) =>
      new Fault('DATA_NOT_FOUND', `The file ${unreadableText[why]}.`, 'Check its path and permissions.', { place: { file } }),
  );
  const [header, ...rest] = parseCsv(text, detectDelimiter(text.split('\n', 1)[0] ?? '')) ?? [];
  const uneven = rest.find((row) => row.cells.length !== header!.cells.length);
  if (!header || uneven || rest.length === 0)
    throw new Fault(
      'DATA_MALFORMED',
      uneven ? 'A line has more or fewer cells than the first.' : 'The file holds no table.',
      'Its first line names the columns; every other line has one cell for each.',
      { place: { file, ...(uneven && { line: uneven.line }) } },
    );
  return { file, names: header.cells.map((n) => n.trim()), rows: rest.map(({ cells }) => cells.map((c) => c.trim())) };
}

/** The cells of one column; undefined when the table has no such column. */
export function columnOf(table: CsvTable, name: string): readonly string[] | undefined {
  const at = table.names.indexOf(name);
  return at < 0 ? undefined : table.rows.map((row) => row[at]!);
}

export function neededColumn(table: CsvTable, name: string): readonly string[] {
  const cells = columnOf(table, name);
  if (cells) return cells;
  throw new Fault('COLUMN_UNKNOWN', `The file has no column "${name}".`, `Its columns: ${table.names.join(', ')}.`, {
    place: { file: table.file },
  });
}

export function neededNumbers(table: CsvTable, name: string): readonly number[] {
  return neededColumn(table, name).map((cell, r) => {
    const x = Number(cell);
    if (cell !== '' && Number.isFinite(x)) return x;
    throw new Fault('DATA_MALFORMED', `Column "${name}" holds something that is not a number.`, 'Fill or remove the line.', {
      place: { file: table.file, line: r + 2 },
    });
  });
}
