import { Fault } from '../../base/errors.js';
import { add, compare, divide, floor, isPositive, parseRational, type Rational, rational } from '../../base/exact/rational.js';
import { firstPosition } from '../bins.js';
import { codesOf } from '../code.js';
import { gridOf } from '../grid.js';
import { isReadAsIs } from '../number-reading.js';
import type { CategoryColumn, Column, MultiColumn, NumberColumn, WeightColumn } from '../policy.js';
import type { FaultOf } from './declare.js';

type Lined = Exclude<Column, MultiColumn>;
const isCategory = (column: Lined): column is CategoryColumn => column.type === 'category';

/** Bound on the rounding errors of a position, in steps, many times over (policy/grid.ts). */
const rounding = rational(1, 1000);

/** Largest number of steps between the readings of two cells this near (privacy/mechanism/pairs.proof.md, "Numbers"). */
export const stepsOfCells = ({ step }: NumberColumn | WeightColumn, distance: Rational): bigint =>
  floor(add(divide(distance, step), rounding)) + 1n;

/**
 * Number of steps between the values of a pair `within: distance`. Values are numbers as they are read; where cells may lie between
 * steps, cells this near are read as a pair, too.
 */
export const stepsWithin = (column: NumberColumn | WeightColumn, distance: Rational): bigint =>
  isReadAsIs(column) ? floor(divide(distance, column.step)) : stepsOfCells(column, distance);

/** The same for the distance in a policy, at most the number of positions. For codes: steps in their order. */
export function pairSteps(column: Lined, text: string, wrong: FaultOf): number {
  const far = numberIn(text, wrong);
  if (isCategory(column)) {
    if (far.den !== 1n)
      throw wrong(
        `Between codes of "${column.name}" there are whole steps only.`,
        'Write within: 1 for codes next to each other.',
      );
    return Math.min(codesOf(column).length, Number(far.num));
  }
  const { last } = gridOf(column);
  const steps = stepsWithin(column, far);
  if (steps === 0n)
    throw wrong(`No two values of "${column.name}" lie that near each other.`, `Write within: 1, or same: [${column.name}].`);
  return steps > BigInt(last) ? last + 1 : Number(steps);
}

export function numberIn(text: string, wrong: FaultOf): Rational {
  try {
    const far = parseRational(text.trim(), 'distance');
    if (isPositive(far)) return far;
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
  }
  throw wrong(
    'The distance of values that must stay indistinguishable is no number above 0.',
    'Write within: 5; places take {columns: [lat, lon], within: 5 km}.',
  );
}
/** The block of every code. */
export function blocksOf(
  column: CategoryColumn,
  blocks: readonly (readonly string[])[] | undefined,
  wrong: FaultOf,
): readonly number[] {
  if (!blocks)
    throw wrong(
      `The blocks of "${column.name}" are not listed.`,
      'Write partition: {blocks: [[1, 2], [3]]} for a column of codes.',
    );
  const codes = codesOf(column);
  const found = new Map<string, number>();
  for (const [b, block] of blocks.entries())
    for (const code of block) {
      if (!codes.includes(code))
        throw wrong(`The code "${code}" in the blocks of "${column.name}" is none of its codes.`, 'List declared codes.');
      if (found.has(code)) throw wrong(`The code "${code}" is in the blocks of "${column.name}" twice.`, 'List each code once.');
      found.set(code, b);
    }
  const left = codes.find((code) => !found.has(code));
  if (left !== undefined)
    throw wrong(
      `The code "${left}" is in no block of "${column.name}".`,
      'List every code: one in a block of its own may be distinguished from all others.',
    );
  return codes.map((code) => found.get(code)!);
}

/** First positions of the blocks of a number, without the first block. */
export function rangesOf(
  column: NumberColumn | WeightColumn,
  edges: readonly Rational[] | undefined,
  wrong: FaultOf,
): readonly number[] {
  if (!edges)
    throw wrong(
      `Where the blocks of "${column.name}" end is not said.`,
      'Write partition: {edges: [30, 45]} for a column of numbers.',
    );
  const [low, high] = column.bounds;
  const grid = gridOf(column);
  for (const [i, edge] of edges.entries())
    if (compare(edge, low) <= 0 || compare(edge, high) > 0 || (i > 0 && compare(edges[i - 1]!, edge) >= 0))
      throw wrong(`The edges of "${column.name}" do not rise within its bounds.`, 'Write inner edges from small to large.');
  return [...new Set(edges.map((edge) => firstPosition(grid, edge)))];
}
