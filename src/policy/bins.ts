import { add, ceiling, compare, divide, multiply, type Rational, rational, subtract, toNumber } from '../base/exact/rational.js';
import { missingLabel } from './code.js';
import { isoDay } from './date-text.js';
import { cutAt, gridNumber, gridOf, type NumberGrid } from './grid.js';
import type { NumberColumn } from './policy.js';

type Numbers = Pick<NumberColumn, 'type' | 'bounds' | 'step'>;

/**
 * Width of the whole range in steps: integers are counted (17 to 24 is eight), other numbers measured (0 to 10 is ten; the last
 * bin includes both ends).
 */
const spanInSteps = ({ type, bounds: [low, high], step }: Numbers): Rational => {
  const steps = divide(subtract(high, low), step);
  return type === 'integer' ? add(steps, rational(1)) : steps;
};

/** Bin width in steps with which `count` bins cover the whole range. */
const widthFor = (column: Numbers, count: number): Rational => rational(ceiling(divide(spanInSteps(column), rational(count))));

/** Inner edges of at most `count` bins of equal width in steps; the last is narrower if the width does not divide the range. */
export function evenEdges(column: Numbers, count: number): readonly Rational[] {
  const all = spanInSteps(column);
  const width = widthFor(column, count);
  const edges: Rational[] = [];
  for (let at = width; compare(at, all) < 0; at = add(at, width)) edges.push(add(column.bounds[0], multiply(at, column.step)));
  return edges;
}

/** A column with so few positions gets one bin each. */
const fewPositions = 12;
const defaultCounts = [10, 9, 11, 8, 12];

/** Inner edges for a column that declares none: about ten bins that come out even, else of a round width. */
export function defaultEdges(column: Numbers): readonly Rational[] {
  const [low, high] = column.bounds;
  if (compare(divide(subtract(high, low), column.step), rational(fewPositions)) < 0)
    return evenEdges({ ...column, type: 'integer' }, fewPositions);
  const even = defaultCounts.find((count) => divide(spanInSteps(column), rational(count)).den === 1n);
  const round = defaultCounts.find((count) => isRound(multiply(widthFor(column, count), column.step)));
  return evenEdges(column, even ?? round ?? defaultCounts[0]!);
}

/** 1, 2 or 5 times a power of ten. */
function isRound(x: Rational): boolean {
  const digits = toNumber(x).toExponential().split('e')[0]!;
  return ['1', '2', '5'].includes(digits);
}

/** The first grid position at or above an edge. */
export const firstPosition = (grid: NumberGrid, edge: Rational): number => Number(cutAt(grid, edge).from);

/** First grid position of each bin after the first: from the declared inner edges, else about ten bins of one width. */
function binStarts(column: NumberColumn, grid: NumberGrid): readonly number[] {
  const starts = (column.bins ?? defaultEdges(column)).map((edge) => firstPosition(grid, edge));
  return [...new Set(starts)].filter((p) => p > 0 && p <= grid.last).sort((a, b) => a - b);
}

function binLabels({ date }: NumberColumn, grid: NumberGrid, starts: readonly number[]): readonly string[] {
  const firsts = [0, ...starts];
  const format = date ? isoDay : String;
  const show = (p: number) => format(toNumber(gridNumber(grid, p)));
  return firsts.map((first, i) => {
    const last = (firsts[i + 1] ?? grid.last + 1) - 1;
    return first === last ? show(first) : `${show(first)} to ${show(last)}`;
  });
}

/** Bins of a number: starts of all bins after the first, and their labels, then that of missing. */
export function shownBins(column: NumberColumn): { readonly starts: readonly number[]; readonly labels: readonly string[] } {
  const grid = gridOf(column);
  const starts = binStarts(column, grid);
  return { starts, labels: [...binLabels(column, grid, starts), missingLabel] };
}
