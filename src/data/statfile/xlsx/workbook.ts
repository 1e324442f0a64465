import { Fault } from '../../../base/errors.js';
import type { Bytes } from '../bytes.js';
import { XmlBroken, type XmlHandler, XmlReader } from '../xml.js';
import { broken, readZip, unzipped, type ZipEntry } from './zip.js';

/** Workbook parts needed to decode one sheet. */
export interface Workbook {
  readonly sheet: ZipEntry;
  /** Shared strings of the workbook; null for an empty one. */
  readonly strings: readonly (string | null)[];
  readonly styles: readonly NumberStyle[];
  readonly from1904: boolean;
}
export type NumberStyle = 'number' | 'date' | 'time';

/** Reads a file of the archive to its end. */
export async function readPart(
  bytes: Bytes,
  entry: ZipEntry,
  limit: 'workbookBytes' | 'sheetBytes',
  handler: XmlHandler,
): Promise<void> {
  for await (const _ of parsed(bytes, entry, limit, handler));
}

/** The same, resting after each piece. */
export async function* parsed(
  bytes: Bytes,
  entry: ZipEntry,
  limit: 'workbookBytes' | 'sheetBytes',
  handler: XmlHandler,
): AsyncGenerator<void> {
  const reader = new XmlReader(handler);
  try {
    for await (const piece of unzipped(bytes, entry, limit)) {
      reader.write(piece);
      yield;
    }
    reader.end();
  } catch (error) {
    throw error instanceof XmlBroken ? broken(bytes) : error;
  }
}

export async function readSheetNames(bytes: Bytes): Promise<readonly string[]> {
  const names: string[] = [];
  const entry = readZip(bytes).get('xl/workbook.xml');
  if (!entry) throw broken(bytes);
  await readPart(bytes, entry, 'workbookBytes', {
    start: (name, attribute) => {
      if (name === 'sheet') names.push(attribute('name') ?? '');
    },
  });
  return names;
}

export async function readWorkbook(bytes: Bytes, entries: ReadonlyMap<string, ZipEntry>, table?: string): Promise<Workbook> {
  const part = async (name: string, handler: XmlHandler): Promise<boolean> => {
    const entry = entries.get(name);
    if (entry) await readPart(bytes, entry, 'workbookBytes', handler);
    return entry !== undefined;
  };
  const sheets: { readonly name: string; readonly id: string }[] = [];
  let from1904 = false;
  const there = await part('xl/workbook.xml', {
    start: (name, attribute) => {
      if (name === 'workbookPr') from1904 = /^(1|true)$/.test(attribute('date1904') ?? '');
      if (name === 'sheet') sheets.push({ name: attribute('name') ?? '', id: attribute('r:id') ?? attribute('id') ?? '' });
    },
  });
  if (!there || sheets.length === 0) throw broken(bytes);
  const chosen = table === undefined ? sheets[0] : sheets.find(({ name }) => name === table);
  if (!chosen)
    throw new Fault(
      'DATA_NOT_FOUND',
      `The workbook has no sheet "${table}".`,
      `Its sheets: ${sheets.map(({ name }) => name).join(', ')}.`,
      { place: { file: bytes.path } },
    );
  let target: string | undefined;
  await part('xl/_rels/workbook.xml.rels', {
    start: (name, attribute) => {
      if (name === 'Relationship' && attribute('Id') === chosen.id) target = attribute('Target');
    },
  });
  const sheet =
    target === undefined
      ? undefined
      : entries.get(target.startsWith('/') ? target.slice(1) : `xl/${target.replace(/^\.\//, '')}`);
  if (!sheet) throw broken(bytes);
  return { sheet, strings: await readStrings(part), styles: await readStyles(part), from1904 };
}

type ReadPart = (name: string, handler: XmlHandler) => Promise<boolean>;

/** Text with its escapes read, or nothing. */
export const filled = (text: string): string | null => {
  const plain = text.replace(/_x([0-9A-F]{4})_/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
  return plain.trim() === '' ? null : plain;
};

async function readStrings(part: ReadPart): Promise<Workbook['strings']> {
  const strings: (string | null)[] = [];
  let text = '';
  let inText = false;
  let phonetic = 0;
  await part('xl/sharedStrings.xml', {
    start: (name) => {
      if (name === 'si') text = '';
      if (name === 'rPh') phonetic++;
      inText = name === 't' && phonetic === 0;
    },
    end: (name) => {
      if (name === 'rPh') phonetic--;
      if (name === 't') inText = false;
      if (name === 'si') strings.push(filled(text));
    },
    text: (piece) => {
      if (inText) text += piece;
    },
  });
  return strings;
}

/** Formats that come with every workbook. */
const builtIn = (id: number): NumberStyle => {
  if ((id >= 14 && id <= 17) || id === 22 || (id >= 27 && id <= 36) || (id >= 50 && id <= 58)) return 'date';
  return (id >= 18 && id <= 21) || (id >= 45 && id <= 47) ? 'time' : 'number';
};

/** No program writes longer formats; text after this length is ignored. */
const longestFormat = 1000;

/** A format is a date if it has letters of a date outside quotes and brackets. */
function styleOf(code: string): NumberStyle {
  const letters = code
    .slice(0, longestFormat)
    .replace(/"[^"]*"|\\.|_.|\*.|\[(?!h+\]|m+\]|s+\])[^\]]*\]/gi, '')
    .toLowerCase();
  if (/[yd]/.test(letters)) return 'date';
  if (/[hs]/.test(letters)) return 'time';
  return /m/.test(letters) ? 'date' : 'number';
}

async function readStyles(part: ReadPart): Promise<readonly NumberStyle[]> {
  const formats = new Map<number, NumberStyle>();
  const styles: NumberStyle[] = [];
  let inCells = false;
  await part('xl/styles.xml', {
    start: (name, attribute) => {
      const id = Number(attribute('numFmtId'));
      if (name === 'numFmt') formats.set(id, styleOf(attribute('formatCode') ?? ''));
      if (name === 'cellXfs') inCells = true;
      if (name === 'xf' && inCells) styles.push(formats.get(id) ?? builtIn(id));
    },
    end: (name) => {
      if (name === 'cellXfs') inCells = false;
    },
  });
  return styles;
}
