import { within } from '../../../base/input/limits.js';
import type { Bytes, Cursor } from '../bytes.js';
import { untilNul } from '../decode.js';
import type { DtaLayout } from './layout.js';

/** Codes are whole numbers; those above this are the missing codes . and .a to .z. */
export const largestLong = 2_147_483_620;
export type LabelSet = ReadonlyMap<number, string>;

/** All value label sets in use, by name. */
export function readLabelSets(
  cursor: Cursor,
  { release, decode, labelsAt }: DtaLayout,
  used: ReadonlySet<string>,
): ReadonlyMap<string, LabelSet> {
  const { bytes } = cursor;
  const tagged = release >= 117;
  const nameWidth = release >= 118 ? 129 : 33;
  const sets = new Map<string, LabelSet>();
  if (!(labelsAt <= bytes.size)) throw bytes.cutOff();
  cursor.position = labelsAt;
  for (;;) {
    within('dictionaryBytes', cursor.position - labelsAt, { file: bytes.path });
    if (tagged) {
      const tag = cursor.take(5).toString('latin1');
      if (tag === '</val') return sets;
      if (tag !== '<lbl>') throw bytes.cutOff();
    } else if (cursor.left === 0) return sets;
    const length = cursor.u32();
    const name = untilNul(cursor.take(nameWidth), decode);
    cursor.skip(3);
    const end = cursor.position + length;
    if (end > bytes.size) throw bytes.cutOff();
    if (used.has(name)) sets.set(name, readSet(cursor, length, decode, bytes));
    cursor.position = end;
    if (tagged) cursor.skip(6);
  }
}

function readSet(cursor: Cursor, length: number, decode: DtaLayout['decode'], bytes: Bytes): LabelSet {
  const count = cursor.u32();
  const textBytes = cursor.u32();
  if (8 + 8 * count + textBytes > length) throw bytes.cutOff();
  within('categories', count, { file: bytes.path });
  const offsets = Array.from({ length: count }, () => cursor.u32());
  const values = Array.from({ length: count }, () => cursor.i32());
  const text = cursor.take(textBytes);
  return new Map(
    values.map((value, i) => {
      const from = offsets[i]!;
      if (from > textBytes) throw bytes.cutOff();
      const end = text.indexOf(0, from);
      return [value, decode(text.subarray(from, end < 0 ? textBytes : end))] as const;
    }),
  );
}
