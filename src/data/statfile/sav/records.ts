import { within } from '../../../base/input/limits.js';
import type { Cursor } from '../bytes.js';
import { malformed } from '../malformed.js';

/** Dictionary of an SPSS system file as stored: texts are still bytes, because the encoding is declared last. */
export interface SavRecords {
  readonly compression: number;
  /** Position of the weight among the elements of a row, from one; 0 for none. */
  readonly weight: number;
  readonly cases: number;
  readonly bias: number;
  readonly label: Buffer;
  readonly variables: readonly SavVariable[];
  /** 8 bytes each; what a row is made of. */
  readonly elements: number;
  readonly labelSets: readonly SavLabels[];
  /** Records of type 7 by their number. */
  readonly extensions: ReadonlyMap<number, Buffer>;
  readonly dataAt: number;
}

export interface SavVariable {
  /** Position of its first element, from zero. */
  readonly element: number;
  /** 0 for a number, else bytes of text. */
  readonly width: number;
  readonly name: Buffer;
  readonly label?: Buffer;
  /** Of which -2 and -3 begin with a range. */
  readonly missingForm: number;
  readonly missing: readonly Buffer[];
  readonly format: number;
}

export interface SavLabels {
  readonly values: readonly (readonly [value: Buffer, label: Buffer])[];
  /** Positions of elements, from one. */
  readonly elements: readonly number[];
}

const copy = (bytes: Buffer): Buffer => Buffer.from(bytes);
const padded = (length: number, unit: number): number => Math.ceil(length / unit) * unit;

export function readSavRecords(cursor: Cursor): SavRecords {
  const { path } = cursor.bytes;
  const magic = cursor.take(4).toString('latin1');
  if (magic !== '$FL2' && magic !== '$FL3')
    throw malformed(path, 'The file is not an SPSS system file.', 'A .sav file is saved by SPSS, PSPP, R (haven) or pyreadstat.');
  cursor.skip(60);
  const layout = cursor.take(4);
  cursor.little = layout.readInt32LE() === 2 || layout.readInt32LE() === 3;
  if (!cursor.little && layout.readInt32BE() !== 2 && layout.readInt32BE() !== 3)
    throw malformed(path, 'The SPSS file has a form that is not known.');
  cursor.skip(4);
  const compression = cursor.i32();
  const weight = cursor.i32();
  const cases = cursor.i32();
  const bias = cursor.f64();
  cursor.skip(17);
  const label = copy(cursor.take(64));
  cursor.skip(3);
  const found = readDictionary(cursor);
  return { compression, weight, cases, bias, label, ...found, dataAt: cursor.position };
}

type Dictionary = Pick<SavRecords, 'variables' | 'elements' | 'labelSets' | 'extensions'>;

function readDictionary(cursor: Cursor): Dictionary {
  const { path } = cursor.bytes;
  const from = cursor.position;
  const variables: SavVariable[] = [];
  const labelSets: SavLabels[] = [];
  const extensions = new Map<number, Buffer>();
  let elements = 0;
  /** Elements that the text before them still has to fill. */
  let owed = 0;
  for (;;) {
    within('dictionaryBytes', cursor.position - from, { file: path });
    const kind = cursor.i32();
    if (kind === 999) break;
    if (kind === 2) {
      const variable = readVariable(cursor, elements++);
      if (variable ? owed !== 0 : owed === 0) throw cursor.bytes.cutOff();
      owed = variable ? Math.ceil(variable.width / 8) - (variable.width > 0 ? 1 : 0) : owed - 1;
      if (variable) variables.push(variable);
    } else if (kind === 3) labelSets.push(readLabels(cursor));
    else if (kind === 6) cursor.skip(80 * cursor.u32());
    else if (kind === 7) {
      const subtype = cursor.i32();
      const size = cursor.u32() * cursor.u32();
      if (unread.has(subtype)) extensions.set(subtype, copy(cursor.take(size)));
      else cursor.skip(size);
    } else throw malformed(path, 'The dictionary of the SPSS file cannot be read.');
  }
  cursor.skip(4);
  if (owed !== 0) throw cursor.bytes.cutOff();
  return { variables, elements, labelSets, extensions };
}

/** The numbers of the extension records that say something here. */
export const extension = {
  machine: 3,
  longNames: 13,
  longStrings: 14,
  cases: 16,
  encoding: 20,
  longLabels: 21,
  longMissing: 22,
} as const;
const unread: ReadonlySet<number> = new Set(Object.values(extension));

/** Nothing for the further elements of a text. */
function readVariable(cursor: Cursor, element: number): SavVariable | undefined {
  const width = cursor.i32();
  const hasLabel = cursor.i32();
  const missingForm = cursor.i32();
  const format = cursor.u32();
  cursor.skip(4);
  const name = copy(cursor.take(8));
  if (width < -1 || width > 255 || Math.abs(missingForm) > 3 || missingForm === -1 || hasLabel < 0 || hasLabel > 1)
    throw cursor.bytes.cutOff();
  let label: Buffer | undefined;
  if (hasLabel === 1) {
    const length = cursor.u32();
    label = copy(cursor.take(padded(length, 4)).subarray(0, length));
  }
  const missing = Array.from({ length: Math.abs(missingForm) }, () => copy(cursor.take(8)));
  if (width < 0) return undefined;
  return { element, width, name, missingForm, missing, format, ...(label && { label }) };
}

function readLabels(cursor: Cursor): SavLabels {
  const { path } = cursor.bytes;
  const count = cursor.u32();
  within('categories', count, { file: path });
  const values: (readonly [Buffer, Buffer])[] = [];
  for (let i = 0; i < count; i++) {
    const value = copy(cursor.take(8));
    const length = cursor.u8();
    values.push([value, copy(cursor.take(padded(length + 1, 8) - 1).subarray(0, length))]);
  }
  if (cursor.i32() !== 4) throw cursor.bytes.cutOff();
  const users = cursor.u32();
  if (users * 4 > cursor.left) throw cursor.bytes.cutOff();
  return { values, elements: Array.from({ length: users }, () => cursor.i32()) };
}
