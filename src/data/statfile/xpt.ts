import { within } from '../../base/input/limits.js';
import { rowBlocks, type StatCellReader } from './block.js';
import { type Bytes, Cursor } from './bytes.js';
import { type Decode, fieldText, windows } from './decode.js';
import { isoDate, isoDateTime, isoTime, statOrigin } from './iso-dates.js';
import { malformed } from './malformed.js';
import type { StatCell, StatFile, StatVariable } from './variable.js';

const line = 80;
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
/** Transport files declare no encoding: text that is valid UTF-8 is read as such, any other as Windows-1252. */
const guessed: Decode = (bytes) => {
  try {
    return strict.decode(bytes);
  } catch {
    return windows(bytes);
  }
};

interface Column {
  readonly at: number;
  readonly width: number;
  readonly text: boolean;
  name: string;
  label: string;
  readonly format: string;
}

/** SAS transport files of version 5 and 8 that hold one table. */
export function openXpt(bytes: Bytes): Omit<StatFile, 'close'> {
  const cursor = new Cursor(bytes);
  cursor.little = false;
  const broken = () =>
    malformed(
      bytes.path,
      'The file is not a SAS transport file.',
      'Versions 5 and 8 are read, as PROC COPY and %LOC2XPT write them.',
    );
  const header = (...names: string[]): string => {
    const text = cursor.take(line).toString('latin1');
    const name = /^HEADER RECORD\*{7}(\w+) +HEADER RECORD!{7}/.exec(text)?.[1];
    if (name === undefined || !names.includes(name)) throw broken();
    return text;
  };
  const library = header('LIBRARY', 'LIBV8');
  const newer = library.includes('LIBV8');
  cursor.skip(2 * line);
  const member = header('MEMBER', 'MEMBV8');
  const namestr = Number(member.slice(74, 78)) || 140;
  if (namestr !== 140 && namestr !== 136) throw broken();
  header('DSCRPTR', 'DSCPTV8');
  cursor.skip(line);
  const label = fieldText(cursor.take(line).subarray(32, 72), guessed);
  const count = Number(header('NAMESTR', 'NAMSTV8').slice(53, 58).trim());
  if (!Number.isInteger(count) || count < 1) throw broken();
  within('columns', count, { file: bytes.path }, 'The survey file');
  if (count * namestr > cursor.left) throw bytes.cutOff();
  let at = 0;
  const columns = Array.from({ length: count }, (): Column => {
    const column = readNamestr(Buffer.from(cursor.take(namestr)), at, newer, broken);
    at += column.width;
    return column;
  });
  align(cursor);
  readLongLabels(cursor, columns, header, newer);
  const rowBytes = at;
  const dataAt = cursor.position;
  const rows = countRows(bytes, dataAt, rowBytes);
  const variables = columns.map(
    ({ name, label, text, format }): StatVariable => ({
      name,
      kind: text ? 'text' : kindOf(format),
      labels: new Map(),
      missing: [],
      ...(label !== '' && { label }),
    }),
  );
  const readers = columns.map((column, i) => readerOf(column, variables[i]!.kind));
  return {
    variables,
    rows,
    ...(label !== '' && { label }),
    async *blocks() {
      const data = new Cursor(bytes, dataAt);
      yield* rowBlocks(readers, rows, rowBytes, () => data.take(rowBytes));
    },
  };
}

const align = (cursor: Cursor): void => cursor.skip((line - (cursor.position % line)) % line);

function readNamestr(bytes: Buffer, at: number, newer: boolean, broken: () => Error): Column {
  const type = bytes.readInt16BE(0);
  const width = bytes.readInt16BE(4);
  if ((type !== 1 && type !== 2) || width < 1 || (type === 1 && width > 8)) throw broken();
  const long = newer ? fieldText(bytes.subarray(88, 120), guessed) : '';
  return {
    at,
    width,
    text: type === 2,
    name: long || fieldText(bytes.subarray(8, 16), guessed),
    label: fieldText(bytes.subarray(16, 56), guessed),
    format: fieldText(bytes.subarray(56, 64), guessed),
  };
}

/** Version 8 stores names and labels that do not fit after the descriptions. */
function readLongLabels(
  cursor: Cursor,
  columns: readonly Column[],
  header: (...names: string[]) => string,
  newer: boolean,
): void {
  const text = header('OBS', 'OBSV8', 'LABELV8', 'LABELV9');
  const kind = /LABELV[89]/.exec(text)?.[0];
  if (!newer || kind === undefined) return;
  const count = Number(text.slice(48).trim().split(/\s/)[0]?.slice(0, 5)) || Number.parseInt(text.slice(48), 10);
  for (let i = 0; i < Math.min(count, columns.length); i++) {
    const column = columns[cursor.u16() - 1];
    const lengths = Array.from({ length: kind === 'LABELV8' ? 2 : 4 }, () => cursor.u16());
    const parts = lengths.map((length) => fieldText(cursor.take(length), guessed));
    if (!column) throw cursor.bytes.cutOff();
    column.name = parts[0] || column.name;
    column.label = parts.at(-1) || column.label;
  }
  align(cursor);
  header('OBS', 'OBSV8');
}

const blank = 0x20;
const mark = Buffer.from('HEADER RECORD*******MEM');

/** Rows fill the file to its end, padded with blanks: blank rows at the end are no records. */
function countRows(bytes: Bytes, dataAt: number, rowBytes: number): number {
  const cursor = new Cursor(bytes, dataAt);
  while (cursor.left >= line)
    if (cursor.take(line).subarray(0, mark.length).equals(mark))
      throw malformed(bytes.path, 'The SAS transport file holds several tables.', 'Export one table per file.');
  let rows = Math.floor((bytes.size - dataAt) / rowBytes);
  while (rows > 0 && bytes.at(dataAt + (rows - 1) * rowBytes, rowBytes).every((byte) => byte === blank)) rows--;
  return rows;
}

function kindOf(format: string): StatVariable['kind'] {
  const name = format.toUpperCase().replace(/[\d.]+$/, '');
  if (/^(DATE|(MMDD|DDMM)YY[BCDNPS]?|YYMMDD[BDNPS]?|WEEKDAT[EX]|E8601DA|B8601DA)$/.test(name)) return 'date';
  if (/^(DATETIME|E8601DT|B8601DT|DATEAMPM)$/.test(name)) return 'datetime';
  return /^(TIME|HHMM|TIMEAMPM|E8601TM)$/.test(name) ? 'time' : 'number';
}

const shows: Readonly<Record<Exclude<StatVariable['kind'], 'text'>, (x: number) => StatCell>> = {
  number: (x) => x,
  date: (x) => isoDate(statOrigin + Math.trunc(x) * 86_400),
  time: isoTime,
  datetime: (x) => isoDateTime(statOrigin + x),
};

function readerOf({ at, width, text }: Column, kind: StatVariable['kind']): StatCellReader {
  if (text) return (row) => fieldText(row.subarray(at, at + width), guessed);
  const show = shows[kind as keyof typeof shows];
  return (row) => {
    const x = ibmDouble(row, at, width);
    return x === null ? null : show(x);
  };
}

/** Base 16, seven bits of exponent, up to 56 of mantissa; a letter, a dot or an underscore before zeros means missing. */
function ibmDouble(row: Buffer, at: number, width: number): number | null {
  const first = row[at]!;
  let mantissa = 0;
  for (let i = 1; i < width; i++) mantissa = mantissa * 256 + row[at + i]!;
  if (mantissa === 0) return first === 0 || first === 0x80 ? 0 : null;
  const exponent = (first & 0x7f) - 64;
  const size = mantissa * 2 ** (4 * exponent - 8 * (width - 1));
  return first >= 0x80 ? -size : size;
}
