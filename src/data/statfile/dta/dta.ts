import { rowBlocks, type StatCellReader } from '../block.js';
import { type Bytes, Cursor } from '../bytes.js';
import { untilNul } from '../decode.js';
import { isoDate, isoDateTime, isoTime, statOrigin } from '../iso-dates.js';
import { codeOfNumber, type StatCell, type StatFile, type StatVariable } from '../variable.js';
import { type LabelSet, largestLong, readLabelSets } from './labels.js';
import { type DtaColumn, type DtaLayout, type DtaType, readLayout, rowBytes, typeSize } from './layout.js';
import { LongTexts } from './long-texts.js';

/** Stata .dta, releases 113 to 119. */
export function openDta(bytes: Bytes): Omit<StatFile, 'close'> {
  const cursor = new Cursor(bytes);
  const layout = readLayout(cursor);
  const length = rowBytes(layout.columns);
  const { rows, dataAt } = layout;
  if (!(rows * length <= bytes.size - dataAt)) throw bytes.cutOff();
  const used = new Set(layout.columns.map((c) => c.labelSet).filter((name) => name !== ''));
  const sets = readLabelSets(cursor, layout, used);
  const books = new Map<string, Map<string, string>>();
  const variables = layout.columns.map((column) => variableOf(column, sets, books));
  const texts = layout.columns.some((c) => c.type === 'strL') ? new LongTexts(cursor, layout) : undefined;
  const readers = readersOf(layout, variables, texts);
  return {
    variables,
    rows,
    ...(layout.label !== '' && { label: layout.label }),
    async *blocks() {
      const data = new Cursor(bytes, dataAt);
      // Long texts are not in the row, but they are in the block.
      const weight = length + layout.columns.filter((c) => c.type === 'strL').length * typicalText;
      yield* rowBlocks(readers, rows, weight, () => data.take(length));
    },
  };
}
const typicalText = 1 << 16;

/** Kind of a variable, from its display format. Weeks, months, quarters and years stay plain numbers. */
function kindOf({ type, format }: DtaColumn): StatVariable['kind'] {
  if (typeof type === 'number' || type === 'strL') return 'text';
  if (/^%-?(td|d)/.test(format)) return 'date';
  if (!/^%-?t[cC]/.test(format)) return 'number';
  return /^%-?t[cC][Hh]{2}:MM(:SS(\.s+)?)?$/.test(format) ? 'time' : 'datetime';
}

const shows: Readonly<Record<Exclude<StatVariable['kind'], 'text'>, (x: number) => StatCell>> = {
  number: (x) => x,
  date: (x) => isoDate(statOrigin + Math.trunc(x) * 86_400),
  time: (x) => isoTime((((x % 86_400_000) + 86_400_000) % 86_400_000) / 1000),
  datetime: (x) => isoDateTime(statOrigin + x / 1000),
};

/** 1 for .a to 26 for .z; 0 for the dot alone. */
const tagText = (tag: number): string => (tag === 0 ? '.' : `.${String.fromCharCode(96 + tag)}`);

function variableOf(
  column: DtaColumn,
  sets: ReadonlyMap<string, LabelSet>,
  books: Map<string, Map<string, string>>,
): StatVariable {
  const kind = kindOf(column);
  const key = `${kind} ${column.labelSet}`;
  const set = sets.get(column.labelSet);
  if (!books.has(key)) books.set(key, new Map([...(set ?? [])].map(([value, label]) => [shownCode(value, kind), label])));
  const labels = books.get(key)!;
  return {
    name: column.name,
    kind,
    labels,
    // A tag without a label has the same meaning as the dot.
    missing: [...labels.keys()].filter((code) => /^\.[a-z]$/.test(code)),
    ...(column.label !== '' && { label: column.label }),
  };
}

function shownCode(value: number, kind: StatVariable['kind']): string {
  if (value > largestLong) return tagText(value - largestLong - 1);
  const shown = kind === 'text' ? value : shows[kind](value);
  return typeof shown === 'number' ? codeOfNumber(shown) : (shown ?? '');
}

/** A number of a row, or the tag of a missing code below zero: -1 for the dot, -2 for .a. */
type ReadNumber = (row: Buffer) => number | { readonly tag: number };

function readersOf(
  layout: DtaLayout,
  variables: readonly StatVariable[],
  texts: LongTexts | undefined,
): readonly StatCellReader[] {
  let at = 0;
  return layout.columns.map(({ type }, i) => {
    const place = at;
    at += typeSize(type);
    if (typeof type === 'number') return (row) => untilNul(row.subarray(place, place + type), layout.decode);
    if (type === 'strL') return referenceReader(layout, place, texts!);
    const { kind, missing } = variables[i]!;
    const show = shows[kind as keyof typeof shows];
    const tags = new Map(missing.map((code) => [code.charCodeAt(1) - 96, code]));
    const read = numberReader(type, place, layout.little);
    return (row) => {
      const x = read(row);
      return typeof x === 'number' ? show(x) : (tags.get(x.tag) ?? null);
    };
  });
}

const tagged = Array.from({ length: 27 }, (_, tag) => ({ tag }));
/** Values above the range of missing codes are system-missing. */
const beyond = (steps: number) => tagged[Number.isInteger(steps) ? steps : 0] ?? tagged[0]!;

function numberReader(type: Exclude<DtaType, number | 'strL'>, at: number, little: boolean): ReadNumber {
  const whole = (read: (row: Buffer) => number, largest: number) => (row: Buffer) => {
    const x = read(row);
    return x > largest ? beyond(x - largest - 1) : x;
  };
  if (type === 'byte') return whole((row) => row.readInt8(at), 100);
  if (type === 'int') return whole((row) => (little ? row.readInt16LE(at) : row.readInt16BE(at)), 32_740);
  if (type === 'long') return whole((row) => (little ? row.readInt32LE(at) : row.readInt32BE(at)), largestLong);
  if (type === 'float')
    return (row) => {
      const bits = little ? row.readUInt32LE(at) : row.readUInt32BE(at);
      if (bits >= 0x7f000000 && bits < 0x80000000) return beyond((bits - 0x7f000000) / 0x800);
      const x = little ? row.readFloatLE(at) : row.readFloatBE(at);
      return Number.isFinite(x) ? x : tagged[0]!;
    };
  return (row) => {
    const high = little ? row.readUInt32LE(at + 4) : row.readUInt32BE(at);
    if (high >= 0x7fe00000 && high < 0x80000000) return beyond((high - 0x7fe00000) / 0x100);
    const x = little ? row.readDoubleLE(at) : row.readDoubleBE(at);
    return Number.isFinite(x) ? x : tagged[0]!;
  };
}

/** Eight bytes: the variable first, then the row, with widths that depend on the release. */
function referenceReader({ release, little }: DtaLayout, at: number, texts: LongTexts): StatCellReader {
  const first = { 117: 4, 118: 2 }[release] ?? 3;
  const read = (row: Buffer, from: number, length: number) => {
    if (length > 6) return Number.NaN;
    return little ? row.readUIntLE(from, length) : row.readUIntBE(from, length);
  };
  return (row) => texts.text(read(row, at, first), read(row, at + first, 8 - first));
}
