import type { Cell, Chunk } from '../engine.js';
import { chunkOf, decimalCell, rowsOf, wholeCell } from '../server-cells.js';
import type { PostgresField, RawRows } from './connection.js';

type Read = (written: string) => Cell;

const readers: Readonly<Record<number, Read>> = {
  16: (written) => written === 't',
  20: wholeCell,
  21: Number,
  23: Number,
  700: Number,
  701: Number,
  1700: decimalCell,
};
const asText: Read = (written) => written;
const readerOf = ({ dataTypeID }: PostgresField): Read => readers[dataTypeID] ?? asText;

/** Counts come as large whole numbers from every engine. */
const counted = (field: PostgresField): Read => (field.dataTypeID === 20 ? BigInt : readerOf(field));

export const postgresRows = ({ fields, rows }: RawRows): readonly (readonly Cell[])[] => rowsOf(rows, fields.map(counted));

/** `numbered`: texts as numbers. */
export function postgresChunk({ fields, rows }: RawRows, numbered?: (text: string) => number): Chunk {
  const isText = ({ dataTypeID }: PostgresField) => readers[dataTypeID] === undefined;
  return chunkOf(
    rows,
    fields.map((field) => (numbered && isText(field) ? numbered : readerOf(field))),
  );
}
