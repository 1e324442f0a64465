import { within } from '../../../base/input/limits.js';
import type { Bytes, Cursor } from '../bytes.js';
import { type Decode, untilNul, utf8, windows } from '../decode.js';
import { malformed } from '../malformed.js';

/** Layout of a Stata file, for both of its forms. */
export interface DtaLayout {
  readonly release: number;
  readonly little: boolean;
  readonly decode: Decode;
  readonly rows: number;
  readonly label: string;
  readonly columns: readonly DtaColumn[];
  readonly dataAt: number;
  /** Long texts; only newer files have them. */
  readonly strlsAt?: number;
  readonly labelsAt: number;
}

export interface DtaColumn {
  readonly name: string;
  readonly type: DtaType;
  readonly format: string;
  readonly labelSet: string;
  readonly label: string;
}

/** Bytes of text, one of the five numbers, or a reference to a long text. */
export type DtaType = number | 'byte' | 'int' | 'long' | 'float' | 'double' | 'strL';

/** Widths of the description fields, in bytes. */
interface Widths {
  readonly name: number;
  readonly format: number;
  readonly labelSet: number;
  readonly label: number;
}

export function readLayout(cursor: Cursor): DtaLayout {
  const first = cursor.take(1)[0]!;
  cursor.position = 0;
  return first === 0x3c ? readTagged(cursor) : readOld(cursor);
}

const unknown = (bytes: Bytes): Error =>
  malformed(
    bytes.path,
    'The file is not a Stata file of a release that is known.',
    'Releases 113 to 119 are read (Stata 8 and later).',
  );

const oldTypes: ReadonlyMap<number, DtaType> = new Map([
  [251, 'byte'],
  [252, 'int'],
  [253, 'long'],
  [254, 'float'],
  [255, 'double'],
]);

/** Stata 8 to 12: sections in sequence. */
function readOld(cursor: Cursor): DtaLayout {
  const { bytes } = cursor;
  const release = cursor.u8();
  if (release !== 113 && release !== 114 && release !== 115) throw unknown(bytes);
  const order = cursor.u8();
  if (order !== 1 && order !== 2) throw bytes.cutOff();
  cursor.little = order === 2;
  cursor.skip(2);
  const count = cursor.u16();
  const rows = cursor.u32();
  const label = untilNul(cursor.take(81), windows);
  cursor.skip(18);
  const types = [...cursor.take(count)].map((code): DtaType => {
    const type = code >= 1 && code <= 244 ? code : oldTypes.get(code);
    if (type === undefined) throw bytes.cutOff();
    return type;
  });
  const read = (width: number) => fields(cursor, count, width, windows);
  const names = read(33);
  cursor.skip(2 * (count + 1));
  const formats = read(release === 113 ? 12 : 49);
  const labelSets = read(33);
  const labels = read(81);
  for (;;) {
    const kind = cursor.u8();
    const length = cursor.u32();
    if (kind === 0 && length === 0) break;
    cursor.skip(length);
  }
  const columns = columnsOf(types, { names, formats, labelSets, labels });
  const dataAt = cursor.position;
  return {
    release,
    little: cursor.little,
    decode: windows,
    rows,
    label,
    columns,
    dataAt,
    labelsAt: dataAt + rows * rowBytes(columns),
  };
}

const newTypes: ReadonlyMap<number, DtaType> = new Map([
  [65530, 'byte'],
  [65529, 'int'],
  [65528, 'long'],
  [65527, 'float'],
  [65526, 'double'],
  [32768, 'strL'],
]);

/** Stata 13 and later: sections between tags, with a map of their offsets. */
function readTagged(cursor: Cursor): DtaLayout {
  const { bytes } = cursor;
  const expect = (tag: string): void => {
    if (cursor.take(tag.length).toString('latin1') !== tag) throw bytes.cutOff();
  };
  expect('<stata_dta><header><release>');
  const release = Number(cursor.take(3).toString('latin1'));
  if (release !== 117 && release !== 118 && release !== 119) throw unknown(bytes);
  expect('</release><byteorder>');
  const order = cursor.take(3).toString('latin1');
  if (order !== 'LSF' && order !== 'MSF') throw bytes.cutOff();
  cursor.little = order === 'LSF';
  const decode = release === 117 ? windows : utf8;
  expect('</byteorder><K>');
  const count = release === 119 ? cursor.u32() : cursor.u16();
  within('columns', count, { file: bytes.path }, 'The survey file');
  expect('</K><N>');
  const rows = release === 117 ? cursor.u32() : cursor.u64();
  expect('</N><label>');
  const label = untilNul(cursor.take(release === 117 ? cursor.u8() : cursor.u16()), decode);
  expect('</label><timestamp>');
  cursor.skip(cursor.u8());
  expect('</timestamp></header><map>');
  const map = Array.from({ length: 14 }, () => cursor.u64());
  const widths: Widths =
    release === 117 ? { name: 33, format: 49, labelSet: 33, label: 81 } : { name: 129, format: 57, labelSet: 129, label: 321 };
  // Read in sequence, not by the map: in some files of Stata 13 the map has the wrong offset for the labels.
  expect('</map><variable_types>');
  const types = Array.from({ length: count }, (): DtaType => {
    const code = cursor.u16();
    const type = code >= 1 && code <= 2045 ? code : newTypes.get(code);
    if (type === undefined) throw bytes.cutOff();
    return type;
  });
  const read = (tags: string, width: number): string[] => {
    expect(tags);
    return fields(cursor, count, width, decode);
  };
  const names = read('</variable_types><varnames>', widths.name);
  expect('</varnames><sortlist>');
  cursor.skip((release === 119 ? 4 : 2) * (count + 1));
  const formats = read('</sortlist><formats>', widths.format);
  const labelSets = read('</formats><value_label_names>', widths.labelSet);
  const labels = read('</value_label_names><variable_labels>', widths.label);
  const columns = columnsOf(types, { names, formats, labelSets, labels });
  /** The contents of a part of the map. */
  const enter = (part: number, tag: string): void => {
    const at = map[part]!;
    if (!(at >= 0 && at <= bytes.size)) throw bytes.cutOff();
    cursor.position = at;
    expect(tag);
  };
  enter(9, '<data>');
  const dataAt = cursor.position;
  enter(10, '<strls>');
  const strlsAt = cursor.position;
  enter(11, '<value_labels>');
  return { release, little: cursor.little, decode, rows, label, columns, dataAt, strlsAt, labelsAt: cursor.position };
}

type Fields = Readonly<Record<'names' | 'formats' | 'labelSets' | 'labels', readonly string[]>>;
const columnsOf = (types: readonly DtaType[], { names, formats, labelSets, labels }: Fields): readonly DtaColumn[] =>
  types.map((type, i) => ({ name: names[i]!, type, format: formats[i]!, labelSet: labelSets[i]!, label: labels[i]! }));

function fields(cursor: Cursor, count: number, width: number, decode: Decode): string[] {
  if (count * width > cursor.left) throw cursor.bytes.cutOff();
  return Array.from({ length: count }, () => untilNul(cursor.take(width), decode));
}

const sizes: Readonly<Record<Exclude<DtaType, number>, number>> = { byte: 1, int: 2, long: 4, float: 4, double: 8, strL: 8 };
export const typeSize = (type: DtaType): number => (typeof type === 'number' ? type : sizes[type]);
export const rowBytes = (columns: readonly DtaColumn[]): number => columns.reduce((sum, { type }) => sum + typeSize(type), 0);
