import { rowBlocks } from '../block.js';
import { type Bytes, Cursor } from '../bytes.js';
import { malformed } from '../malformed.js';
import type { StatFile } from '../variable.js';
import { chunksFrom, codedRows, inflatedBlocks, type NextRow, plainRows } from './cases.js';
import { readSavDictionary } from './dictionary.js';
import { readSavRecords } from './records.js';

/** SPSS .sav and .zsav. */
export function openSav(bytes: Bytes): Omit<StatFile, 'close'> {
  const cursor = new Cursor(bytes);
  const records = readSavRecords(cursor);
  const { little } = cursor;
  const { variables, readers, label, cases } = readSavDictionary(records, little, bytes.path);
  const rowBytes = records.elements * 8;
  const open = (): NextRow => {
    const data = new Cursor(bytes, records.dataAt);
    data.little = little;
    if (records.compression === 0) return plainRows(data, rowBytes);
    if (records.compression === 1) return codedRows(chunksFrom(data), rowBytes, records.bias, little);
    if (records.compression === 2) return codedRows(inflatedBlocks(bytes, data), rowBytes, records.bias, little);
    throw malformed(bytes.path, 'The SPSS file is packed in a way that is not known.');
  };
  const rows = cases >= 0 ? cases : counted(open());
  if (records.compression === 0 && rows * rowBytes > bytes.size - records.dataAt) throw bytes.cutOff();
  return {
    variables,
    rows,
    ...(label !== '' && { label }),
    async *blocks() {
      const next = open();
      yield* rowBlocks(readers, rows, rowBytes, () => {
        const row = next();
        if (!row) throw bytes.cutOff();
        return row;
      });
    },
  };
}

/** Programs that write as they go leave the number of rows open. */
function counted(next: NextRow): number {
  let rows = 0;
  while (next()) rows++;
  return rows;
}
