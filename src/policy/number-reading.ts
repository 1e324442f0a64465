import { toNumber } from '../base/exact/rational.js';
import { isoDay } from './date-text.js';
import { isCoded } from './domain.js';
import { firstAt, gridOf } from './grid.js';
import type { Column, NumberColumn, Policy, WeightColumn } from './policy.js';

type Numeric = NumberColumn | WeightColumn;
const isDate = (column: Numeric): boolean => 'date' in column && column.date === true;

/** True for whole numbers in steps of one: every whole number within the bounds is read unchanged. */
export const isReadAsIs = ({ type, step }: Numeric): boolean => type === 'integer' && step.num === step.den;

/** Text that describes the reading of a column's numbers. Values of public columns have no upper bound (docs/explanation/decisions/0095). */
export function numberReadingText(column: Numeric, end: 'bounded' | 'unbounded' = 'bounded'): string {
  const [low, high] = column.bounds.map((x) => (isDate(column) ? isoDay(toNumber(x)) : `${toNumber(x)}`));
  return `${column.name} ${readingOf(column)} from ${low} ${end === 'bounded' ? `to ${high}` : 'on, not clamped from above'}`;
}

function readingOf(column: Numeric): string {
  if (isDate(column)) return 'as a day';
  return isReadAsIs(column) ? 'as a whole number' : `in steps of ${toNumber(column.step)}`;
}

const few = 4;

/** Text that describes rounding to the grid: `nearest` in policy/grid.ts, in steps counted from the lower bound. */
export const roundingText =
  'clamped to their bounds and rounded to their step, halves to an even number of steps from the lower bound';

/**
 * Sentence about the numbers that determine which data sets are compared, part of the promise (docs/explanation/decisions/0088); undefined if
 * there are none. `agreed`: public columns, equal in neighbouring data sets.
 */
export function readingSentence(
  policy: Pick<Policy, 'columns' | 'protect' | 'known'>,
  agreed: Iterable<string>,
): string | undefined {
  const unbounded = new Set(agreed);
  const numbers = [...new Set([...comparedColumns(policy), ...unbounded])].flatMap((name) => {
    const column = policy.columns.get(name);
    return column && !isCoded(column) ? [numberReadingText(column, unbounded.has(name) ? 'unbounded' : 'bounded')] : [];
  });
  if (numbers.length === 0) return undefined;
  const more = numbers.length > few ? ` and ${numbers.length - few} more columns` : '';
  return `Numbers are compared as they are read in double precision, ${roundingText}: ${numbers.slice(0, few).join('; ')}${more}.`;
}

/** Columns whose values determine which data sets are compared: those of pairs and of known totals. */
const comparedColumns = ({ protect, known }: Pick<Policy, 'protect' | 'known'>): readonly string[] => [
  ...(protect.pairs?.columns.keys() ?? []),
  ...(known?.totals ?? []).flatMap((total) => [
    ...(total.kind === 'count' ? total.where : total.by).map(({ column }) => column),
    ...(total.kind === 'sum' ? [total.column] : []),
  ]),
];

/** Cells that are rounded across an edge: from `low`, below `high`. */
export interface RoundedCells {
  readonly low: number;
  readonly high: number;
  /** True if the numbers lie below the edge and are rounded to a position above it. */
  readonly upward: boolean;
}

/**
 * Cells that are read on the other side of an edge than they lie on, for the edge that starts at this position; undefined if
 * there are none.
 */
export function roundedCells(
  column: Exclude<Column, { readonly type: 'category' | 'multi' }>,
  edge: number,
  start: number,
): RoundedCells | undefined {
  const grid = gridOf(column);
  if (start < 1 || start > grid.last) return undefined;
  const read = firstAt(grid, start);
  const [low, high] = [Math.min(read, edge), Math.max(read, edge)];
  // Of whole numbers only these are cells.
  const some = column.type === 'integer' ? Math.ceil(low) < high : low < high;
  return some ? { low, high, upward: read < edge } : undefined;
}
