import type { Cell, Chunk } from '../engine.js';
import { shortText } from '../short-text.js';
import type { PostgresField, RawRows } from './connection.js';

type Read = (written: string) => Cell;

/** Whole numbers as numbers where a number holds them exactly. */
const whole: Read = (written) => {
  const x = Number(written);
  return Number.isSafeInteger(x) ? x : BigInt(written);
};
/** Decimals come out of our statements as sums of whole numbers and as nothing else. */
const decimal: Read = (written) => (/^-?\d+$/.test(written) ? BigInt(written) : written);

const readers: Readonly<Record<number, Read>> = {
  16: (written) => written === 't',
  20: whole,
  21: Number,
  23: Number,
  700: Number,
  701: Number,
  1700: decimal,
};
const asText: Read = (written) => written;
const readerOf = ({ dataTypeID }: PostgresField): Read => readers[dataTypeID] ?? asText;

/** Counts come as large whole numbers from every engine. */
const counted = (field: PostgresField): Read => (field.dataTypeID === 20 ? BigInt : readerOf(field));

export function postgresRows({ fields, rows }: RawRows): readonly (readonly Cell[])[] {
  const readers = fields.map(counted);
  return rows.map((row) => row.map((written, c) => (written === null ? null : readers[c]!(written))));
}

/** Texts as numbers from 0 up, in the order in which they come. */
export class PostgresTextNumbers {
  readonly #known = new Map<string, number>();
  of(text: string): number {
    const key = shortText(text);
    const found = this.#known.get(key) ?? this.#known.size;
    if (found === this.#known.size) this.#known.set(key, found);
    return found;
  }
}

export function postgresChunk({ fields, rows }: RawRows, numbers?: PostgresTextNumbers): Chunk {
  const columns = fields.map((field, c) => {
    const read = numbers && isText(field) ? (written: string) => numbers.of(written) : readerOf(field);
    const cells: Cell[] = new Array(rows.length);
    for (let i = 0; i < rows.length; i++) {
      const written = rows[i]![c]!;
      cells[i] = written === null ? null : read(written);
    }
    return cells;
  });
  return { rows: rows.length, columns };
}
const isText = ({ dataTypeID }: PostgresField): boolean => readers[dataTypeID] === undefined;
