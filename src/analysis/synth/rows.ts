import { toNumber } from '../../base/exact/rational.js';
import { shownBins } from '../../policy/bins.js';
import { codesOf } from '../../policy/code.js';
import { isoDay } from '../../policy/date-text.js';
import { isNumber, levelsOf } from '../../policy/domain.js';
import { gridNumber, gridOf } from '../../policy/grid.js';
import type { Column, MultiColumn, NumberColumn } from '../../policy/policy.js';
import { cryptoBits } from '../../privacy/noise/bits.js';
import type { GraphicalModel } from '../graphical/graphical-model.js';
import type { CodedColumn } from '../learn/network/read-coded.js';

/**
 * A column of synthetic rows in the format of the data: codes as text, numbers on their grid, missing answers as the data writes them
 * (null if it has no code for them).
 */
export interface SynthColumn {
  readonly name: string;
  readonly type: 'text' | 'number';
  /** For numbers: none has a fraction. */
  readonly whole?: boolean;
  readonly values: readonly (string | number | null)[];
}

export const uniform = (): number => cryptoBits.below(2 ** 48) / 2 ** 48;

/** So many rows as values of the model's columns. Postprocessing: any number of rows can be drawn from the measurements. */
export const drawCodes = (model: GraphicalModel, rows: number): readonly Uint16Array[] => model.rows(rows, uniform);

export function decodeRows(
  columns: readonly Column[],
  coded: readonly CodedColumn[],
  codes: readonly Uint16Array[],
): readonly SynthColumn[] {
  return columns.map((column) => {
    const own = coded.flatMap((one, c) => (one.column.name === column.name ? [codes[c]!] : []));
    if (column.type === 'multi') return { name: column.name, type: 'text', values: named(column, own) };
    if (isNumber(column) && column.date)
      return {
        name: column.name,
        type: 'text',
        values: numbers(column, own[0]!).map((days) => (days === null ? null : isoDay(days))),
      };
    if (isNumber(column))
      return { name: column.name, type: 'number', ...(isWhole(column) && { whole: true }), values: numbers(column, own[0]!) };
    if (column.type !== 'category') throw new RangeError('a weight is no column of synthetic rows');
    const levels = levelsOf(column);
    const none = column.missing[0] ?? null;
    return {
      name: column.name,
      type: 'text',
      values: Array.from(own[0]!, (place) => oneOf(levels[place] ?? []) ?? none),
    };
  });
}

/** Codes that are counted as one are drawn uniformly. */
const oneOf = (codes: readonly string[]): string | undefined =>
  codes.length > 1 ? codes[cryptoBits.below(codes.length)] : codes[0];

function numbers(column: NumberColumn, places: Uint16Array): readonly (number | null)[] {
  const grid = gridOf(column);
  const firsts = [0, ...shownBins(column).starts];
  const none = grid.missing[0] ?? null;
  return Array.from(places, (place) => {
    if (place >= firsts.length) return none;
    const from = firsts[place]!;
    const to = firsts[place + 1] ?? grid.last + 1;
    return toNumber(gridNumber(grid, from + cryptoBits.below(to - from)));
  });
}

/** A code for a missing answer may be any number. */
const isWhole = (column: NumberColumn): boolean =>
  column.type === 'integer' && gridOf(column).missing.every(Number.isSafeInteger);

function named(column: MultiColumn, options: readonly Uint16Array[]): readonly (string | null)[] {
  const codes = codesOf(column);
  const none = column.missing[0] ?? null;
  return Array.from(options[0]!, (_, r) => {
    const chosen = codes.filter((_, k) => options[k]![r] === 1);
    return chosen.length > 0 ? chosen.join(column.separator) : none;
  });
}
