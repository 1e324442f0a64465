import { within } from '../../../base/input/limits.js';
import type { StatCellReader } from '../block.js';
import { type Decode, decoderOf, fieldText, windows } from '../decode.js';
import { isoDate, isoDateTime, isoTime, spssOrigin } from '../iso-dates.js';
import { malformed } from '../malformed.js';
import { codeOfNumber, type MissingRange, type StatCell, type StatVariable, spellRange } from '../variable.js';
import { extension, type SavRecords, type SavVariable } from './records.js';

/** Variables of a file, and the readers of their cells in the bytes of a row. */
export interface SavDictionary {
  readonly variables: readonly StatVariable[];
  readonly readers: readonly StatCellReader[];
  readonly label: string;
  readonly cases: number;
}

const systemMissing = -Number.MAX_VALUE;

/** The calendar formats of SPSS by their number; months, quarters and weeks stay the numbers they are. */
const kinds: ReadonlyMap<number, StatVariable['kind']> = new Map([
  [20, 'date'],
  [21, 'time'],
  [22, 'datetime'],
  [23, 'date'],
  [24, 'date'],
  [25, 'time'],
  [38, 'date'],
  [39, 'date'],
  [40, 'time'],
  [41, 'datetime'],
]);

const shows: Readonly<Record<Exclude<StatVariable['kind'], 'text'>, (x: number) => StatCell>> = {
  number: (x) => x,
  date: (x) => isoDate(spssOrigin + x),
  time: isoTime,
  datetime: (x) => isoDateTime(spssOrigin + x),
};

/** A variable with the further segments of a very long text. */
interface Whole {
  readonly first: SavVariable;
  readonly segments: readonly SavVariable[];
  readonly width: number;
}

const kindOf = ({ first }: Whole): StatVariable['kind'] =>
  first.width > 0 ? 'text' : (kinds.get((first.format >>> 16) & 0xff) ?? 'number');

export function readSavDictionary(records: SavRecords, little: boolean, path: string): SavDictionary {
  const decode = encodingOf(records, little, path);
  const text = (bytes: Buffer): string => fieldText(bytes, decode);
  const short = (v: SavVariable): string => text(v.name);
  const pairs = (subtype: number) => pairsOf(records.extensions.get(subtype), decode);
  const longNames = pairs(extension.longNames);
  const wholes = joined(records.variables, pairs(extension.longStrings), path);
  const names = wholes.map(({ first }) => longNames.get(keyOf(first)) ?? short(first));
  const number = (bytes: Buffer): number => (little ? bytes.readDoubleLE() : bytes.readDoubleBE());

  /** A value in the dictionary, as the data shows it. */
  const code = (bytes: Buffer, kind: StatVariable['kind']): string => {
    if (kind === 'text') return text(bytes);
    const shown = shows[kind](number(bytes));
    return typeof shown === 'number' ? codeOfNumber(shown) : (shown ?? '');
  };

  const byElement = new Map(wholes.map((whole, i) => [whole.first.element, i]));
  const labels = wholes.map(() => new Map<string, string>());
  /** Sets used by many variables are read once for each kind of variable. */
  for (const { values, elements } of records.labelSets) {
    const read = new Map<StatVariable['kind'], Map<string, string>>();
    for (const element of elements) {
      const at = byElement.get(element - 1);
      if (at === undefined) continue;
      const kind = kindOf(wholes[at]!);
      if (!read.has(kind)) read.set(kind, new Map(values.map(([value, label]) => [code(value, kind), text(label)])));
      labels[at] = read.get(kind)!;
    }
  }
  const byName = new Map(wholes.flatMap((whole, i) => [[names[i]!, i] as const, [short(whole.first), i] as const]));
  const longBook = records.extensions.get(extension.longLabels);
  for (const [name, book] of longBook ? longLabels(longBook, little, text, path) : []) {
    const at = byName.get(name);
    if (at !== undefined) labels[at] = book;
  }
  const longBreak = records.extensions.get(extension.longMissing);
  const missingText = longBreak ? longMissing(longBreak, little, text, path) : new Map<string, readonly string[]>();

  const variables = wholes.map((whole, i): StatVariable => {
    const { first } = whole;
    const kind = kindOf(whole);
    const declaredValue = first.label && text(first.label);
    const { missing, ranges } =
      kind === 'text'
        ? { missing: missingText.get(names[i]!) ?? first.missing.map(text), ranges: [] }
        : missingOf(first, number, (bytes) => code(bytes, kind), kind === 'number');
    return {
      name: names[i]!,
      kind,
      labels: labels[i]!,
      missing,
      ...(declaredValue && { label: declaredValue }),
      ...(ranges.length > 0 && { missingRanges: ranges }),
      ...(records.weight > 0 && first.element === records.weight - 1 && { weight: true }),
    };
  });
  const readers = wholes.map((whole, i) => readerOf(whole, variables[i]!.kind, little, decode));
  return { variables, readers, label: text(records.label), cases: casesOf(records, little) };
}

function readerOf(
  { first, segments, width }: Whole,
  kind: StatVariable['kind'],
  little: boolean,
  decode: Decode,
): StatCellReader {
  const at = first.element * 8;
  if (kind === 'text') {
    if (segments.length === 1) return (row) => fieldText(row.subarray(at, at + width), decode);
    // Each segment has 255 bytes, and text fills them all, whatever the sum of their widths.
    const places = segments.map((s) => s.element * 8);
    return (row) => fieldText(Buffer.concat(places.map((p) => row.subarray(p, p + 255))).subarray(0, width), decode);
  }
  const show = shows[kind];
  return (row) => {
    const x = little ? row.readDoubleLE(at) : row.readDoubleBE(at);
    return x === systemMissing || Number.isNaN(x) ? null : show(x);
  };
}

function missingOf(
  { missingForm, missing }: SavVariable,
  number: (bytes: Buffer) => number,
  code: (bytes: Buffer) => string,
  spelled: boolean,
): { missing: readonly string[]; ranges: readonly MissingRange[] } {
  if (missingForm >= 0) return { missing: missing.map(code), ranges: [] };
  const bound = (x: number) => (Math.abs(x) > 1.797693134862315e308 ? Math.sign(x) * Number.POSITIVE_INFINITY : x);
  const range = { low: bound(number(missing[0]!)), high: bound(number(missing[1]!)) };
  const spelt = spelled ? spellRange(range) : { missing: [], ranges: [range] };
  return { missing: [...spelt.missing, ...missing.slice(2).map(code)], ranges: spelt.ranges };
}

const keyOf = ({ name }: SavVariable): string => name.toString('latin1').replace(/ +$/, '');

/** Very long text is several variables in the file, one for every 252 bytes. */
function joined(variables: readonly SavVariable[], longStrings: ReadonlyMap<string, string>, path: string): readonly Whole[] {
  const wholes: Whole[] = [];
  for (let i = 0; i < variables.length; ) {
    const first = variables[i]!;
    const declaredValue = Number.parseInt(longStrings.get(keyOf(first)) ?? '', 10);
    const width = declaredValue > 255 ? declaredValue : first.width;
    const count = declaredValue > 255 ? Math.ceil(declaredValue / 252) : 1;
    const segments = variables.slice(i, i + count);
    if (segments.length !== count || (count > 1 && segments.some((s) => s.width === 0)))
      throw malformed(path, 'A long text of the SPSS file is not whole.');
    wholes.push({ first, segments, width });
    i += count;
  }
  return wholes;
}

/** `NAME=value` pairs in sequence, split by bytes: a name may end within a character. */
function pairsOf(bytes: Buffer | undefined, decode: Decode): ReadonlyMap<string, string> {
  const text = bytes?.toString('latin1') ?? '';
  return new Map(
    text.split('\t').flatMap((pair) => {
      const at = pair.indexOf('=');
      return at < 0 ? [] : [[pair.slice(0, at), fieldText(Buffer.from(pair.slice(at + 1), 'latin1'), decode)] as const];
    }),
  );
}

/** Numbers of code pages, where they have a name of their own. */
const pages: Readonly<Record<number, string>> = {
  1: 'ebcdic',
  2: 'windows-1252',
  3: 'windows-1252',
  4: 'euc-jp',
  866: 'ibm866',
  874: 'windows-874',
  932: 'shift_jis',
  936: 'gbk',
  949: 'euc-kr',
  950: 'big5',
  20866: 'koi8-r',
  21866: 'koi8-u',
  28591: 'iso-8859-1',
  28605: 'iso-8859-15',
  51932: 'euc-jp',
  51949: 'euc-kr',
  54936: 'gb18030',
  65001: 'utf-8',
};
const pageName = (page: number): string =>
  pages[page] ?? (page >= 28592 && page < 28606 ? `iso-8859-${page - 28590}` : `windows-${page}`);

function encodingOf({ extensions }: SavRecords, little: boolean, path: string): Decode {
  const named = extensions.get(extension.encoding)?.toString('latin1');
  const machine = extensions.get(extension.machine);
  if (named === undefined && (machine === undefined || machine.length < 32)) return windows;
  const label = named ?? pageName(little ? machine!.readInt32LE(28) : machine!.readInt32BE(28));
  const decode = decoderOf(label);
  if (decode) return decode;
  throw malformed(path, 'The encoding of the SPSS file is not known.', 'Save it in Unicode (UTF-8).');
}

function casesOf({ extensions, cases }: SavRecords, little: boolean): number {
  const extended = extensions.get(extension.cases);
  if (!extended || extended.length < 16) return cases;
  const count = Number(little ? extended.readBigInt64LE(8) : extended.readBigInt64BE(8));
  return cases >= 0 || count >= 0 ? Math.max(cases, count) : -1;
}

/** Reads lengths and what they are the length of, within one record. */
class Part {
  readonly #bytes: Buffer;
  readonly #little: boolean;
  readonly #path: string;
  #at = 0;
  constructor(bytes: Buffer, little: boolean, path: string) {
    this.#bytes = bytes;
    this.#little = little;
    this.#path = path;
  }
  get left(): number {
    return this.#bytes.length - this.#at;
  }
  take(length: number): Buffer {
    if (!(length >= 0 && length <= this.left)) throw malformed(this.#path, 'A record of the SPSS file is not whole.');
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }
  count(): number {
    const four = this.take(4);
    return (this.#little ? four.readInt32LE() : four.readInt32BE()) >>> 0;
  }
  next(): Buffer {
    return this.take(this.count());
  }
}

function* longLabels(
  bytes: Buffer,
  little: boolean,
  text: (bytes: Buffer) => string,
  file: string,
): Iterable<[string, Map<string, string>]> {
  const part = new Part(bytes, little, file);
  while (part.left > 0) {
    const name = text(part.next());
    part.count();
    const count = part.count();
    within('categories', count, { file });
    const book = new Map<string, string>();
    for (let i = 0; i < count; i++) book.set(text(part.next()), text(part.next()));
    yield [name, book];
  }
}

function longMissing(
  bytes: Buffer,
  little: boolean,
  text: (bytes: Buffer) => string,
  path: string,
): ReadonlyMap<string, readonly string[]> {
  const part = new Part(bytes, little, path);
  const found = new Map<string, readonly string[]>();
  while (part.left > 0) {
    const name = text(part.next());
    const count = part.take(1)[0]!;
    const length = part.count();
    found.set(
      name,
      Array.from({ length: count }, () => text(part.take(length))),
    );
  }
  return found;
}
