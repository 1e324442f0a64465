import { Fault } from '../base/errors.js';
import {
  add,
  ceiling,
  compare,
  divide,
  floor,
  gcd,
  multiply,
  one,
  type Rational,
  rational,
  subtract,
  toNumber,
  zero,
} from '../base/exact/rational.js';
import { numberFromText } from './number-text.js';
import type { NumberColumn, WeightColumn } from './policy.js';

/**
 * Public grid through which a number is read: position p = 0..last stands for low + p x step, in integer units `lowUnits + p x
 * stride` times `unit`. Only positions are used, so all sums are sums of integers.
 */
export interface NumberGrid {
  readonly column: string;
  readonly low: Rational;
  readonly step: Rational;
  readonly last: number;
  readonly unit: Rational;
  readonly lowUnits: bigint;
  readonly stride: bigint;
  /** Numbers that mean "no answer". */
  readonly missing: readonly number[];
  /** Doubles that the position is computed from, in SQL and in TypeScript alike. */
  readonly from: number;
  readonly rate: number;
  readonly top: number;
}

/** Part of a grid that determines the position of a number. */
export type GridPlaces = Pick<NumberGrid, 'from' | 'top' | 'rate' | 'last' | 'missing'>;

/** Below this many positions, the roundings in (x - low) x rate stay far under half a step, so the top of the grid is at `last`. */
const mostPositions = 2n ** 40n;
/** ... provided that the bounds themselves are doubles to within a small part of a step. */
const farthest = 2n ** 48n;

const magnitude = (x: Rational): Rational => (x.num < 0n ? subtract(zero, x) : x);

/** A code for "no answer" may be written as in the data or as in the policy, where bounds have points. */
const missingNumber = (code: string, decimal: ',' | undefined): number => {
  const x = numberFromText(code, decimal);
  return Number.isFinite(x) ? x : numberFromText(code);
};

export function gridOf(column: NumberColumn | WeightColumn): NumberGrid {
  const [low, high] = column.bounds;
  const { step } = column;
  const last = step.num > 0n ? floor(divide(subtract(high, low), step)) : -1n;
  if (last < 0n || last >= mostPositions)
    throw new Fault(
      'POLICY_INVALID',
      `The bounds and step of column "${column.name}" give no usable grid.`,
      `Declare low <= high and a positive step with at most 2^40 steps between them.`,
    );
  if ([low, high].some((bound) => compare(magnitude(bound), multiply(step, rational(farthest))) > 0))
    throw new Fault(
      'POLICY_INVALID',
      `The bounds of column "${column.name}" are too far from zero for its step: numbers that large cannot be distinguished that finely.`,
      'Declare a coarser step, or subtract a constant from the column (an epoch, a base year).',
    );
  const den = low.den * step.den;
  const shared = gcd(low.num * step.den, step.num * low.den);
  const unit = rational(shared, den);
  return {
    column: column.name,
    low,
    step,
    last: Number(last),
    unit,
    lowUnits: divide(low, unit).num,
    stride: divide(step, unit).num,
    missing: [...new Set(column.missing.map((code) => missingNumber(code, column.decimal)).filter((x) => Number.isFinite(x)))],
    from: toNumber(low),
    rate: toNumber(divide(one, step)),
    top: toNumber(add(low, multiply(step, rational(last)))),
  };
}

/**
 * Grid of a public column of whole numbers: clamped to its lower bound, without an upper end (docs/explanation/decisions/0095). Moving the
 * upper bound changes no value. Undefined for other columns.
 */
export function unboundedGrid(column: NumberColumn | WeightColumn): NumberGrid | undefined {
  if (column.type !== 'integer' || column.bounds[0].den !== 1n || compare(column.step, one) !== 0) return undefined;
  const grid = gridOf(column);
  // Above every declared upper bound, which lies fewer positions from the lower one.
  const last = Number(mostPositions);
  return { ...grid, last, top: grid.from + last };
}

export const unitsAt = (grid: NumberGrid, position: number): bigint => grid.lowUnits + BigInt(position) * grid.stride;
export const gridNumber = (grid: NumberGrid, position: number): Rational =>
  add(grid.low, multiply(grid.step, rational(BigInt(position))));

/**
 * Position of a number on the grid: clamped to the bounds, rounded to the step; -1 is missing. The value of a cell is this and
 * nothing else (docs/explanation/decisions/0088); read-column.ts writes the same expression in SQL.
 */
export function positionOf(grid: GridPlaces, x: number): number {
  if (!(x > Number.NEGATIVE_INFINITY && x < Number.POSITIVE_INFINITY)) return -1;
  if (grid.missing.length > 0 && grid.missing.includes(x)) return -1;
  if (x < grid.from) return 0;
  return x < grid.top ? nearest((x - grid.from) * grid.rate) : grid.last;
}

/** The nearest integer, halves to even: what a cast of a double to an integer does in the database. */
function nearest(x: number): number {
  const below = Math.floor(x);
  const part = x - below;
  return part < 0.5 || (part === 0.5 && below % 2 === 0) ? below : below + 1;
}

/** The smallest double at position p or above (p >= 1). positionOf never falls as x grows, since each of its roundings is monotone. */
export function firstAt(grid: GridPlaces, p: number): number {
  const bare = { ...grid, missing: [] };
  let below = grid.from;
  let at = grid.top;
  for (let middle = (below + at) / 2; middle > below && middle < at; middle = (below + at) / 2)
    if (positionOf(bare, middle) >= p) at = middle;
    else below = middle;
  return at;
}

/** The smallest double for which (x - from) x rate is at least `most`, beyond what the top of the grid has; infinity where no other has. */
export function firstBeyond({ from, rate, top }: GridPlaces, most: number): number {
  let below = top;
  let at = Number.MAX_VALUE;
  if ((at - from) * rate < most) return Number.POSITIVE_INFINITY;
  for (let middle = below / 2 + at / 2; middle > below && middle < at; middle = below / 2 + at / 2)
    if ((middle - from) * rate >= most) at = middle;
    else below = middle;
  return at;
}

/**
 * Cut of the grid at a number from a policy or query: the first position at or above it, and the first above it. Not clamped.
 * Used for bins, blocks, conditions and known totals (docs/explanation/decisions/0088).
 */
export function cutAt(
  { low, step }: Pick<NumberGrid, 'low' | 'step'>,
  x: Rational,
): { readonly from: bigint; readonly above: bigint } {
  const at = divide(subtract(x, low), step);
  return { from: ceiling(at), above: floor(at) + 1n };
}

const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b);

export type ComparisonOperator = '=' | '!=' | '<' | '<=' | '>' | '>=';
/** Range of positions whose number satisfies the comparison with x; `from > to` if there is none. */
export function positionsWhere(
  grid: NumberGrid,
  op: ComparisonOperator,
  x: Rational,
): { from: number; to: number; negate: boolean } {
  const cut = cutAt(grid, x);
  const end = BigInt(grid.last);
  const clip = (p: bigint): number => Number(p < -1n ? -1n : smaller(p, end + 1n));
  const range = (from: bigint, to: bigint, negate = false) => ({
    from: Math.max(0, clip(from)),
    to: Math.min(grid.last, clip(to)),
    negate,
  });
  const bounds: Record<ComparisonOperator, () => { from: number; to: number; negate: boolean }> = {
    '=': () => range(cut.from, cut.above - 1n),
    '!=': () => range(cut.from, cut.above - 1n, true),
    '<': () => range(0n, cut.from - 1n),
    '<=': () => range(0n, cut.above - 1n),
    '>': () => range(cut.above, end),
    '>=': () => range(cut.from, end),
  };
  return bounds[op]();
}
