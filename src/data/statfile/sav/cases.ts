import { inflateSync } from '../../../base/platform/compression.js';
import type { Bytes, Cursor } from '../bytes.js';
import { malformed } from '../malformed.js';

/** Gives the bytes of one row after the other, and nothing after the last. The bytes stay what they are until the next call. */
export type NextRow = () => Buffer | undefined;

export const plainRows = (cursor: Cursor, rowBytes: number): NextRow => {
  return () => (cursor.left < rowBytes ? undefined : cursor.take(rowBytes));
};

const [padding, end, literal, blanks, nothing] = [0, 252, 253, 254, 255];
const spaces = Buffer.alloc(8, 0x20);

/** Rows decompressed from SPSS's own format: eight one-byte instructions, then eight bytes for each instruction that announces them. */
export function codedRows(input: () => Buffer | undefined, rowBytes: number, bias: number, little: boolean): NextRow {
  const row = Buffer.alloc(rowBytes);
  const number = (x: number): Buffer => {
    const bytes = Buffer.alloc(8);
    if (little) bytes.writeDoubleLE(x);
    else bytes.writeDoubleBE(x);
    return bytes;
  };
  const ready: readonly Buffer[] = Array.from({ length: 256 }, (_, code) => {
    if (code === blanks) return spaces;
    return number(code === nothing ? -Number.MAX_VALUE : code - bias);
  });
  let bytes: Buffer = Buffer.alloc(0);
  let at = 0;
  const codes: Buffer = Buffer.alloc(8);
  let code = 8;
  let over = false;
  const eight = (): Buffer | undefined => {
    while (bytes.length - at < 8) {
      const more = input();
      if (!more) return undefined;
      bytes = at < bytes.length ? Buffer.concat([bytes.subarray(at), more]) : more;
      at = 0;
    }
    at += 8;
    return bytes.subarray(at - 8, at);
  };
  return () => {
    for (let filled = 0; filled < rowBytes; ) {
      if (over) return undefined;
      if (code === 8) {
        const more = eight();
        if (!more) return undefined;
        // A copy: the next eight bytes may be read over these.
        more.copy(codes);
        code = 0;
      }
      const instruction = codes[code++]!;
      if (instruction === padding) continue;
      if (instruction === end) {
        over = true;
        return undefined;
      }
      const cell = instruction === literal ? eight() : ready[instruction]!;
      if (!cell) return undefined;
      cell.copy(row, filled);
      filled += 8;
    }
    return row;
  };
}

const chunk = 1 << 18;

export const chunksFrom = (cursor: Cursor) => (): Buffer | undefined =>
  cursor.left === 0 ? undefined : cursor.take(Math.min(chunk, cursor.left));

/** No program writes blocks larger than 4 MB. */
const mostBlock = 64 << 20;

/** The blocks of a .zsav file, each inflated when it is its turn. */
export function inflatedBlocks(bytes: Bytes, cursor: Cursor): () => Buffer | undefined {
  const broken = () => malformed(bytes.path, 'The packed part of the SPSS file is broken.', 'Fetch or save it again.');
  cursor.skip(8);
  cursor.position = checked(cursor.u64(), bytes, broken);
  cursor.skip(20);
  const count = cursor.i32();
  if (count < 0 || count * 24 > cursor.left) throw broken();
  const table = cursor.position;
  const { little } = cursor;
  let block = 0;
  return () => {
    if (block === count) return undefined;
    cursor.little = little;
    cursor.position = table + 24 * block++ + 8;
    const from = checked(cursor.u64(), bytes, broken);
    const [inflated, packed] = [cursor.i32(), cursor.i32()];
    if (inflated < 0 || inflated > mostBlock || packed < 0) throw broken();
    const input = bytes.at(from, packed);
    try {
      const output = inflateSync(input, { maxOutputLength: Math.max(1, inflated) });
      if (output.length === inflated) return output;
    } catch {
      // The fault below covers it.
    }
    throw broken();
  };
}

function checked(position: number, bytes: Bytes, broken: () => Error): number {
  if (!(position >= 0 && position <= bytes.size)) throw broken();
  return position;
}
