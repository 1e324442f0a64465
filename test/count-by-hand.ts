import { gridNumber, gridOf } from '../src/policy/grid.js';
import type { Column, Policy } from '../src/policy/policy.js';
import { type Counting, type GroupKey, weightColumn } from '../src/query/count/measure.js';
import { type LeafTest, passesWhere } from '../src/query/count/row-test.js';
import { gridPositionOf, nearestDouble, parseNumberText, type StoredType, type UglyCell } from './ugly-cells.js';

/** A column read by hand: for every row the codes, options or grid position it stands for. */
export interface HandReading {
  /** Index among the codes, or grid position; -1 is missing. */
  readonly index: readonly number[];
  readonly options: readonly (readonly number[])[];
  readonly codes: readonly string[];
}

const trimBlanks = (text: string): string => {
  let from = 0;
  let to = text.length;
  while (from < to && ' \t\r\n'.includes(text[from]!)) from++;
  while (to > from && ' \t\r\n'.includes(text[to - 1]!)) to--;
  return text.slice(from, to);
};
const trimSpaces = (text: string): string => text.replace(/^\p{Zs}+/u, '').replace(/\p{Zs}+$/u, '');
/** The one spelling of a code in a CSV: 1.0 is 1. */
const csvCode = (text: string): string => text.replace(/^([+-]?[0-9]+)\.0+$/, '$1');

/** The longest cell of a CSV that is read. */
const longest = (columns: number): number => Math.max(256, Math.min(65_536, Math.floor(2 ** 20 / columns) - 4));

export function readingByHand(
  column: Column,
  stored: StoredType,
  csv: boolean,
  table: { readonly columns: readonly unknown[]; readonly rows: readonly (readonly UglyCell[])[] },
  at: number,
  /** Of so many letters at most. */
  longestNumber = Number.POSITIVE_INFINITY,
): HandReading {
  const codes = 'values' in column ? column.values.filter((v) => !column.missing.includes(v)) : [];
  const limit = longest(table.columns.length);
  const cells = table.rows.map((row) => row[at]!);
  const textOf = ({ text }: UglyCell): string | undefined => {
    if (text === null || (csv && Buffer.byteLength(text) > limit)) return undefined;
    return text;
  };
  const numeric = !csv && stored.shown !== 'text';
  const numberOf = (cell: UglyCell) => {
    const text = numeric ? undefined : textOf(cell);
    return numeric ? cell.number : text === undefined || text.length > longestNumber ? undefined : parseNumberText(text);
  };
  const codeOf = (cell: UglyCell): number => {
    if (numeric && stored.shown !== 'boolean') {
      if (!cell.number) return -1;
      const exact = stored.shown === 'integer';
      return codes.findIndex((code) => {
        const value = parseNumberText(code);
        if (!value) return false;
        return exact
          ? value.num === cell.number!.num && value.den === cell.number!.den
          : nearestDouble(value) === nearestDouble(cell.number!);
      });
    }
    const text = textOf(cell);
    if (text === undefined) return -1;
    return codes.indexOf(
      trimBlanks(csv && column.type === 'category' ? csvCode(trimSpaces(text)) : csv ? trimSpaces(text) : text),
    );
  };
  const optionsOf = (cell: UglyCell): readonly number[] => {
    if (column.type !== 'multi') return [];
    const plain = (): string | undefined => {
      if (stored.shown !== 'real' || !numeric)
        return csv && textOf(cell) !== undefined ? trimSpaces(textOf(cell)!) : textOf(cell);
      const x = cell.number && nearestDouble(cell.number);
      return x !== undefined && Number.isInteger(x) && Math.abs(x) < 1e15 ? `${x + 0}` : undefined;
    };
    const text = plain();
    const named = column.values.reduce((letters, value) => letters + value.length + column.separator.length, 0);
    const short = text !== undefined && [...text].length <= Math.max(4096, 4 * named);
    const parts = (short ? text : undefined)?.split(column.separator).map(trimBlanks) ?? [];
    return codes.flatMap((code, i) => (parts.includes(code) ? [i] : []));
  };
  if ('bounds' in column) {
    const { low, step, last } = gridOf(column);
    const index = cells.map((cell) => {
      const value = numberOf(cell);
      return value === undefined ? -1 : gridPositionOf(value, { low, step, last, missing: column.missing });
    });
    return { index, options: [], codes };
  }
  if (column.type === 'multi') {
    const options = cells.map(optionsOf);
    return { index: options.map((list) => (list.length > 0 ? 0 : -1)), options, codes };
  }
  return { index: cells.map(codeOf), options: [], codes };
}

function passes(test: LeafTest, reading: HandReading, r: number): boolean {
  const at = reading.index[r]!;
  if (test.kind === 'missing') return at < 0 !== test.negate;
  if (at < 0) return false;
  if (test.kind === 'range') return (at >= test.from && at <= test.to) !== test.negate;
  const mine = reading.options.length > 0 ? reading.options[r]! : [at];
  return mine.some((i) => test.codes.includes(reading.codes[i]!)) !== test.negate;
}

/** Positions of a row by a key; none when the row is dropped. */
function places(key: GroupKey, reading: HandReading, r: number): readonly number[] {
  if (key.kind === 'joint') throw new RangeError('not asked here');
  const at = reading.index[r]!;
  if (key.kind === 'bin') return [at < 0 ? key.size - 1 : key.edges.filter((edge) => at >= edge).length];
  if (key.kind === 'grid') return at < 0 ? [] : [Math.floor(at / key.width)];
  const mine = reading.options.length > 0 ? reading.options[r]! : at < 0 ? [] : [at];
  if (key.kind === 'options') return mine.length > 0 ? mine : [key.size - 1];
  const found = key.groups.findIndex((group) => mine.some((i) => group.includes(reading.codes[i]!)));
  return found >= 0 ? [found] : key.missing === 'cell' ? [key.size - 1] : [];
}

/** Expected result of a count: row by row, in fractions, without the code under test. */
export function countByHand(
  policy: Policy,
  { filter, keys, value }: Counting,
  readings: ReadonlyMap<string, HandReading>,
  rows: number,
): readonly bigint[] {
  const cells = new Array<bigint>(keys.reduce((n, key) => n * key.size, 1)).fill(0n);
  const units = (name: string, r: number): bigint | undefined => {
    const column = policy.columns.get(name)!;
    if (!('bounds' in column)) throw new RangeError('no number');
    const grid = gridOf(column);
    const at = readings.get(name)!.index[r]!;
    if (at < 0) return undefined;
    const exact = gridNumber(grid, at);
    const scaled = exact.num * grid.unit.den;
    const by = exact.den * grid.unit.num;
    if (scaled % by !== 0n) throw new RangeError('the grid is not made of its units');
    return scaled / by;
  };
  for (let r = 0; r < rows; r++) {
    if (!filter.every((test) => passesWhere(test, (leaf) => passes(leaf, readings.get(leaf.column)!, r)))) continue;
    const weight = weightColumn(value);
    const w = weight === undefined ? 1n : units(weight, r);
    const u = value.kind === 'number' ? units(value.column, r) : 1n;
    if (w === undefined || u === undefined) continue;
    const added = value.kind === 'number' ? ((u - value.origin) ** BigInt(value.power) - value.shift) * w : w;
    let at = [0];
    for (const key of keys) {
      const column = key.kind === 'joint' ? '' : key.column;
      at = at.flatMap((cell) => places(key, readings.get(column)!, r).map((place) => cell * key.size + place));
    }
    for (const cell of at) cells[cell]! += added;
  }
  return cells;
}
