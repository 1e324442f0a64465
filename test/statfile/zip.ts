import { constants, deflateRawSync } from 'node:zlib';

/** Packed text. */
export interface Packed {
  readonly packed: Buffer;
}

/** The same text so many times, packed: small here, large where it is unpacked. */
export function repeated(before: string, text: string, times: number): Packed {
  const piece = (part: string) => deflateRawSync(Buffer.from(part), { finishFlush: constants.Z_FULL_FLUSH });
  return {
    packed: Buffer.concat([piece(before), ...new Array<Buffer>(times).fill(piece(text)), deflateRawSync(Buffer.alloc(0))]),
  };
}

/** A zip archive of these files, as a workbook is one. */
export function zipOf(parts: Readonly<Record<string, Buffer | string | Packed>>): Buffer {
  const blocks: Buffer[] = [];
  const list: Buffer[] = [];
  let at = 0;
  for (const [name, content] of Object.entries(parts)) {
    const data =
      typeof content === 'object' && 'packed' in content
        ? content.packed
        : deflateRawSync(Buffer.from(content as string), { level: 1 });
    const own = Buffer.from(name);
    const head = Buffer.alloc(30);
    head.writeUInt32LE(0x04034b50, 0);
    head.writeUInt16LE(8, 8);
    head.writeUInt32LE(data.length, 18);
    head.writeUInt16LE(own.length, 26);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(8, 10);
    entry.writeUInt32LE(data.length, 20);
    entry.writeUInt16LE(own.length, 28);
    entry.writeUInt32LE(at, 42);
    blocks.push(head, own, data);
    list.push(entry, own);
    at += head.length + own.length + data.length;
  }
  const entries = Buffer.concat(list);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(Object.keys(parts).length, 10);
  end.writeUInt32LE(entries.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...blocks, entries, end]);
}

/** A workbook of one sheet with this XML. */
export const workbookOf = (sheet: string | Packed, more: Readonly<Record<string, string | Packed>> = {}): Buffer =>
  zipOf({
    'xl/workbook.xml': '<workbook xmlns:r="x"><sheets><sheet name="One" sheetId="1" r:id="rId1"/></sheets></workbook>',
    'xl/_rels/workbook.xml.rels': '<Relationships><Relationship Id="rId1" Target="worksheets/sheet1.xml"/></Relationships>',
    'xl/worksheets/sheet1.xml': sheet,
    ...more,
  });
