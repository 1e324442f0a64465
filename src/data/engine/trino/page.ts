import type { Cell, Chunk } from '../engine.js';
import { chunkOf, decimalCell, rowsOf, wholeCell } from '../server-cells.js';
import { broken } from './fault.js';

/** One response of the coordinator: some rows, the address of the next page, and the state. */
export interface TrinoPage {
  readonly id: string;
  readonly next?: string;
  readonly columns?: readonly TrinoField[];
  readonly rows: readonly (readonly unknown[])[];
  readonly state: string;
  readonly error?: string;
}
export interface TrinoField {
  readonly name: string;
  /** As it would be written in SQL: `bigint`, `decimal(38,0)`, `varchar(3)`. */
  readonly type: string;
}

/** Start of a text, or a whole number that a double may not hold; digits after a point or before an exponent belong to a double. */
const textOrLong = /"|(?<![\d.])-?\d{16,}(?![\d.eE])/g;
const perhapsLong = /\d{16}/;

/** Long whole numbers as text. Texts are skipped letter by letter: a pattern for a whole text overflows on a long cell. */
function longAsText(text: string): string {
  const parts: string[] = [];
  let from = 0;
  textOrLong.lastIndex = 0;
  for (let found = textOrLong.exec(text); found; found = textOrLong.exec(text)) {
    if (found[0] === '"') {
      textOrLong.lastIndex = endOfText(text, found.index + 1);
      continue;
    }
    parts.push(text.slice(from, found.index), '"', found[0], '"');
    from = textOrLong.lastIndex;
  }
  return parts.length === 0 ? text : `${parts.join('')}${text.slice(from)}`;
}
/** Index after the first quote that is not escaped by a backslash. */
function endOfText(text: string, from: number): number {
  for (let at = text.indexOf('"', from); at >= 0; at = text.indexOf('"', at + 1)) {
    let before = at;
    while (before > from && text[before - 1] === '\\') before--;
    if ((at - before) % 2 === 0) return at + 1;
  }
  return text.length;
}

export function readPage(text: string): TrinoPage {
  let value: unknown;
  try {
    value = JSON.parse(perhapsLong.test(text) ? longAsText(text) : text);
  } catch {
    throw broken();
  }
  if (!isRecord(value) || typeof value.id !== 'string' || !isRecord(value.stats) || typeof value.stats.state !== 'string')
    throw broken();
  const { id, nextUri, columns, data, error, stats } = value;
  if (columns !== undefined && !isFields(columns)) throw broken();
  if (data !== undefined && !(Array.isArray(data) && data.every((row) => Array.isArray(row)))) throw broken();
  return {
    id,
    ...(typeof nextUri === 'string' && { next: nextUri }),
    ...(columns !== undefined && { columns }),
    rows: data ?? [],
    state: stats.state as string,
    ...(error !== undefined &&
      error !== null && { error: isRecord(error) && typeof error.errorName === 'string' ? error.errorName : 'UNKNOWN' }),
  };
}
const isRecord = (x: unknown): x is Record<string, unknown> => typeof x === 'object' && x !== null && !Array.isArray(x);
const isFields = (x: unknown): x is TrinoField[] =>
  Array.isArray(x) && x.every((f) => isRecord(f) && typeof f.name === 'string' && typeof f.type === 'string');

type Read = (value: unknown) => Cell;

const asJson: Read = (value) => (typeof value === 'boolean' || typeof value === 'string' ? value : JSON.stringify(value));

const readerOf = ({ type }: TrinoField): Read => {
  if (/^(bigint|integer|smallint|tinyint)$/.test(type)) return wholeCell;
  // NaN and infinities come as text.
  if (/^(double|real)$/.test(type)) return Number;
  return type.startsWith('decimal') ? (value) => decimalCell(value as string) : asJson;
};
/** Counts come as large whole numbers from every engine. */
const counted = (field: TrinoField): Read =>
  field.type === 'bigint' ? (value) => BigInt(value as string | number) : readerOf(field);

type Rows = TrinoPage['rows'];

export const trinoRows = (fields: readonly TrinoField[], rows: Rows): readonly (readonly Cell[])[] =>
  rowsOf(complete(fields, rows), fields.map(counted));

/** `numbered`: texts as numbers. */
export function trinoChunk(fields: readonly TrinoField[], rows: Rows, numbered?: (text: string) => number): Chunk {
  const readers = fields.map((field): Read => {
    const isText = /^(varchar|char)\b/.test(field.type);
    return numbered && isText ? (value) => numbered(value as string) : readerOf(field);
  });
  return chunkOf(complete(fields, rows), readers);
}

function complete(fields: readonly TrinoField[], rows: Rows): Rows {
  if (rows.some((row) => row.length !== fields.length)) throw broken();
  return rows;
}
